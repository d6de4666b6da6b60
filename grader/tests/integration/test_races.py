"""A few real cheats on speed gain no points when they are actually timed."""

from pathlib import Path

import pytest

from grader.proof.cheat_run import prove_times, time_all
from grader.proof.cheats import load_cheats
from grader.sandbox.launch import launch
from grader.speed import setup
from grader.tests.conftest import run
from torchkata.course import course

pytestmark = pytest.mark.timing


@pytest.mark.parametrize(
    "title",
    ["forged/answers_early", "elsewhere/wakes_itself", "memory_and_reads/leaves_before_it_is_measured", "ends/exits"],
)
def test_speed_cheat_gains_no_points(
    title: str,
    needs_bwrap: None,
) -> None:
    (cheat,) = [cheat for cheat in load_cheats(list(course().katas.values())) if cheat.title == title]
    sandbox = launch("bwrap", setup.get_limits(), setup.plan_workers())
    try:
        sandbox.wait_until_ready()
        trials = [*time_all([cheat.slow], [cheat], "bwrap", sandbox, lambda _: None)]
    finally:
        sandbox.close()
    assert [trial.kind for trial in trials] == ["slow", "cheat"]
    assert prove_times(trials[1:]).failed == []


def test_certify_times_the_cheats_of_one_kata(tmp_path: Path) -> None:
    table = tmp_path / "table.md"
    done = run(
        "grader", "certify", "--only", "cheats", "--kata", "cruncher", "--isolation", "bwrap", "--markdown", str(table)
    )
    assert done.code in (0, 1), done.err
    assert "FAILED" not in done.out, "on a busy machine, claims may be inconclusive but must not fail"
    assert "| cruncher/looks_first | cruncher_step | bwrap |" in table.read_text()
