"""Tests of Slurm job arrays that need no Slurm: how they are submitted and continued, and what a single task does."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from rich.console import Console

from grader.base.errors import CallError
from grader.cluster import job_record, slurm
from grader.cluster.options import parse
from grader.cluster.plan import create_plan
from grader.cluster.rounds import ClusterRun
from grader.cluster.slurm import Array, ListedTask
from grader.pipeline.queue import Queue
from grader.pipeline.submission_ids import Entry
from grader.results.result import read
from grader.tests.conftest import run_python
from grader.tests.support.submissions import LINEAR, make_slurm_options, write_submissions
from torchkata.course import course


def test_missing_submitit_error_suggests_remedy(tmp_path: Path) -> None:
    (submission,) = write_submissions(tmp_path, LINEAR, "ada")
    without = "import sys; sys.modules['submitit'] = None; from grader.cli import main; main()"
    done = run_python("-c", without, "grade", str(submission), "--out", str(tmp_path / "out"), "--slurm", "default")
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
    (tmp_path / "plan.json").write_bytes(made.encode())
    command = [sys.executable, "-m", "grader.cluster.chunk", str(tmp_path / "plan.json"), "0", str(os.getpid())]
    assert subprocess.run(command, timeout=600).returncode == 0
    assert read(tmp_path / "out/a/result.json").conclusive
    assert list((tmp_path / "unfit").iterdir()) == []
    assert not (tmp_path / "out/gradebook.csv").exists()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClusterRun:
    """Return a run of a command that asks for a GPU, on a cluster where the jobs of the same command are pending."""
    options = make_slurm_options(tmp_path / "out", slurm=("gres=gpu:1", "time=10"))
    queue = Queue([Entry("ada", tmp_path / "ada")], [], (course().katas["linear"],), options)
    monkeypatch.setattr(slurm, "list_jobs", lambda _: {"1_0": ListedTask("1_0", "PENDING", "")})
    run = ClusterRun(queue, parse(options.slurm), Console(quiet=True), print)
    run.record = job_record.create(queue, None)
    return run


def test_only_speed_tasks_request_a_gpu(run: ClusterRun, monkeypatch: pytest.MonkeyPatch) -> None:
    submit = Mock(side_effect=["1", "2"])
    monkeypatch.setattr(slurm, "submit", submit)
    monkeypatch.setattr(slurm, "read_array_limit", lambda: 1001)
    monkeypatch.setattr(run, "pending", Mock(select_paths=lambda _: {"ada": Path("ada")}), raising=False)
    run.submit(0)
    arrays: list[Array] = [call.args[0] for call in submit.call_args_list]
    asked = [(array.minutes, array.options, array.after) for array in arrays]
    needs = {"mem": "24G", "cpus-per-task": "4", "gres": "gpu:1"}
    assert asked == [(10, {}, ""), (10, needs, "1")], "speed is graded after the tests"


def test_other_call_is_rejected_while_jobs_are_queued(run: ClusterRun) -> None:
    assert run.find_earlier() == (run.record, [ListedTask("1_0", "PENDING", "")])
    run.queue.entries = [*run.queue.entries, Entry("ben", Path("ben"))]
    with pytest.raises(CallError, match=f"another command .* cancel them with scancel --name={run.record.name}"):
        run.find_earlier()
