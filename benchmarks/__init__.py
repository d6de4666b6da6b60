"""Benchmarks. Each one compares a speed with a baseline that is measured in the same run. No test depends on them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent  # the root of this checkout, which is also a course
