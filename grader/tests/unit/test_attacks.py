"""The attack corpus: how it is read, how a trial is judged."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.pipeline.job import Graded, Job
from grader.pipeline.session import LOST
from grader.pipeline.submission import Submission
from grader.proof.attack_run import find_neighbour, find_unlinted, judge, make_next_student, make_plans, plan_rounds
from grader.proof.attacks import CORPUS, Attack, find_first_function, load_attacks
from grader.proof.proof import LEVELS, Level, Trial, follow
from grader.results import result as results
from grader.tests import ROOT
from torchkata.course import course
from torchkata.course import current as courses
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
    return list(load_attacks(KATAS))


def written(folder: Path, text: str) -> list[Attack]:
    """A corpus of one class."""
    (folder / "tricks.toml").write_text(text)
    return list(load_attacks(KATAS, folder))


def test_an_attack_is_appended_to_a_wrong_solution_and_its_control_to_the_right_one(tmp_path: Path) -> None:
    (attack,) = written(tmp_path, ENTRY)
    assert attack.title == "tricks/hides"
    hostile, control = (one.files["same_storage.py"].decode() for one in (attack.hostile, attack.control))
    assert hostile.startswith(attack.make_base().files["same_storage.py"].decode())
    assert hostile.endswith("HOSTILE = 1")
    assert control.endswith("HONEST = 1")
    assert "untyped_storage" in control
    assert hostile.count("untyped_storage") == 0
    assert set(attack.hostile.files) == {f"{kata.name}.py" for kata in KATAS}


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
    level: Level = "bwrap",
    quick: bool = False,
    **differences: object,
) -> Trial:
    """Return the trial of an attack that ended like this, its honest jobs like that; everything else went well."""
    (plan,) = make_plans([attack], level, quick=quick)
    ended = {id(job): graded(job, FINE) for job in (plan.alone, plan.after)}
    ended |= {id(job): graded(job, honest) for job in (plan.control, plan.before, plan.beside) if job is not None}
    ended[id(plan.base)] = graded(plan.base, kata_result(attack.kata.name, "wrong", 2.0))
    hostile = graded(plan.hostile, attacked, kata_result("linear", "done"))
    ended[id(plan.hostile)] = replace(hostile, **differences)  # type: ignore[arg-type]
    return judge(plan, ended)


def test_an_attack_gains_the_points_that_the_wrong_solution_does_not_earn(tmp_path: Path) -> None:
    (attack,) = written(tmp_path, ENTRY)
    stopped = judged(attack, kata_result("same_storage", "wrong", 2.0))
    assert (stopped.gained, stopped.problems, stopped.stopped_by) == (0.0, (), "the comparison")
    gained = judged(attack, kata_result("same_storage", "wrong", 3.0))
    assert gained.problems == ("gained 1 points",)
    assert (gained.gained, gained.stopped_by, gained.title, gained.level) == (1.0, "", "tricks/hides", "bwrap")


def test_an_attack_that_harms_the_grading_is_found(tmp_path: Path) -> None:
    (attack,) = written(tmp_path, ENTRY)
    wrong = kata_result("same_storage", "wrong")
    assert judged(attack, kata_result("same_storage", "inconclusive")).problems == ("blamed the machine",)
    assert judged(attack, wrong, seconds=60.0).problems == ("took 60 seconds",)
    assert judged(attack, wrong, seconds=60.0, quick=True).problems == (), "which a busy machine may have taken"
    assert judged(attack, wrong, peak_mib=5000.0).problems == ("took 4600 MiB of the grader's memory",)
    broken = [wrong, kata_result("linear", "crashed")]
    assert judged(attack, wrong, katas=broken).problems == ("harmed its own linear: crashed",)
    lost = results.KataResult("same_storage", "crashed", 0.0, 8.0, (LOST,))
    assert judged(attack, wrong, peak_mib=500.0).mib == 100.0
    assert judged(attack, lost).problems == ("crashed the process that graded it",)
    wordy = results.KataResult("same_storage", "wrong", 0.0, 8.0, (replace(LOST, cause="", message="x" * 10_000),))
    assert judged(attack, wordy).problems == ("left a message of 10000 characters",)


def test_an_open_attack_must_have_a_finding_in_its_source(tmp_path: Path) -> None:
    looks, silent = "import sys\\nsys._getframe(1).f_locals", "import gc\\ngc.collect()"
    entry = ENTRY.replace("HOSTILE = 1", looks) + 'open = "nobody knows how"\n'
    assert find_unlinted(written(tmp_path, entry)) == []
    line = ["attack tricks/hides: lint finds nothing in its source"]
    assert find_unlinted(written(tmp_path, entry.replace(looks, silent))) == line
    found_anyway = entry.replace("same_storage/values", "linear/wraps_torch_linear")
    assert find_unlinted(written(tmp_path, found_anyway.replace(looks, silent))) == line


def test_findings_tell_an_open_attack_from_its_control(tmp_path: Path) -> None:
    both = ENTRY.replace("HOSTILE = 1", "import socket").replace("HONEST = 1", "import socket")
    assert find_unlinted(written(tmp_path, both + 'only = "bwrap"\n')) == []
    line = "attack tricks/hides: lint finds nothing that its honest control does not have"
    assert find_unlinted(written(tmp_path, both + 'open = "nobody knows how"\n')) == [line]


def test_every_open_attack_of_the_corpus_has_a_finding_in_its_source(corpus: list[Attack]) -> None:
    admitted = [attack for attack in corpus if attack.admitted]
    assert {attack.title.partition("/")[0] for attack in admitted} >= {"forged_evidence", "stolen_answers"}
    assert find_unlinted(admitted) == []


def test_corpus_admits_what_nothing_stops_here(tmp_path: Path) -> None:
    wrong = kata_result("same_storage", "wrong", 2.0)
    (only,) = written(tmp_path, ENTRY + 'only = "bwrap"\n')
    assert [judged(only, wrong, level=level).admitted for level in LEVELS] == ["", "ONLY BWRAP STOPS"]
    (opened,) = written(tmp_path, ENTRY + 'open = "nobody knows how"\n')
    assert {judged(opened, wrong, level=level).admitted for level in LEVELS} == {"OPEN"}
    assert judged(opened, wrong).reason == "nobody knows how"


def test_quick_trial_has_no_control(tmp_path: Path) -> None:
    (attack,) = written(tmp_path, ENTRY)
    wrong = kata_result("same_storage", "wrong", 2.0)
    assert judged(attack, wrong, honest=wrong).control_problem == "same_storage is wrong (test_a)"
    assert [judged(attack, wrong, quick=quick).control_problem for quick in (False, True)] == ["", None]


def test_an_attack_is_tried_only_at_its_own_levels_of_isolation(tmp_path: Path) -> None:
    corpus = written(tmp_path, ENTRY + 'levels = ["bwrap"]\nbecause = "it kills"\n')
    assert [len(make_plans(corpus, level)) for level in LEVELS] == [1, 0]


def ids(*jobs: Job | None) -> list[int]:
    """Return what tells these jobs apart, even if they are equal."""
    return [id(job) for job in jobs]


def test_attacks_below_one_solution_share_its_job(tmp_path: Path) -> None:
    first, second = make_plans(written(tmp_path, ENTRY + ENTRY.replace("hides", "seeks")), "none")
    (queued, jobs), _ = plan_rounds([first, second], 3)
    shared = ids(first.alone, first.base)
    assert ids(*queued) == [*shared, *ids(first.hostile, second.hostile, first.control, second.control)]
    assert jobs == 3


@pytest.mark.parametrize("when", ["before", "beside"])
def test_accomplice_is_graded_with_its_attack(tmp_path: Path, when: str) -> None:
    (attack,) = written(tmp_path, ENTRY + f'{when} = "HELPS = 1"\n')
    (plan,) = make_plans([attack], "bwrap")
    (queued, _), (together, at_once) = plan_rounds([plan], 1)
    helper = plan.before or plan.beside
    assert helper is not None
    assert b"HELPS = 1" in helper.submission.files["same_storage.py"]
    assert ids(*queued) == ids(*filter(None, (plan.alone, plan.base, plan.before, plan.control)))
    assert ids(*follow(helper)) == ids(*((helper, plan.hostile, plan.after) if plan.before else (helper,)))
    assert ids(*follow(plan.hostile)) == ids(plan.hostile, plan.after)
    assert (ids(*together), at_once) == ((ids(helper, plan.hostile), 2) if plan.beside else ([], 0))
    wrong, crashed = kata_result("same_storage", "wrong"), kata_result("same_storage", "crashed")
    assert judged(attack, wrong, crashed, quick=True).control_problem == "same_storage is crashed (test_a)"


ANYWHERE = """
[hides]
aim = "is right in secret, whatever the course"
code = "FUNCTION, NAME_OF_KATA = solved, 'KATA'"
control = "HONEST = FUNCTION"
"""


def test_an_attack_for_any_course_stands_below_its_first_function_and_has_the_right_one_to_call(tmp_path: Path) -> None:
    (tmp_path / "tricks.toml").write_text(ANYWHERE)
    (attack,) = load_attacks(KATAS, tmp_path)
    hostile, base = attack.hostile.files, attack.make_base().files
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
    place = find_first_function()
    assert place is not None
    assert (place.kata.name, place.function) == (kata, function)


def test_a_quick_proof_asks_for_what_catches_the_wrong_solution_and_for_one_test_of_each_other_kata(
    tmp_path: Path,
) -> None:
    (tmp_path / "tricks.toml").write_text(ANYWHERE + ENTRY.replace("[hides]", "[hides_here]"))
    corpus = [*load_attacks(KATAS, tmp_path)]
    (one, all_of_it), (whole, _) = (make_plans(corpus, "bwrap", quick=quick) for quick in (True, False))
    assert [len(kata.points) for kata in (*one.hostile.katas, *one.after.katas)] == [1, 1, 1]
    assert [*one.hostile.katas[0].points] == [corpus[0].place.wrong.caught_by]
    assert all_of_it.hostile.katas[0] == whole.hostile.katas[0] == corpus[0].kata
    assert (one.hostile.expect_failure, whole.hostile.expect_failure) == (
        True,
        False,
    )  # the whole proof diagnoses attacks
    assert whole.after.katas == (course().katas["same_storage"],)


def test_the_engines_attacks_name_neither_a_kata_of_ours_nor_torch() -> None:
    words = "|".join((*(kata.name for kata in KATAS if kata.name not in ("train", "strides")), "torch", "einops"))
    found = {path.stem: re.findall(rf"\b(?:{words})\b", path.read_text("utf-8")) for path in CORPUS.glob("*.toml")}
    assert len(found) >= 8
    assert {name: those for name, those in found.items() if those} == {}


def test_a_course_without_a_function_has_no_attacks_but_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courses, "CURRENT", [replace(course(), graded=("optimizers",))])
    here = list(load_attacks([*courses.course().katas.values()]))
    assert here
    assert all(attack.entry.wrong for attack in here)


def test_every_course_has_a_next_student_and_a_neighbour_where_there_are_two_katas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    primes = courses.read_course(ROOT / "examples/courses/primes")
    monkeypatch.setattr(courses, "CURRENT", [primes])
    first, second = primes.katas.values()
    assert make_next_student().katas == (first,)
    whole = Submission("whole", primes.solutions())
    assert (find_neighbour(first, whole), find_neighbour(second, whole)) == ((), (first,)), (
        "the second builds on the first"
    )
    assert find_neighbour(first, Submission("part", {"sieve.py": b""})) == ()
    vars(primes)["katas"] = {first.name: first}
    assert find_neighbour(first, whole) == ()
