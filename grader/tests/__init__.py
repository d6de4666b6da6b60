"""Tests of the engine (`torchkata/`), the grader and the scripts."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent  # of this checkout, which is itself a course
