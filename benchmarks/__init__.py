"""Speed, measured against a baseline in the same run. Nothing here decides whether a test passes."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent  # of this checkout, which is a course, too
