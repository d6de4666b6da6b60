"""Tests of how many submissions a Slurm task grades, and how many tasks an array may have."""

import math

import pytest

from grader.cluster.plan import TASK_SECONDS, compute_chunk_size
from grader.cluster.slurm import parse_array_limit


def test_tasks_of_large_class_take_minutes_and_fill_slots() -> None:
    size = compute_chunk_size(seconds=12.0, submissions=20_000, jobs=300, array_limit=1001)
    assert TASK_SECONDS / 2 < 12.0 * size < 1.5 * TASK_SECONDS
    assert 3 * 300 - 30 <= math.ceil(20_000 / size) <= 3 * 300, "the last tasks must not leave most slots idle"


@pytest.mark.parametrize("per_task", [None, 1])
def test_small_array_limit_leads_to_longer_tasks(per_task: int | None) -> None:
    assert compute_chunk_size(12.0, 2_000, 300, 100, per_task) == 20


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
