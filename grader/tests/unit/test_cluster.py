"""Tests of cluster grading that do not need a cluster: options, chunk sizes, pending submissions and messages."""

import math
import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.base.errors import CallError
from grader.cluster import job_record
from grader.cluster.options import CONTAINER_OPTIONS, SlurmOptions, parse
from grader.cluster.pending import find_pending
from grader.cluster.plan import MAX_TASKS, TASK_SECONDS, compute_chunk_size
from grader.cluster.slurm import format_flag
from grader.options import GradeOptions
from grader.pipeline.intake import take_in_all
from grader.pipeline.queue import Queue
from grader.pipeline.submission_ids import assign_ids
from grader.results.result import Result, write
from grader.tests.conftest import call_grader
from grader.tests.support.sample_results import make_result
from grader.tests.support.submissions import LINEAR, make_slurm_options, write_submissions
from torchkata.course import course

KATAS = (course().katas["linear"],)


def test_gpu_options_apply_only_to_timing_tasks() -> None:
    given = ("partition=all", "gres=gpu:h100:1", "--mem=8G", "cpus_per_task=4", "speed:partition=gpu", "tests:time=90")
    assert parse(given) == SlurmOptions(
        tests={"partition": "all", "mem": "8G", "cpus-per-task": "4"},
        speed={"partition": "gpu", "gres": "gpu:h100:1", "mem": "8G", "cpus-per-task": "4"},
        minutes={"tests": 90},
    )
    assert parse(("tests:gres=gpu:1",)).tests == {"gres": "gpu:1"}
    assert parse(("partition=all", "speed:partition=gpu")) == parse(("speed:partition=gpu", "partition=all"))


def test_timing_tasks_ask_for_memory_and_cores() -> None:
    """Three processes use CUDA, and a weight is drawn on the host: a task with less would lose right solutions."""
    assert parse(()).build_options("speed") == {"mem": "24G", "cpus-per-task": "4"}
    assert parse(("speed:mem-per-cpu=8G", "cpus-per-gpu=2")).build_options("speed") == {
        "mem-per-cpu": "8G",
        "cpus-per-gpu": "2",
    }
    assert parse(("mem=8G",)).build_options("speed") == {"mem": "8G", "cpus-per-task": "4"}
    assert parse(("mem=8G",)).build_options("tests") == {"mem": "8G"}


def test_container_options_become_flags_of_srun() -> None:
    given = parse(("speed:container-image=torch.sqsh", "speed:container_mount_home=yes"))
    flags = [format_flag(name, value) for name, value in given.speed.items()]
    assert flags == ["--container-image=torch.sqsh", "--container-mount-home"]
    assert given.speed.keys() <= CONTAINER_OPTIONS


@pytest.mark.parametrize(
    ("value", "minutes"),
    [("30", 30), ("0:30", 1), ("02:00:01", 121), ("1-0", 1440), ("1-12:30", 2190), ("2-00:00:00", 2880)],
)
def test_time_limit_accepts_slurm_formats(value: str, minutes: int) -> None:
    assert parse((f"time={value}",)).minutes == {"tests": minutes, "speed": minutes}


def test_per_task_is_not_passed_to_slurm() -> None:
    assert parse(("per-task=12", "mem=8G")) == SlurmOptions({"mem": "8G"}, {"mem": "8G"}, per_task=12)
    with pytest.raises(CallError, match="per-task is given twice"):
        parse(("per-task=12", "--per_task=3"))


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("partition", "expected KEY=VALUE or default"),
        ("partition= ", "expected KEY=VALUE"),
        ("=gpu", "'' can't be passed to tasks"),
        ("mem=1\n#SBATCH --uid=0", "expected KEY=VALUE"),
        ("partitoin=gpu", "'partitoin' can't be passed to tasks; did you mean partition?"),
        ("xyzzy=1", "allowed are account, begin, "),
        ("array=0-9", "the grader sets array itself"),
        ("gpu:partition=a", "the prefix must be tests or speed"),
        ("time=soon", "expected a time such as 30, 00:30:00 or 1-12:00:00"),
        ("time=00:00:00", "the time must not be 0"),
        ("per-task=0", "expected a number of submissions per task, such as per-task=10"),
        ("per-task=ten", "expected a number of submissions per task, such as per-task=10"),
        ("tests:per-task=5", "expected a number of submissions per task, such as per-task=10"),
    ],
)
def test_bad_slurm_option_is_rejected(option: str, words: str) -> None:
    with pytest.raises(CallError) as raised:
        parse((option,))
    assert str(raised.value).startswith(f"--slurm {option}: ")
    assert words in str(raised.value)


def test_missing_slurm_commands_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (submission,) = write_submissions(tmp_path, LINEAR, "ada")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("grader.commands.grade.find_spec", lambda _: True)  # whether or not submitit is installed
    done = call_grader("grade", submission, "--out", tmp_path / "out", "--slurm", "default")
    assert done.code == 3
    assert done.err.startswith("grader: sbatch, srun, squeue, scontrol: not found")


@given(seconds=st.floats(1e-3, 1e5), submissions=st.integers(1, 100_000), jobs=st.integers(1, 500))
def test_chunk_size_limits_time_and_number_of_tasks(seconds: float, submissions: int, jobs: int) -> None:
    size = compute_chunk_size(seconds, submissions, jobs)
    tasks = math.ceil(submissions / size)
    assert 1 <= size <= submissions
    assert tasks <= MAX_TASKS
    assert (size - 1) * seconds <= 1.5 * TASK_SECONDS or tasks > MAX_TASKS // 4


def make_queue(paths: list[Path], chosen: GradeOptions) -> Queue:
    """Return the queue that a call of `grader grade` creates."""
    return Queue(*assign_ids(paths), KATAS, chosen)


def make_ada_result(hand_in: str, *, conclusive: bool = True) -> Result:
    """Return a result for Ada's `linear`, with the digest of her submission."""
    new = make_result("a message", kata="linear")
    status = "wrong" if conclusive else "inconclusive"
    digest = make_slurm_options(Path()).digest_judge("linear")
    katas = [msgspec.structs.replace(kata, status=status, digest=digest) for kata in new.katas]
    return msgspec.structs.replace(new, hand_in=hand_in, katas=katas)


def test_submissions_read_at_once_keep_their_order(tmp_path: Path) -> None:
    paths = write_submissions(tmp_path, LINEAR, *(f"student{number:03}" for number in range(9)))
    (paths[3] / "linear.py").unlink()
    entries, _ = assign_ids(paths)
    one, several = (list(take_in_all(entries, at_once)) for at_once in (1, 4))
    assert list(map(str, one)) == list(map(str, several))


def test_submission_is_pending_until_result_is_conclusive(tmp_path: Path) -> None:
    paths = write_submissions(tmp_path / "class", LINEAR, "ada", "ben")
    out = tmp_path / "out"
    waiting = find_pending(make_queue(paths, make_slurm_options(out)), since_ns=0)
    assert waiting.left == ["ada", "ben"]
    mine = waiting.tests["ada"]
    unreadable = msgspec.structs.replace(make_ada_result(mine), unreadable="it is not there on this node")
    for number, (stored, left, inconclusive) in enumerate(
        (
            (make_ada_result("another"), ["ada", "ben"], set()),
            (make_ada_result(mine, conclusive=False), ["ada", "ben"], {"ada"}),
            (unreadable, ["ada", "ben"], set()),
            (make_ada_result(mine), ["ben"], set()),
        )
    ):
        write(stored, out)
        os.utime(out / "ada/result.json", ns=(number, number))  # each version of the result has its own time
        waiting.update()
        assert (waiting.left, waiting.inconclusive) == (left, inconclusive)


def test_forced_run_ignores_older_results(tmp_path: Path) -> None:
    (path,) = write_submissions(tmp_path / "class", LINEAR, "ada")
    out = tmp_path / "out"
    hand_in = find_pending(make_queue([path], make_slurm_options(out)), since_ns=0).tests["ada"]
    write(make_ada_result(hand_in), out)
    stored = out / "ada/result.json"
    for since_ns, left in ((stored.stat().st_mtime_ns, []), (stored.stat().st_mtime_ns + 1, ["ada"])):
        waiting = find_pending(make_queue([path], make_slurm_options(out, again=True)), since_ns)
        waiting.update()
        assert waiting.left == left
        again = make_queue([path], make_slurm_options(out, since_ns=since_ns))
        assert [job.submission.id for job in again.to_grade()] == left


def test_run_record_matches_only_the_same_call(tmp_path: Path) -> None:
    paths = write_submissions(tmp_path / "class", LINEAR, "ada", "ben")
    stored = job_record.create(make_queue(paths, make_slurm_options(tmp_path)), None)
    assert job_record.load(tmp_path) == stored
    assert stored.since_ns == 0
    assert job_record.create(make_queue(paths, make_slurm_options(tmp_path, again=True)), None).since_ns > 0
    same = make_slurm_options(tmp_path, jobs=9, slurm=("per-task=1",))
    assert job_record.digest_queue(make_queue(paths, same)) == stored.call
    for other in (
        make_queue(paths[:1], make_slurm_options(tmp_path)),
        make_queue(paths, make_slurm_options(tmp_path, seed=1)),
    ):
        assert job_record.digest_queue(other) != stored.call
    (tmp_path / ".slurm/jobs.json").write_text("{")
    with pytest.raises(CallError, match=r"jobs\.json: can't be read"):
        job_record.load(tmp_path)
    job_record.forget(tmp_path)
    assert job_record.load(tmp_path) is None
