"""Tests of `torchkata/`, `grader/` and the tools: the tests of the tests."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent  # of this checkout, which is a course, too
