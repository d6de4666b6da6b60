"""The marks that the reference solution has passed the tests of a kata."""

import os
import time
from pathlib import Path

from grader.pipeline.reference import UNUSED, clear_unused


def test_marks_that_no_run_uses_are_deleted(tmp_path: Path) -> None:
    for name, age in (("recent", UNUSED / 2), ("old", UNUSED * 2)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    clear_unused(tmp_path)
    assert [mark.name for mark in tmp_path.iterdir()] == ["recent"]
