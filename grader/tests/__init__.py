"""Tests of `torchkata/`, `grader/` and the tools: the tests of the tests."""
