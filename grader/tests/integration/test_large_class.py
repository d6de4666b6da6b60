"""A class of 20,000 students is graded on a simulated cluster, with durations measured on real submissions."""

import heapq
import random
import statistics
from pathlib import Path
from typing import Literal

import pytest

from grader.cluster.plan import TASK_SECONDS
from grader.cluster.slurm import parse_array_limit
from grader.tests.support.simulated_slurm import Faults, Simulation, simulate
from grader.tests.support.submissions import make_slurm_options

# The seconds of 40 submissions of the core track, a quarter of whose files are wrong, graded with 100 examples.
# fmt: off
RECORDED = (
    4.1, 4.3, 4.7, 4.9, 5.0, 5.4, 5.7, 6.1, 6.2, 6.4, 6.7, 6.9, 7.2, 7.4, 7.9, 7.9, 8.2, 8.4, 8.8, 9.1,
    9.2, 9.6, 10.1, 10.4, 10.8, 11.3, 11.7, 11.9, 12.3, 12.9, 13.1, 13.5, 14.5,
    16.2, 16.7, 18.3, 18.6, 20.5, 23.1, 25.3,
)
# fmt: on
SUBMISSIONS = 20_000
JOBS = 300


def grade(out: Path, faults: Faults | None = None, submissions: int = SUBMISSIONS, limit: int = 1001) -> Simulation:
    """Grade a class of this size."""
    options = make_slurm_options(out, jobs=JOBS)
    return simulate(options, submissions, estimate=statistics.mean(RECORDED), faults=faults, limit=limit)


def test_plan_for_large_class_is_balanced_and_cheap(tmp_path: Path) -> None:
    run, chance = grade(tmp_path / "out"), random.Random(0)
    assert run.outcome.unsure == run.warnings == []
    assert run.slurm.calls["sbatch"] == 1
    assert run.slurm.calls["stat"] < 1.2 * SUBMISSIONS, "a missing result must not be looked for again and again"
    seconds = [sum(chance.choices(RECORDED, k=len(task.chunk))) for task in run.slurm.tasks]
    assert 2 * JOBS - JOBS // 10 <= len(seconds) <= 2 * JOBS, "the last tasks must not leave most slots idle"
    assert TASK_SECONDS / 2 < statistics.mean(seconds) < 1.5 * TASK_SECONDS
    assert max(seconds) < 2 * TASK_SECONDS
    slots = [0.0] * JOBS
    for one in seconds:
        heapq.heapreplace(slots, slots[0] + one)
    assert sum(seconds) > 0.75 * JOBS * max(slots), "slots must be busy most of the time"


def test_failed_tasks_of_large_class_are_repeated(tmp_path: Path) -> None:
    faults: dict[str, Literal["FAILED", "PENDING"]] = {f"1_{index}": "FAILED" for index in range(0, 60, 2)}
    run = grade(tmp_path / "out", faults | {"1_7": "PENDING", "1_65": "PENDING"}, submissions=2_000)
    assert run.outcome.unsure == []
    assert {*run.slurm.graded.values()} == {1}
    assert run.slurm.calls["sbatch"] == 2
    (warning,) = run.warnings
    assert warning.startswith("failed tasks: 1_0 on node1 FAILED, 1_2 on node1 FAILED, ")
    assert " and 20 more (logs in " in warning
    first, again = run.slurm.arrays
    assert sum(len(task.chunk) for task in again) < len(first[0].chunk) * 30


def test_small_array_limit_leads_to_longer_tasks(tmp_path: Path) -> None:
    run = grade(tmp_path / "out", submissions=2_000, limit=100)
    assert len(run.slurm.tasks) == 100
    assert run.outcome.unsure == []


def test_too_small_tasks_get_more_submissions(tmp_path: Path) -> None:
    options = make_slurm_options(tmp_path / "out", jobs=JOBS, slurm=("per-task=1",))
    run = simulate(options, 300, estimate=1.0, limit=100)
    assert len(run.slurm.tasks) == 100
    assert run.warnings == ["--slurm per-task=1 gives more tasks than this cluster allows in an array; using 3"]


@pytest.mark.parametrize(
    ("config", "limit"),
    [
        ("", 1001),
        ("MaxArraySize            = 4001\nMaxJobCount             = 10000\n", 4001),
        ("MaxArraySize            = 40001\n", 10_000),
        ("MaxArraySize            = 0\n", 1),  # arrays are disabled
        ("MaxJobCount             = 500\nMaxArraySize            = 1001\n", 500),
        ("MaxArraySize = 1001\nSchedulerParameters     = bf_interval=5,max_array_tasks=64,defer\n", 64),
    ],
)
def test_array_limit_is_read_from_slurm(config: str, limit: int) -> None:
    assert parse_array_limit(config) == limit
