"""The attack corpus: how it is read, how a trial is judged."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.base.errors import CallError
from grader.pipeline.session import LOST, Graded, Job
from grader.pipeline.submission import Submission
from grader.proof.admitted import overlooked
from grader.proof.attack_run import AttackRun, Trial, judge, neighbour, next_student, plan
from grader.proof.attacks import CORPUS, Attack, attacks, first_function
from grader.proof.attacktable import attack_table, failed_trials, notes_on
from grader.results import result as results
from grader.tests import ROOT
from grader.tests.conftest import ask
from torchkata import course as courses
from torchkata.course import course
from torchkata.result import Outcome, Status, TestResult

KATAS = list(course().katas.values())
ENTRY = """
[hides]
aim = "is right in secret"
wrong = "same_storage/values"
code = "HOSTILE = 1"
control = "HONEST = 1"
"""


@pytest.fixture(scope="module")
def corpus() -> list[Attack]:
    return list(attacks(KATAS))


def written(folder: Path, text: str) -> list[Attack]:
    """A corpus of one class."""
    (folder / "tricks.toml").write_text(text)
    return list(attacks(KATAS, folder))


def test_an_attack_is_appended_to_a_wrong_solution_and_its_control_to_the_right_one(tmp_path: Path) -> None:
    (attack,) = written(tmp_path, ENTRY)
    assert attack.title == "tricks/hides"
    hostile, control = (one.files["same_storage.py"].decode() for one in (attack.hostile, attack.control))
    assert hostile.startswith(attack.base().files["same_storage.py"].decode())
    assert hostile.endswith("HOSTILE = 1")
    assert control.endswith("HONEST = 1")
    assert "untyped_storage" in control
    assert hostile.count("untyped_storage") == 0
    assert set(attack.hostile.files) == {f"{kata.name}.py" for kata in KATAS}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("/values", "/nothing", "the zoo has no wrong 'same_storage/nothing'"),
        ('code = "HOSTILE = 1"', "", "missing required field `code`"),
        ('control = "HONEST = 1"', "", "missing required field `control`"),
        ("control =", 'levels = ["bwrap"]\ncontrol =', "say because of what it is not tried at every level"),
        ("control =", 'contrul = ""\ncontrol =', "unknown field `contrul`"),
        ("control =", 'only = "none"\ncontrol =', "Invalid enum value 'none'"),
        ("[hides]", "[hides", "tricks.toml: "),
    ],
)
def test_an_attack_entry_that_makes_no_sense_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(CallError) as refused:
        written(tmp_path, ENTRY.replace(old, new))
    assert words in str(refused.value)


def test_attack_corpus_is_large(corpus: list[Attack]) -> None:
    assert len(corpus) >= 60
    assert len({attack.title for attack in corpus}) == len(corpus)
    assert all(attack.entry.aim for attack in corpus)


def test_all_code_of_the_attack_corpus_compiles(corpus: list[Attack]) -> None:
    compiled: set[bytes] = set()
    for attack in corpus:
        for submission in (attack.hostile, attack.control, attack.before):
            for name, content in submission.files.items() if submission else ():
                if content not in compiled:
                    compile(content, f"{attack.title}: {name}", "exec")
                compiled.add(content)


def kata_result(kata: str, status: Status, points: float = 0.0, outcome: Outcome = "failed") -> results.KataResult:
    return results.KataResult(kata, status, points, 8.0, (TestResult("test_a", outcome, points, 8.0),))


def graded(job: Job, *katas: results.KataResult, seconds: float = 1.0, peak_mib: float = 400.0) -> Graded:
    return Graded(job, list(katas), seconds, peak_mib=peak_mib)


FINE = kata_result("same_storage", "done", 8.0, "passed")


def judged(
    attack: Attack,
    attacked: results.KataResult,
    honest: results.KataResult = FINE,
    *,
    quick: bool = False,
    **differences: object,
) -> Trial:
    """The trial of an attack that ended like this, its accomplice, if any, like that; all else went well."""
    attack_run, made = AttackRun([attack], "bwrap", quick=quick), plan(attack)
    assert made.control is not None
    base = graded(made.control, kata_result(attack.kata.name, "wrong", 2.0))
    ended = {
        id(made.hostile): replace(graded(made.hostile, attacked, kata_result("linear", "done")), **differences),  # type: ignore[arg-type]
        id(made.after): graded(made.after, FINE),
        id(made.control): graded(made.control, FINE),
        id(attack_run.alone): graded(attack_run.alone, FINE),
    }
    if made.beside is not None:
        ended[id(made.beside)] = graded(made.beside, honest)
    return judge(made, attack_run, base, ended)


def test_an_attack_gains_the_points_that_the_wrong_solution_does_not_earn(tmp_path: Path) -> None:
    (attack,) = written(tmp_path, ENTRY)
    stopped = judged(attack, kata_result("same_storage", "wrong", 2.0))
    assert (stopped.gained, stopped.problems, stopped.stopped_by) == (0.0, (), "the comparison")
    gained = judged(attack, kata_result("same_storage", "wrong", 3.0))
    assert gained.problems == ("earned 1 points too many",)
    assert failed_trials([stopped, gained]) == ["attack tricks/hides at bwrap: earned 1 points too many"]


def test_an_attack_that_harms_the_grading_is_found(tmp_path: Path) -> None:
    (attack,) = written(tmp_path, ENTRY)
    wrong = kata_result("same_storage", "wrong")
    assert judged(attack, kata_result("same_storage", "inconclusive")).problems == ("blamed the machine",)
    assert judged(attack, wrong, seconds=60.0).problems == ("took 60 seconds",)
    assert judged(attack, wrong, seconds=60.0, quick=True).problems == (), "which a busy machine may have taken"
    assert judged(attack, wrong, peak_mib=5000.0).problems == ("took 4600 MiB of the grader",)
    broken = [wrong, kata_result("linear", "crashed")]
    assert judged(attack, wrong, katas=broken).problems == ("harmed its own linear: crashed",)
    lost = results.KataResult("same_storage", "crashed", 0.0, 8.0, (LOST,))
    assert judged(attack, wrong, peak_mib=500.0).mib == 100.0
    assert judged(attack, lost).problems == ("ended the process that graded it",)
    wordy = results.KataResult("same_storage", "wrong", 0.0, 8.0, (replace(LOST, cause="", message="x" * 10_000),))
    assert judged(attack, wordy).problems == ("left a text of 10000 characters",)


def test_an_attack_that_the_corpus_admits_as_open_is_reported_and_no_failure(tmp_path: Path) -> None:
    (attack,) = written(tmp_path, ENTRY)
    (only,) = written(tmp_path, ENTRY + 'only = "bwrap"\n')
    (admitted,) = written(tmp_path, ENTRY + 'open = "nobody knows how"\n')
    trial = Trial(
        attack, "none", 8.0, "done", ("earned 8 points too many",), None, harmed_next=True, mib=3.2, seconds=1.25
    )
    assert len(failed_trials([trial])) == 1
    assert len(failed_trials([replace(trial, attack=only, level="bwrap")])) == 1
    excused = [replace(trial, attack=only), replace(trial, attack=admitted)]
    assert failed_trials(excused) == []
    assert notes_on(excused) == [
        "ONLY BWRAP STOPS  tricks/hides at none: earned 8 points too many",
        "OPEN  tricks/hides at none: earned 8 points too many (nobody knows how)",
    ]
    cells = [list(column.cells) for column in attack_table(excused).columns]
    assert [cell[0] for cell in cells] == ["tricks", "none", "2", "16", "2", "", "1", "1", "2/2", "3", "1.2"]


def test_an_open_attack_must_have_a_finding_in_its_source(tmp_path: Path) -> None:
    looks, silent = "import sys\\nsys._getframe(1).f_locals", "import gc\\ngc.collect()"
    entry = ENTRY.replace("HOSTILE = 1", looks) + 'open = "nobody knows how"\n'
    assert overlooked(written(tmp_path, entry)) == []
    line = ["attack tricks/hides: nothing is found in its source"]
    assert overlooked(written(tmp_path, entry.replace(looks, silent))) == line
    found_anyway = entry.replace("same_storage/values", "linear/wraps_torch_linear")
    assert overlooked(written(tmp_path, found_anyway.replace(looks, silent))) == line


def test_findings_tell_an_open_attack_from_its_control(tmp_path: Path) -> None:
    both = ENTRY.replace("HOSTILE = 1", "import socket").replace("HONEST = 1", "import socket")
    assert overlooked(written(tmp_path, both + 'only = "bwrap"\n')) == []
    line = "attack tricks/hides: nothing that is found tells it from its honest control"
    assert overlooked(written(tmp_path, both + 'open = "nobody knows how"\n')) == [line]


def test_every_open_attack_of_the_corpus_has_a_finding_in_its_source(corpus: list[Attack]) -> None:
    admitted = [attack for attack in corpus if attack.admitted]
    assert {attack.group for attack in admitted} >= {"forged_evidence", "stolen_answers"}
    assert overlooked(admitted) == []


def test_an_attack_whose_control_is_not_done_fails(tmp_path: Path) -> None:
    (attack,) = written(tmp_path, ENTRY)
    trial = Trial(attack, "bwrap", 0.0, "the comparison", (), "same_storage is wrong")
    assert failed_trials([trial]) == ["control of tricks/hides at bwrap: same_storage is wrong"]


def test_an_attack_is_tried_only_at_its_own_levels_of_isolation(tmp_path: Path) -> None:
    corpus = written(tmp_path, ENTRY + 'levels = ["bwrap"]\nbecause = "it kills"\n')
    assert len(AttackRun(corpus, "bwrap").plans) == 1
    assert AttackRun(corpus, "none").plans == []


def test_an_accomplice_is_graded_at_the_same_time_as_its_attack_and_must_not_suffer(tmp_path: Path) -> None:
    (attack,) = written(tmp_path, ENTRY + 'beside = "HELPS = 1"\n')
    attack_run = AttackRun([attack], "bwrap")
    (made,) = attack_run.plans
    assert attack_run.pairs == [(made.beside, made.hostile)]
    assert made.beside is not None
    assert b"HELPS = 1" in made.beside.submission.files["same_storage.py"]
    assert made.hostile not in attack_run.queued
    assert {id(job) for job in attack_run.all_jobs()} >= {id(made.beside), id(made.hostile), id(made.after)}
    wrong, crashed = kata_result("same_storage", "wrong"), kata_result("same_storage", "crashed")
    assert judged(attack, wrong).control_problem is None
    assert judged(attack, wrong, honest=crashed).control_problem == "same_storage is crashed (test_a)"


ANYWHERE = """
[hides]
aim = "is right in secret, whatever the course"
code = "FUNCTION, NAME_OF_KATA = solved, 'KATA'"
control = "HONEST = FUNCTION"
"""


def test_an_attack_for_any_course_stands_below_its_first_function_and_has_the_right_one_to_call(tmp_path: Path) -> None:
    (tmp_path / "tricks.toml").write_text(ANYWHERE)
    (attack,) = attacks(KATAS, tmp_path)
    hostile, base = attack.hostile.files, attack.base().files
    name = "same_storage"
    assert hostile[f"{name}.py"].startswith(base[f"{name}.py"])
    assert hostile[f"{name}.py"].endswith(f"\n\n{name}, NAME_OF_KATA = solved, '{name}'".encode())
    assert base[f"{name}.py"].endswith(f"\n\nfrom .solved import {name} as solved".encode())
    assert attack.control.files[f"{name}.py"].endswith(f"HONEST = {name}".encode())
    assert hostile["solved.py"] == base["solved.py"] == course().solutions()[f"{name}.py"]


@pytest.mark.parametrize(
    ("track", "kata", "function"),
    [("core", "same_storage", "same_storage"), ("models", "initialization", "xavier_truncated_normal")],
)
def test_the_first_function_is_that_of_a_kata_that_is_graded_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, track: str, kata: str, function: str
) -> None:
    monkeypatch.setattr(courses, "CURRENT", [replace(course(), graded=(track,))])
    place = first_function()
    assert place is not None
    assert (place.kata.name, place.function) == (kata, function)


def test_a_quick_proof_asks_for_what_catches_the_wrong_solution_and_for_one_test_of_each_other_kata(
    tmp_path: Path,
) -> None:
    (tmp_path / "tricks.toml").write_text(ANYWHERE + ENTRY.replace("[hides]", "[hides_here]"))
    anywhere, here = attacks(KATAS, tmp_path)
    one, all_of_it = plan(anywhere, quick=True), plan(here, quick=True)
    assert [len(kata.points) for kata in (*one.hostile.katas, *one.after.katas)] == [1, 1, 1]
    assert [*one.hostile.katas[0].points] == [anywhere.place.wrong.caught_by]
    assert all_of_it.hostile.katas[0] == here.kata
    whole = plan(anywhere)
    assert whole.hostile.katas[0] == anywhere.kata
    assert (one.hostile.fails, whole.hostile.fails) == (True, False)  # the whole proof tells what an attack looks like
    assert whole.after.katas == (course().katas["same_storage"],)


def test_the_engines_attacks_name_neither_a_kata_of_ours_nor_torch() -> None:
    words = "|".join((*(kata.name for kata in KATAS if kata.name not in ("train", "strides")), "torch", "einops"))
    found = {path.stem: re.findall(rf"\b(?:{words})\b", path.read_text("utf-8")) for path in CORPUS.glob("*.toml")}
    assert len(found) >= 8
    assert {name: those for name, those in found.items() if those} == {}


def test_a_course_without_a_function_has_no_attacks_but_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courses, "CURRENT", [replace(course(), graded=("optimizers",))])
    here = list(attacks([*courses.course().katas.values()]))
    assert here
    assert all(attack.entry.wrong for attack in here)


def test_certify_names_chosen_katas_without_attacks() -> None:
    done = ask("certify", "--only", "attacks", "--kata", "cruncher")
    assert (done.code, done.err.strip()) == (2, "grader: there are no attacks in cruncher")


def test_every_course_has_a_next_student_and_a_neighbour_where_there_are_two_katas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    primes = courses.read(ROOT / "examples/courses/primes")
    monkeypatch.setattr(courses, "CURRENT", [primes])
    first, second = primes.katas.values()
    assert next_student().katas == (first,)
    whole = Submission("whole", primes.solutions())
    assert (neighbour(first, whole), neighbour(second, whole)) == ((), (first,)), "the second builds on the first"
    assert neighbour(first, Submission("part", {"sieve.py": b""})) == ()
    vars(primes)["katas"] = {first.name: first}
    assert neighbour(first, whole) == ()
