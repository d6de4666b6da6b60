"""The students' half where a platform has less than Linux: no fork, no alarm, old encodings, odd paths."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from grader.tests import ROOT
from grader.tests.conftest import ask, students_environment
from grader.tests.solution import SOLUTION

ENCODINGS = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PYTHONIOENCODING": "cp1252"}


def test_a_handout_works_without_fork_alarm_and_utf8_under_a_path_with_blanks(tmp_path: Path) -> None:
    handout, solution, bare = tmp_path / "my katas 练习", tmp_path / "the solution", tmp_path / "bare"
    assert ask("release", handout, "--kata=same_storage").code == 0
    for folder in (solution, bare):
        folder.mkdir()
    shutil.copy(SOLUTION / "same_storage.py", solution)
    shutil.copy(ROOT / "grader/tests/bare_platform.py", bare / "sitecustomize.py")
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/try_handout.py"), str(handout), str(solution)],
        env={**students_environment(), **ENCODINGS, "PYTHONPATH": str(bare)},
        capture_output=True,
        timeout=600,
        check=False,
    )
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert done.returncode == 0, said
    assert said.count("ok  ") == len(said.splitlines()) == 7
    assert hasattr(os, "fork"), "only there"
