"""Tests of the corpora of attacks, slow solutions and cheats: reading entries and summarizing trials."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from grader.base.errors import CallError, MachineError
from grader.proof.attack_run import tabulate_attacks
from grader.proof.attacks import Attack, load_attacks
from grader.proof.cheat_run import tabulate_cheats
from grader.proof.cheats import Cheat, load_cheats, load_slow
from grader.proof.proof import Level, Options, Trial, format_markdown, prove_trials, try_levels
from grader.sandbox.launch import Isolation
from grader.tests.conftest import call_grader
from torchkata.course import course

KATAS = list(course().katas.values())
BELOW = {load_attacks: 'wrong = "same_storage/values"', load_cheats: 'slow = "linear/three_times"'}
ENTRY = """
[hides]
aim = "is right in secret"
{}
code = "HOSTILE = 1"
control = "HONEST = 1"
"""

Read = Callable[..., Iterator[Attack | Cheat]]


@pytest.fixture(scope="module", params=[load_attacks, load_cheats])
def corpus(request: pytest.FixtureRequest) -> list[Attack | Cheat]:
    """Return all entries of a corpus."""
    return list(request.param(KATAS))


def list_sources(entry: Attack | Cheat) -> list[dict[str, bytes]]:
    """Return all source files that are submitted for an entry."""
    if isinstance(entry, Cheat):
        return [entry.make_files(), entry.make_control()]
    codes = filter(None, (entry.entry.before, entry.entry.beside))
    accomplices = (entry.make_submission("accomplice", code) for code in codes)
    return [submission.files for submission in (entry.hostile, entry.control, *accomplices)]


def test_corpus_has_enough_entries(corpus: list[Attack | Cheat]) -> None:
    assert len(corpus) >= 60
    assert len({entry.title for entry in corpus}) == len(corpus)
    assert all(entry.entry.aim for entry in corpus)


def test_corpus_code_compiles(corpus: list[Attack | Cheat]) -> None:
    compiled: set[bytes] = set()
    for entry in corpus:
        for name, content in (item for files in list_sources(entry) for item in files.items()):
            if content not in compiled:
                compile(content, f"{entry.title}: {name}", "exec")
            compiled.add(content)


@pytest.mark.parametrize(
    ("read", "old", "new", "words"),
    [
        (load_attacks, "/values", "/nothing", "tricks/hides: there is no wrong entry 'same_storage/nothing'"),
        (load_cheats, "three_times", "four_times", "tricks/hides: there is no slow solution 'linear/four_times'"),
        (load_attacks, 'code = "HOSTILE = 1"', "", "missing required field `code`"),
        (load_attacks, 'control = "HONEST = 1"', "", "missing required field `control`"),
        (load_attacks, "control =", 'levels = ["bwrap"]\ncontrol =', "`levels` omits a level; add `because`"),
        (load_attacks, "control =", 'elsewhere = {x = ""}\ncontrol =', "tricks/hides: there is no kata 'x'"),
        (load_attacks, "control =", 'only = "none"\ncontrol =', "Invalid enum value 'none'"),
        *((read, "control =", 'contrul = ""\ncontrol =', "unknown field `contrul`") for read in BELOW),
        *((read, "[hides]", "[hides", "tricks.toml: ") for read in BELOW),
    ],
)
def test_invalid_corpus_entry_is_reported(tmp_path: Path, read: Read, old: str, new: str, words: str) -> None:
    (tmp_path / "tricks.toml").write_text(ENTRY.format(BELOW[read]).replace(old, new))
    with pytest.raises(CallError) as refused:
        list(read(KATAS, tmp_path))
    assert words in str(refused.value)


def test_slow_solution_must_name_workload_of_its_kata(tmp_path: Path) -> None:
    (tmp_path / "sgd.toml").write_text('[slow]\nworkload = "linear_forward"\nwords = "is slow"\ncode = ""')
    with pytest.raises(CallError, match="sgd has no workload 'linear_forward'"):
        load_slow(KATAS, tmp_path)


@pytest.mark.parametrize(("part", "kata"), [("attacks", "cruncher"), ("cheats", "same_storage")])
def test_certify_reports_kata_without_entries(part: str, kata: str) -> None:
    done = call_grader("certify", "--only", part, "--kata", kata)
    assert (done.code, done.err.strip()) == (2, f"grader: there are no {part} in {kata}")


STOPPED = Trial("attack", "tricks/hides", "none", (), "", "the check", mib=1.0, seconds=0.4)
EARNS = replace(STOPPED, problems=("earned 8 points too many",), stopped_by="", gained=8.0, harmed_next=True, mib=3.2)
OPEN = replace(EARNS, admitted="OPEN", reason="nobody knows how")
ADMITTED = replace(EARNS, kind="cheat", admitted="ONLY BWRAP STOPS")
REJECTED, WITHOUT_CONTROL = (replace(STOPPED, control_problem=problem) for problem in ("linear is wrong", None))


@pytest.mark.parametrize(
    ("trials", "claims", "failed", "notes"),
    [
        ([STOPPED, EARNS], 4, ["attack tricks/hides at none: earned 8 points too many"], []),
        ([OPEN], 2, [], ["OPEN  tricks/hides at none: earned 8 points too many (nobody knows how)"]),
        ([ADMITTED], 2, [], ["ONLY BWRAP STOPS  tricks/hides at none: earned 8 points too many"]),
        ([REJECTED, WITHOUT_CONTROL], 3, ["control of tricks/hides at none: linear is wrong"], []),
    ],
)
def test_certify_fails_for_undeclared_problems(
    trials: list[Trial], claims: int, failed: list[str], notes: list[str]
) -> None:
    proof = prove_trials(trials, [])
    assert (proof.claims, proof.failed, proof.notes) == (claims, failed, notes)


def test_inconclusive_trials_are_counted_and_noted_once() -> None:
    slow = replace(WITHOUT_CONTROL, kind="slow", title="linear/slow", inconclusive=True)
    proof = prove_trials([replace(STOPPED, kind="cheat", inconclusive=True, control_inconclusive=True), slow], [])
    assert (proof.claims, proof.inconclusive, proof.failed) == (3, 3, [])
    assert proof.notes == ["INCONCLUSIVE  tricks/hides at none", "INCONCLUSIVE  slow linear/slow at none"]


@pytest.mark.parametrize(
    ("tabulate", "row"),
    [
        (tabulate_attacks, "| tricks | none | 4 | 24 | 3 | the check 1 | 1 | 1 | 3/4 | 3 | 1.2 |"),
        (tabulate_cheats, "| tricks | none | 4 | 24 | the check 1 | 1 | 1 | 3/4 | 2 |"),
    ],
)
def test_table_has_a_row_per_isolation_level(tabulate: Callable[[list[Trial]], Table], row: str) -> None:
    trials = [
        replace(STOPPED, inconclusive=True, control_inconclusive=True, seconds=1.25),
        OPEN,
        ADMITTED,
        replace(EARNS, does_the_work=True),
        replace(STOPPED, level="bwrap"),
    ]
    other, found = format_markdown([tabulate(trials)]).splitlines()[-2:]
    assert found == row
    assert other.startswith("| tricks | bwrap | 1 | 0 |")


@pytest.mark.parametrize(
    ("isolation", "quick", "broken", "tried"),
    [
        ("auto", False, "", ["bwrap", "none"]),
        ("auto", True, "", ["bwrap"]),
        ("auto", True, "bwrap", ["none"]),
        ("bwrap", False, "", ["bwrap"]),
        ("bwrap", False, "bwrap", None),
    ],
)
def test_isolation_option_selects_levels_to_try(
    isolation: Isolation, quick: bool, broken: str, tried: list[str] | None
) -> None:
    def attempt(level: Level, trials: list[Trial]) -> None:
        if level == broken:
            raise MachineError("no namespaces here")
        trials.append(replace(STOPPED, level=level))

    options, written = Options(1, 1, 10, isolation, (), None, quick=quick), StringIO()
    with pytest.raises(MachineError) if tried is None else contextlib.nullcontext():
        trials = try_levels(options.levels, attempt, options, Console(file=written), "attack")
        assert [trial.level for trial in trials] == tried
    warned = written.getvalue() == f"warning: skipped every attack at isolation level {broken}: no namespaces here\n"
    assert warned == bool(broken and tried)
