"""Each call of the CUDA driver fails once, in the grader and in workers: no point is lost, and grading goes on."""

import json
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.cuda import SIGNATURES
from grader.tests.gpu_faults import IN_GRADING, IN_THE_CHAIN, Fault
from grader.tests.gpu_plumbing import with_driver

pytestmark = pytest.mark.usefixtures("needs_bwrap")


@pytest.fixture(scope="module")
def found(driver: Path) -> dict[str, Any]:
    """What became of the workloads, by fault."""
    done = with_driver(driver, "-m", "grader.tests.gpu_faults")
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def test_every_call_of_the_driver_fails_once() -> None:
    assert {fault.call for fault in (*IN_THE_CHAIN, *IN_GRADING)} == set(SIGNATURES)


def test_without_a_fault_one_process_times_all(found: dict[str, Any]) -> None:
    assert (found["None"]["outcomes"], found["None"]["processes"]) == (["passed", "passed"], 1)


@pytest.mark.parametrize("fault", IN_THE_CHAIN, ids=str)
def test_a_call_that_fails_before_any_submission_breaks_the_chain_and_is_named(
    found: dict[str, Any], fault: Fault
) -> None:
    assert f"{fault.call} failed with error 999" in found[str(fault)]


@pytest.mark.parametrize("fault", IN_GRADING, ids=str)
def test_a_call_that_fails_once_costs_no_point_and_the_next_workload_is_timed(
    found: dict[str, Any], fault: Fault
) -> None:
    came = found[str(fault)]
    assert came["outcomes"] == ["inconclusive", "passed"]
    assert f"{fault.call} failed with error 999" in came["messages"][0]
    assert "this is not your fault" in came["messages"][0]
    assert came["processes"] == (2 if fault.where == "grader" else 1), "a process whose device failed is not used again"
