"""Tests of a single task of a Slurm job array, executed without Slurm."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from grader.cluster.plan import create_plan
from grader.results.result import read
from grader.tests.conftest import run_python
from grader.tests.support.submissions import LINEAR, make_slurm_options, write_submissions


def test_missing_submitit_error_suggests_remedy(tmp_path: Path) -> None:
    (submission,) = write_submissions(tmp_path, LINEAR, "ada")
    without = "import sys; sys.modules['submitit'] = None; from grader.cli import main; main()"
    done = run_python("-c", without, "grade", str(submission), "--out", str(tmp_path / "out"), "--executor", "slurm")
    assert (done.code, done.err) == (3, 'grader: submitit is not installed: pip install -e ".[grader,slurm]"\n')


@pytest.mark.usefixtures("needs_bwrap")
def test_slurm_chunk_skips_unreadable_submissions(tmp_path: Path) -> None:
    paths = write_submissions(tmp_path / "class", LINEAR, "ada")
    made = create_plan(
        "tests",
        dict(zip("ab", [*paths, tmp_path / "class/gone"], strict=True)),
        make_slurm_options(tmp_path / "out"),
        2,
    )
    (tmp_path / "unfit").mkdir()
    (tmp_path / "plan.json").write_bytes(msgspec.json.encode(made))
    command = [sys.executable, "-m", "grader.cluster.chunk", str(tmp_path / "plan.json"), "0", str(os.getpid())]
    assert subprocess.run(command, timeout=600).returncode == 0
    assert read(tmp_path / "out/a/result.json").conclusive
    assert list((tmp_path / "unfit").iterdir()) == []
    assert not (tmp_path / "out/gradebook.csv").exists()
