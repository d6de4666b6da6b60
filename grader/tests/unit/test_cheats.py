"""The corpus of cheats on speed: how it is read and how a trial is judged."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.base.errors import CallError
from grader.proof.cheat_run import CheatTrial, SlowTrial
from grader.proof.cheats import Cheat, cheats, slow_ones
from grader.proof.cheattable import cheat_table, failed_cheats, notes_on_cheats, slow_solutions
from grader.proof.prove import markdown
from grader.results.result import PerformanceResult
from grader.tests.conftest import ask
from torchkata.course import course
from torchkata.speed.decision import RESTLESS

KATAS = list(course().katas.values())
ENTRY = """
[hides]
aim = "is fast in secret"
slow = "linear/three_times"
code = "HOSTILE = 1"
control = "HONEST = 1"
"""
FAILED = PerformanceResult("linear_forward", "failed", ratio=0.3)
PASSED = PerformanceResult("linear_forward", "passed", ratio=0.9, tier="full")
SOME = msgspec.structs.replace(PASSED, tier="passing", ratio=0.65, thresholds=(0.6, 0.75))
RESTLESS_ROW = PerformanceResult("linear_forward", "inconclusive", message=f"only 3 of 20 {RESTLESS}")
DOUBTFUL = msgspec.structs.replace(PASSED, tier="passing", ratio=0.55, thresholds=(0.6, 0.75))
LOST = PerformanceResult("linear_forward", "inconclusive", message="the process that timed it was lost")


@pytest.fixture(scope="module")
def corpus() -> list[Cheat]:
    return list(cheats(KATAS))


def written(folder: Path, text: str) -> list[Cheat]:
    """A corpus of one class."""
    (folder / "tricks.toml").write_text(text)
    return list(cheats(KATAS, folder))


def test_a_cheat_is_appended_to_a_slow_solution_and_its_control_to_the_right_one(tmp_path: Path) -> None:
    (cheat,) = written(tmp_path, ENTRY)
    hostile, control = (files["linear.py"].decode() for files in (cheat.files(), cheat.control()))
    slow = cheat.slow.files()["linear.py"].decode()
    assert (cheat.title, cheat.slow.workload.name) == ("tricks/hides", "linear_forward")
    assert hostile == f"{slow}\n\nHOSTILE = 1"
    assert slow.removesuffix(cheat.slow.entry.code) == control.removesuffix("HONEST = 1")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("three_times", "four_times", "tricks/hides: the zoo has no slow 'linear/four_times'"),
        ("control =", 'contrul = ""\ncontrol =', "unknown field `contrul`"),
        ("[hides]", "[hides", "tricks.toml: "),
    ],
)
def test_a_cheat_entry_that_makes_no_sense_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(CallError) as refused:
        written(tmp_path, ENTRY.replace(old, new))
    assert words in str(refused.value)


def test_a_slow_solution_must_name_a_workload_of_its_kata(tmp_path: Path) -> None:
    (tmp_path / "sgd.toml").write_text('[slow]\nworkload = "linear_forward"\nwords = "is slow"\ncode = ""')
    with pytest.raises(CallError, match="sgd is not timed on a workload 'linear_forward'"):
        slow_ones(KATAS, tmp_path)


def test_the_cheat_corpus_is_large_and_has_every_workload(corpus: list[Cheat]) -> None:
    assert len(corpus) >= 60
    assert len({cheat.title for cheat in corpus}) == len(corpus)
    assert {cheat.slow.workload.name for cheat in corpus} == set(course().workloads)
    assert {slow.workload.name for slow in slow_ones(KATAS).values()} == set(course().workloads)


def test_all_code_of_the_cheat_corpus_compiles(corpus: list[Cheat]) -> None:
    for cheat in corpus:
        for files in (cheat.files(), cheat.control()):
            compile(files[f"{cheat.slow.kata.name}.py"], cheat.title, "exec")


def trial(corpus: list[Cheat], **rows: Any) -> CheatTrial:
    """One in which all went well, but for what is said."""
    found = {"slow": FAILED, "row": FAILED, "control": PASSED} | rows
    return CheatTrial(corpus[0], "bwrap", **found)


@pytest.mark.parametrize(
    ("rows", "failed", "unsure"),
    [
        ({}, [], 0),
        ({"row": PASSED}, ["cheat {} at bwrap: is worth 5 points too many"], 0),
        ({"row": SOME, "slow": PASSED}, [], 0),
        ({"row": SOME}, ["cheat {} at bwrap: is worth 3 points too many"], 0),
        ({"row": LOST}, ["cheat {} at bwrap: blamed the machine: the process that timed it was lost"], 0),
        ({"row": msgspec.structs.replace(FAILED, seconds=1e4)}, ["cheat {} at bwrap: took 10000 seconds"], 0),
        ({"control": FAILED}, ["control of {} at bwrap: it is failed: "], 0),
        ({"control": LOST}, ["control of {} at bwrap: it is inconclusive: the process that timed it was lost"], 0),
        ({"row": RESTLESS_ROW}, [], 1),
        ({"row": RESTLESS_ROW, "control": RESTLESS_ROW}, [], 2),
        ({"slow": RESTLESS_ROW}, [], 1),
        ({"row": DOUBTFUL}, [], 1),
        ({"control": DOUBTFUL}, [], 0),
    ],
)
def test_a_cheat_fails_the_proof_if_it_gains_or_harms_or_its_control_fails(
    corpus: list[Cheat], rows: dict[str, Any], failed: list[str], unsure: int
) -> None:
    made = trial(corpus, **rows)
    assert failed_cheats([], [made]) == [line.format(made.cheat.title) for line in failed]
    assert made.unsure == unsure


def test_a_cheat_that_is_admitted_as_open_is_noted_and_no_failure(corpus: list[Cheat]) -> None:
    made = trial(corpus, row=PASSED)
    opened = replace(made, cheat=replace(made.cheat, entry=msgspec.structs.replace(made.cheat.entry, open="nobody")))
    earned = replace(made, cheat=replace(made.cheat, entry=msgspec.structs.replace(made.cheat.entry, earns="works")))
    assert failed_cheats([], [opened, earned]) == []
    assert notes_on_cheats([], [opened, earned]) == [
        f"OPEN  {made.cheat.title} at bwrap: is worth 5 points too many (nobody)"
    ]
    (tmp,) = [line for line in markdown([cheat_table([opened, earned])]).splitlines() if line.startswith("| clocks")]
    assert tmp == "| clocks | bwrap | 2 | 5 |  | 1 | 1 | 2/2 |  |"


def test_certify_refutes_a_slow_solution_that_passes() -> None:
    slow = next(iter(slow_ones(KATAS).values()))
    assert failed_cheats([SlowTrial(slow, "none", FAILED), SlowTrial(slow, "none", RESTLESS_ROW)], []) == []
    assert failed_cheats([SlowTrial(slow, "none", PASSED)], []) == [
        f"slow {slow.title} at none: it is passed, not too slow"
    ]
    assert f"| 0.30 | 0 of {slow.workload.points.full:g} |" in markdown(
        [slow_solutions([SlowTrial(slow, "none", FAILED)])]
    )


def test_certify_names_chosen_katas_without_cheats() -> None:
    refused = ask("certify", "--only", "cheats", "--kata", "same_storage")
    assert (refused.code, "there are no cheats in same_storage" in refused.err) == (2, True)
