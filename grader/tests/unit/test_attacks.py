"""Tests of reading the attack corpus and judging trials."""

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


def load_corpus(folder: Path, text: str) -> list[Attack]:
    """Return the attacks in a corpus that consists of one file with the given content."""
    (folder / "tricks.toml").write_text(text)
    return list(load_attacks(KATAS, folder))


def test_attack_and_control_extend_different_solutions(tmp_path: Path) -> None:
    (attack,) = load_corpus(tmp_path, ENTRY)
    assert attack.title == "tricks/hides"
    hostile, control = (one.files["same_storage.py"].decode() for one in (attack.hostile, attack.control))
    assert hostile.startswith(attack.make_base().files["same_storage.py"].decode())
    assert hostile.endswith("HOSTILE = 1")
    assert control.endswith("HONEST = 1")
    assert "untyped_storage" in control
    assert hostile.count("untyped_storage") == 0
    assert set(attack.hostile.files) == {f"{kata.name}.py" for kata in KATAS}


def make_kata_result(kata: str, status: Status, points: float = 0.0, outcome: Outcome = "failed") -> results.KataResult:
    return results.KataResult(kata, status, points, 8.0, (TestResult("test_a", outcome, points, 8.0),))


def make_graded(job: Job, *katas: results.KataResult) -> Graded:
    return Graded(job, list(katas), 1.0, peak_mib=400.0)


FINE = make_kata_result("same_storage", "done", 8.0, "passed")


def judge_attack(
    attack: Attack,
    attacked: results.KataResult,
    honest: results.KataResult = FINE,
    *,
    level: Level = "bwrap",
    quick: bool = False,
    **differences: object,
) -> Trial:
    """Return the trial of an attack, given the results of its hostile and honest jobs. All other jobs succeeded."""
    (plan,) = make_plans([attack], level, quick=quick)
    ended = {id(job): make_graded(job, FINE) for job in (plan.alone, plan.after)}
    ended |= {id(job): make_graded(job, honest) for job in (plan.control, plan.before, plan.beside) if job is not None}
    ended[id(plan.base)] = make_graded(plan.base, make_kata_result(attack.kata.name, "wrong", 2.0))
    hostile = make_graded(plan.hostile, attacked, make_kata_result("linear", "done"))
    ended[id(plan.hostile)] = replace(hostile, **differences)  # type: ignore[arg-type]
    return judge(plan, ended)


def test_attack_gain_is_measured_against_wrong_solution(tmp_path: Path) -> None:
    (attack,) = load_corpus(tmp_path, ENTRY)
    stopped = judge_attack(attack, make_kata_result("same_storage", "wrong", 2.0))
    assert (stopped.gained, stopped.problems, stopped.stopped_by) == (0.0, (), "the comparison")
    gained = judge_attack(attack, make_kata_result("same_storage", "wrong", 3.0))
    assert gained.problems == ("gained 1 points",)
    assert (gained.gained, gained.stopped_by, gained.title, gained.level) == (1.0, "", "tricks/hides", "bwrap")


def test_attack_that_disrupts_grading_is_detected(tmp_path: Path) -> None:
    (attack,) = load_corpus(tmp_path, ENTRY)
    wrong = make_kata_result("same_storage", "wrong")
    assert judge_attack(attack, make_kata_result("same_storage", "inconclusive")).problems == (
        "made the result inconclusive",
    )
    assert judge_attack(attack, wrong, seconds=60.0).problems == ("took 60 seconds",)
    assert judge_attack(attack, wrong, seconds=60.0, quick=True).problems == (), "a busy machine may take that long"
    assert judge_attack(attack, wrong, peak_mib=5000.0).problems == ("took 4600 MiB of the grader's memory",)
    broken = [wrong, make_kata_result("linear", "crashed")]
    assert judge_attack(attack, wrong, katas=broken).problems == ("harmed its own linear: crashed",)
    lost = results.KataResult("same_storage", "crashed", 0.0, 8.0, (LOST,))
    assert judge_attack(attack, wrong, peak_mib=500.0).mib == 100.0
    assert judge_attack(attack, lost).problems == ("crashed the process that graded it",)
    wordy = results.KataResult("same_storage", "wrong", 0.0, 8.0, (replace(LOST, cause="", message="x" * 10_000),))
    assert judge_attack(attack, wordy).problems == ("left a message of 10000 characters",)


def test_unstopped_attack_must_be_flagged_by_lint(tmp_path: Path) -> None:
    looks, silent = "import sys\\nsys._getframe(1).f_locals", "import gc\\ngc.collect()"
    entry = ENTRY.replace("HOSTILE = 1", looks) + 'open = "nobody knows how"\n'
    assert find_unlinted(load_corpus(tmp_path, entry)) == []
    line = ["attack tricks/hides: lint reports nothing in its source"]
    assert find_unlinted(load_corpus(tmp_path, entry.replace(looks, silent))) == line
    found_anyway = entry.replace("same_storage/values", "linear/wraps_torch_linear")
    assert find_unlinted(load_corpus(tmp_path, found_anyway.replace(looks, silent))) == line


def test_lint_must_distinguish_unstopped_attack_from_control(tmp_path: Path) -> None:
    both = ENTRY.replace("HOSTILE = 1", "import socket").replace("HONEST = 1", "import socket")
    assert find_unlinted(load_corpus(tmp_path, both + 'only = "bwrap"\n')) == []
    line = "attack tricks/hides: lint reports nothing that it does not also report for the honest control"
    assert find_unlinted(load_corpus(tmp_path, both + 'open = "nobody knows how"\n')) == [line]


def test_lint_flags_all_unstopped_attacks_of_corpus(corpus: list[Attack]) -> None:
    admitted = [attack for attack in corpus if attack.admitted]
    assert {attack.title.partition("/")[0] for attack in admitted} >= {"forged_evidence", "stolen_answers"}
    assert find_unlinted(admitted) == []


def test_trial_results_label_unstopped_attacks(tmp_path: Path) -> None:
    wrong = make_kata_result("same_storage", "wrong", 2.0)
    (only,) = load_corpus(tmp_path, ENTRY + 'only = "bwrap"\n')
    assert [judge_attack(only, wrong, level=level).admitted for level in LEVELS] == ["", "ONLY BWRAP STOPS"]
    (opened,) = load_corpus(tmp_path, ENTRY + 'open = "nobody knows how"\n')
    assert {judge_attack(opened, wrong, level=level).admitted for level in LEVELS} == {"OPEN"}
    assert judge_attack(opened, wrong).reason == "nobody knows how"


def test_quick_attack_trial_skips_the_control(tmp_path: Path) -> None:
    (attack,) = load_corpus(tmp_path, ENTRY)
    wrong = make_kata_result("same_storage", "wrong", 2.0)
    assert judge_attack(attack, wrong, honest=wrong).control_problem == "same_storage is wrong (test_a)"
    assert [judge_attack(attack, wrong, quick=quick).control_problem for quick in (False, True)] == ["", None]


def test_attack_is_run_at_its_declared_isolation_levels(tmp_path: Path) -> None:
    corpus = load_corpus(tmp_path, ENTRY + 'levels = ["bwrap"]\nbecause = "it kills"\n')
    assert [len(make_plans(corpus, level)) for level in LEVELS] == [1, 0]


def list_ids(*jobs: Job | None) -> list[int]:
    """Return the `id` of each job, to distinguish jobs that are equal."""
    return [id(job) for job in jobs]


def test_attacks_on_same_solution_share_a_job(tmp_path: Path) -> None:
    first, second = make_plans(load_corpus(tmp_path, ENTRY + ENTRY.replace("hides", "seeks")), "none")
    (queued, jobs), _ = plan_rounds([first, second], 3)
    shared = list_ids(first.alone, first.base)
    assert list_ids(*queued) == [*shared, *list_ids(first.hostile, second.hostile, first.control, second.control)]
    assert jobs == 3


@pytest.mark.parametrize("when", ["before", "beside"])
def test_helper_submission_is_graded_with_its_attack(tmp_path: Path, when: str) -> None:
    (attack,) = load_corpus(tmp_path, ENTRY + f'{when} = "HELPS = 1"\n')
    (plan,) = make_plans([attack], "bwrap")
    (queued, _), (together, at_once) = plan_rounds([plan], 1)
    helper = plan.before or plan.beside
    assert helper is not None
    assert b"HELPS = 1" in helper.submission.files["same_storage.py"]
    assert list_ids(*queued) == list_ids(*filter(None, (plan.alone, plan.base, plan.before, plan.control)))
    assert list_ids(*follow(helper)) == list_ids(*((helper, plan.hostile, plan.after) if plan.before else (helper,)))
    assert list_ids(*follow(plan.hostile)) == list_ids(plan.hostile, plan.after)
    assert (list_ids(*together), at_once) == ((list_ids(helper, plan.hostile), 2) if plan.beside else ([], 0))
    wrong, crashed = make_kata_result("same_storage", "wrong"), make_kata_result("same_storage", "crashed")
    assert judge_attack(attack, wrong, crashed, quick=True).control_problem == "same_storage is crashed (test_a)"


ANYWHERE = """
[hides]
aim = "is right in secret, whatever the course"
code = "FUNCTION, NAME_OF_KATA = solved, 'KATA'"
control = "HONEST = FUNCTION"
"""


def test_generic_attack_is_appended_to_first_kata_function(tmp_path: Path) -> None:
    (attack,) = load_corpus(tmp_path, ANYWHERE)
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
def test_first_function_is_chosen_from_graded_katas(
    monkeypatch: pytest.MonkeyPatch, track: str, kata: str, function: str
) -> None:
    monkeypatch.setattr(courses, "CURRENT", [replace(course(), graded=(track,))])
    place = find_first_function()
    assert place is not None
    assert (place[0].name, place[2]) == (kata, function)


def test_quick_certify_runs_one_test_per_kata(tmp_path: Path) -> None:
    corpus = load_corpus(tmp_path, ANYWHERE + ENTRY.replace("[hides]", "[hides_here]"))
    (one, all_of_it), (whole, _) = (make_plans(corpus, "bwrap", quick=quick) for quick in (True, False))
    assert [len(kata.points) for kata in (*one.hostile.katas, *one.after.katas)] == [1, 1, 1]
    assert [*one.hostile.katas[0].points] == [corpus[0].wrong.caught_by]
    assert all_of_it.hostile.katas[0] == whole.hostile.katas[0] == corpus[0].kata
    assert one.hostile.expect_failure
    assert not whole.hostile.expect_failure, "a full run diagnoses attacks"
    assert whole.after.katas == (course().katas["same_storage"],)


def test_generic_attacks_mention_no_kata_or_torch() -> None:
    words = "|".join((*(kata.name for kata in KATAS if kata.name not in ("train", "strides")), "torch", "einops"))
    found = {path.stem: re.findall(rf"\b(?:{words})\b", path.read_text("utf-8")) for path in CORPUS.glob("*.toml")}
    assert len(found) >= 8
    assert {name: those for name, those in found.items() if those} == {}


def test_course_without_functions_gets_no_generic_attacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courses, "CURRENT", [replace(course(), graded=("optimizers",))])
    here = list(load_attacks([*courses.course().katas.values()]))
    assert here
    assert all(attack.entry.wrong for attack in here)


def test_attack_trial_uses_katas_of_the_course(monkeypatch: pytest.MonkeyPatch) -> None:
    primes = courses.read_course(ROOT / "examples/courses/primes")
    monkeypatch.setattr(courses, "CURRENT", [primes])
    first, second = primes.katas.values()
    assert make_next_student().katas == (first,)
    whole = Submission("whole", primes.solutions())
    assert find_neighbour(first, whole) == ()
    assert find_neighbour(second, whole) == (first,), "the second kata builds on the first"
    assert find_neighbour(first, Submission("part", {"sieve.py": b""})) == ()
    vars(primes)["katas"] = {first.name: first}
    assert find_neighbour(first, whole) == ()
