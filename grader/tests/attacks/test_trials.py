"""Tests of reading attacks and of judging what became of them."""

import ast
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

import msgspec
import pytest

from grader.pipeline.job import Graded
from grader.pipeline.session import LOST
from grader.results.result import KataResult
from grader.tests import ROOT
from grader.tests.attacks.trials import (
    LEVELS,
    Attack,
    Measured,
    Trial,
    find_texts,
    judge,
    load_attacks,
    make_next_student,
    read_attack,
)
from torchkata.course import course
from torchkata.inside.source.names import Names
from torchkata.result import Outcome, Status, TestResult

HEAD = 'AIM = "is right in secret"\nWRONG = "same_storage/values"\nEXPECTED = "stopped"\n'
CELLS = "\n# %% CONTROL\nHONEST = 1\n\n# %% IN linear: another file\nOTHER = 1\n\n# %% ATTACK\nHOSTILE = FUNCTION\n"
ATTACKS = load_attacks()
ADMITTED = [attack for attack in ATTACKS if attack.expected != "stopped"]


def write_attack(folder: Path, text: str) -> Attack:
    """Write an attack to a file and read it."""
    path = folder / "tricks/hides.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    return read_attack(path)


def test_attack_and_control_extend_different_solutions(tmp_path: Path) -> None:
    attack, solution = write_attack(tmp_path, HEAD + CELLS), course().solutions()
    assert (attack.title, attack.aim) == ("tricks/hides", "is right in secret")
    hostile, control = attack.hostile.files, attack.make_honest("control").files
    assert hostile["same_storage.py"].startswith(attack.entry.source.encode())
    assert hostile["same_storage.py"].endswith(b"\n\nHOSTILE = FUNCTION\n")
    assert hostile["linear.py"] == solution["linear.py"] + b"\n\nOTHER = 1\n\n"
    assert control["same_storage.py"] == solution["same_storage.py"] + b"\n\nHONEST = 1\n\n"
    assert control.keys() == hostile.keys() == solution.keys()


def test_engine_names_in_attacks_exist() -> None:
    for path in (*ROOT.glob("grader/tests/attacks/*/*.py"), *ROOT.glob("reference/workloads/cheats/*/*.py")):
        names = Names(ast.parse(path.read_bytes()))
        for _, name in (*names.uses, *names.imports):
            if name.startswith(("torchkata.", "grader.")):
                resolve_name(name)  # an attack on a name that is gone would always be stopped


def test_attack_without_wrong_entry_is_given_the_solution(tmp_path: Path) -> None:
    attack = write_attack(tmp_path, HEAD.replace('WRONG = "same_storage/values"\n', "") + CELLS)
    files = attack.hostile.files
    assert files["same_storage.py"].endswith(b"from .solved import same_storage as solved\n\nHOSTILE = same_storage\n")
    assert files["solved.py"] == course().solutions()["same_storage.py"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('AIM = "is right in secret"\n', "", "missing required field `AIM`"),
        ("EXPECTED", "EXPECTD", "unknown field `EXPECTD`"),
        ('"stopped"', '"stoped"', "Expected `str` matching regex"),
        ("# %% CONTROL", "# %% CONTROLS", "unknown field `CONTROLS`"),
        ("# %% ATTACK", "#", "missing required field `ATTACK`"),
    ],
)
def test_invalid_attack_is_rejected(old: str, new: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        write_attack(tmp_path, (HEAD + CELLS).replace(old, new))


@pytest.mark.parametrize(
    ("expected", "levels"),
    [("stopped", ["bwrap", "none"]), ("stopped by bwrap only", ["bwrap"]), ("not stopped: nobody knows how", [])],
)
def test_attack_is_stopped_at_the_declared_levels(expected: str, levels: list[str], tmp_path: Path) -> None:
    attack = write_attack(tmp_path, (HEAD + CELLS).replace('"stopped"', f'"{expected}"'))
    assert [level for level in LEVELS if attack.is_stopped(level)] == levels


def make_graded(
    status: Status, points: float = 0.0, outcome: Outcome = "failed", message: str = "", mib: float = 400.0
) -> Measured:
    """Return the results of a submission with a single kata."""
    test = TestResult("test_a", outcome, points, 8.0, message=message)
    kata = KataResult("same_storage", status, points, 8.0, (test,))
    return Measured(Graded(make_next_student(), [kata], 1.0), mib)


BASE, DONE = make_graded("wrong", 2.0), make_graded("done", 8.0, "passed")
LOST_BY_GRADER = Measured(replace(BASE.graded, katas=[KataResult("same_storage", "crashed", 0.0, 8.0, (LOST,))]), 400.0)
TWO_KATAS = replace(BASE.graded, katas=[*BASE.graded.katas, *make_graded("crashed").graded.katas])


@pytest.mark.parametrize(
    ("changed", "gained", "problems"),
    [
        ({}, 0.0, ()),
        ({"hostile": make_graded("crashed")}, 0.0, ()),
        ({"hostile": make_graded("wrong", 3.0)}, 1.0, ()),
        ({"hostile": make_graded("inconclusive")}, 0.0, ("made the result inconclusive",)),
        ({"hostile": make_graded("wrong", mib=5000.0)}, 0.0, ("took 4600 MiB of the grader's memory",)),
        ({"hostile": make_graded("wrong", message="x" * 10_000)}, 0.0, ("left a message of 10000 characters",)),
        ({"hostile": LOST_BY_GRADER}, 0.0, ("crashed the process that graded it",)),
        (
            {"hostile": replace(BASE, graded=TWO_KATAS)},
            0.0,
            ("harmed its own same_storage: crashed",),
        ),
        ({"after": BASE}, 0.0, ("harmed the next submission",)),
        ({"honest": [DONE, BASE]}, 0.0, ("the control or accomplice is not done: same_storage is wrong (test_a)",)),
    ],
)
def test_harm_by_an_attack_is_detected(changed: dict[str, Measured], gained: float, problems: tuple[str, ...]) -> None:
    graded = {"base": BASE, "hostile": BASE, "after": DONE, "alone": DONE, "honest": [DONE], **changed}
    assert judge(**graded) == Trial(gained, problems, 1.0)  # type: ignore[arg-type]


def test_attacks_have_distinct_titles_and_valid_code() -> None:
    assert len({attack.title for attack in ATTACKS}) == len(ATTACKS) >= 167
    for attack in ATTACKS:
        cells = [cell for cell in ("before", "beside") if getattr(attack, cell)]
        for submission in (attack.hostile, attack.make_honest("control"), *map(attack.make_honest, cells)):  # type: ignore[arg-type]
            compile(submission.files[f"{attack.kata.name}.py"], attack.title, "exec")


@pytest.mark.parametrize("attack", ADMITTED, ids=lambda attack: attack.title)
def test_lint_reports_attacks_that_may_succeed(attack: Attack) -> None:
    own = find_texts(attack.hostile) - find_texts(attack.base)
    assert own
    if attack.expected.startswith("not stopped"):
        assert own - find_texts(attack.make_honest("control")), "the honest control gets the same finding"
