"""Tests of `kata/`, `grader/` and the tools: the tests of the tests."""
