"""A handout works on a platform without fork and alarm, with a legacy encoding and an unusual path."""

import os
import shutil
import sys
from pathlib import Path

from grader.tests import ROOT
from grader.tests.conftest import call_grader, get_student_environment, run_program
from grader.tests.support.solution import SOLUTION

AS_ON_WINDOWS = """
import os, signal
for module, names in ((os, ("fork", "forkpty")), (signal, ("SIGALRM", "ITIMER_REAL", "setitimer", "alarm"))):
    for name in names:
        vars(module).pop(name, None)
"""
ENCODINGS = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PYTHONIOENCODING": "cp1252"}


def test_handout_works_without_fork_alarm_or_utf8(tmp_path: Path) -> None:
    handout, solution, bare = tmp_path / "my katas 练习", tmp_path / "the solution", tmp_path / "bare"
    assert call_grader("release", "--out", handout, "--kata=same_storage").code == 0
    for folder in (solution, bare):
        folder.mkdir()
    shutil.copy(SOLUTION / "same_storage.py", solution)
    (bare / "sitecustomize.py").write_text(AS_ON_WINDOWS)
    environment = {**get_student_environment(), **ENCODINGS, "PYTHONPATH": str(bare)}
    done = run_program(sys.executable, ROOT / "scripts/try_handout.py", handout, solution, environment=environment)
    assert done.code == 0, done.out + done.err
    assert done.out.count("ok  ") == len((done.out + done.err).splitlines()) == 7
    assert hasattr(os, "fork"), "this process must still have os.fork"
