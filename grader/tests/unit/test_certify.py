"""`grader certify` refutes what is not so: an implementation that no test catches, a right one that is rejected."""

import pytest

from grader.base.errors import CallError
from grader.proof.caught_by import find_cheapest
from grader.proof.claims import Claim, find_others, make_claims, make_job, refute_wrong
from grader.proof.diagnoses import Diagnoses, judge_diagnosis
from grader.proof.messages import format_page
from grader.proof.proof import format_markdown
from grader.proof.zoo import ZooEntry, find_sentences
from grader.proof.zoo_proof import ZooOutcome, tabulate_katas
from grader.results.result import KataResult
from torchkata.course import course
from torchkata.result import Status, TestResult


def ended(
    diagnoses: dict[str, str | None], status: Status = "wrong", *, kata: str = "linear", seconds: float = 0.1
) -> list[KataResult]:
    """Return a kata's result. Tests that are None passed, others failed with this diagnosis, "" for none."""
    tests = [
        TestResult(name, "passed", seconds=seconds)
        if said is None
        else TestResult(name, "failed", diagnosis=said, explained_by=(said,) if said else (), seconds=seconds)
        for name, said in diagnoses.items()
    ]
    return [KataResult(kata, status, 0.0, 1.0, tuple(tests))]


def said(*sentences: str) -> list[KataResult]:
    """Return a `linear` whose tests failed with these diagnoses, and one without a diagnosis."""
    return ended({**{f"test_{i}": text for i, text in enumerate(sentences)}, "test_more": ""})


def entry(*looks_like: str, caught_by: str = "", note: str = "") -> ZooEntry:
    """Return a wrong `linear` that looks like these, or that a test's note names."""
    return ZooEntry("linear", "a", "", "", frozenset(looks_like), caught_by, note)


def wrong(name: str, *looks_like: str, note: str = "") -> Claim:
    """Return the claim about a wrong `linear` that `test_0` is known to catch."""
    files = make_job(name, {}, course().choose(["linear"]))
    return Claim("wrong", "linear", name, files, entry(*looks_like, caught_by="test_0", note=note))


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        ("done", "no test catches it"),
        ("wrong", None),
        ("crashed", None),
        ("not_started", "linear is not_started"),
        ("inconclusive", "linear is inconclusive (test_a)"),
    ],
)
def test_wrong_entry_is_started_and_not_done(status: Status, problem: str | None) -> None:
    assert refute_wrong(entry(), ended({"test_a": ""}, status)) == problem


def test_certify_refutes_a_false_caught_by() -> None:
    caught, named = ended({"test_a": "", "test_b": None}), ended({"test_a": "", "test_b": "relu"})
    assert refute_wrong(entry(), caught) is None, "all tests were run"
    assert refute_wrong(entry(caught_by="test_a"), caught) is None
    assert refute_wrong(entry(caught_by="test_b"), caught) == "its test_b does not catch it"
    assert refute_wrong(entry("relu", caught_by="test_b"), named) is None
    assert refute_wrong(entry("relu", caught_by="test_a"), named) == "its test_a does not give its diagnosis"


def test_quickest_test_under_every_seed_is_remembered() -> None:
    slow, quick = ended({"test_a": ""}, seconds=2.0)[0].tests, ended({"test_b": ""}, seconds=0.1)[0].tests
    both = [KataResult("linear", "wrong", 0.0, 1.0, (*slow, *quick))]
    assert find_cheapest(entry(), [ended({"test_a": None}, "done")]) is None
    assert find_cheapest(entry(), [both, both]) == "test_b"
    assert find_cheapest(entry(), [both, ended({"test_a": "", "test_b": None})]) == "test_a", "by chance is not enough"
    assert find_cheapest(entry(), [ended({"test_a": None, "test_b": ""}), both]) == "test_b", (
        "the first seed is certify's own"
    )
    assert find_cheapest(entry("relu"), [ended({"test_a": "", "test_b": "relu"})]) == "test_b"
    assert find_cheapest(entry("relu"), [ended({"test_a": ""})]) is None


def test_certify_refutes_a_right_zoo_entry_that_is_rejected_and_names_the_kata() -> None:
    done = ended({"test_a": None}, "done")
    rejected = ended({"test_a": None, "test_b": ""}, kata="cruncher")
    assert find_others("done", done) is None
    assert find_others("done", [*done, *rejected]) == "cruncher is wrong (test_b)"


def test_certify_claims_something_of_every_kind_for_every_kata() -> None:
    katas = list(course().katas.values())
    made = list(make_claims(katas, seeds=2))
    assert [made[0].refute(ended({}, status)) for status in ("not_started", "done")] == [None, "linear is done"]
    for kata in katas:
        groups = {claim.group for claim in made if claim.kata == kata.name}
        assert groups == {"solution", "right", "wrong"} | ({"fallback"} if course().dependents(kata.name) else set())
        seeds = [claim.job.seed for claim in made if (claim.group, claim.kata) == ("solution", kata.name)]
        assert seeds == [0, 1]


def test_certify_counts_the_claims_that_held() -> None:
    katas = course().choose(["linear"])
    outcome = ZooOutcome()
    made = make_claims(katas, seeds=1)
    first, second, *_ = [one for one in made if one.entry and not one.entry.looks_like and not one.entry.note]
    name = first.entry.caught_by if first.entry else ""
    outcome.add(first, ended({name: ""}))
    outcome.add(second, ended({name: None}, "done"))
    assert outcome.count_catches(katas[0])[name] == (1, 1)
    assert outcome.list_failed() == [f"wrong linear {second.name}: no test catches it"]
    assert "| linear | 0/0 | 0/0 | 0/0 | 1/2 | 0/0 | 0 of 0 |" in format_markdown([tabulate_katas(outcome, katas)])


def test_a_diagnosis_of_a_zoo_entry_is_right_silent_wrong_or_not_foreseen() -> None:
    assert judge_diagnosis(wrong("a", "relu"), said("relu", "relu")) == "right diagnosis"
    assert judge_diagnosis(wrong("a", "relu"), said()) == judge_diagnosis(wrong("a"), said()) == "no diagnosis"
    assert judge_diagnosis(wrong("a", "relu"), said("relu", "bias")) == "wrong diagnosis"
    assert judge_diagnosis(wrong("a", "relu", "bias"), said("bias")) == "right diagnosis"
    assert judge_diagnosis(wrong("a"), said("bias")) == "unexpected diagnosis"
    assert judge_diagnosis(wrong("a", note="a bias"), said()) == "named by the test"
    seen = TestResult("test_0", "failed", 0.0, 1.0, diagnosis="there is a bias")
    assert judge_diagnosis(wrong("a"), [KataResult("linear", "wrong", 0.0, 1.0, (seen,))]) == "named by the test"
    assert judge_diagnosis(wrong("a", note="a bias"), said("bias")) == "unexpected diagnosis"


def test_certify_refutes_a_wrong_zoo_entry_without_its_declared_diagnosis() -> None:
    assert wrong("a", "relu").refute(said("relu")) is None
    assert wrong("a", "relu").refute(said()) == "no test gives its diagnosis"
    assert wrong("a", "relu").refute(said("relu", "bias")) == "wrong diagnosis: bias"
    assert wrong("a").refute(said("bias")) is None


def test_a_note_that_names_the_mistake_must_be_said_by_the_test_that_catches_it() -> None:
    def failed(**notes: str) -> list[KataResult]:
        tests = tuple(TestResult(name, "failed", 0.0, 1.0, message=note) for name, note in notes.items())
        return [KataResult("linear", "wrong", 0.0, 1.0, tests)]

    claim = wrong("a", note="there is a bias")
    assert claim.refute(failed(test_0="note  there is a bias: b")) is None
    by_another = failed(test_0="note  1 of 2", test_1="there is a bias")
    assert claim.refute(by_another) == "its test_0 does not contain its note"


def test_certify_demands_a_diagnosis_for_most_mistakes_of_a_numeric_track() -> None:
    core = [kata for kata in course().katas.values() if kata.track == "core"]
    found = Diagnoses()
    for name in "abcdefg":
        found.add(wrong(name, "relu"), said("relu"))
    found.add(wrong("h"), said())
    found.add(wrong("i"), said())
    found.add(wrong("j"), said("bias"))
    assert found.find_failed(core) == []
    assert found.unforeseen == ["wrong linear j has no looks_like, but is diagnosed as: bias"]
    found.add(wrong("k"), said())
    assert found.find_failed(core) == ["diagnosis: 7 of 11 wrong entries of the core track are named, expected 70%"]
    assert found.find_failed(course().choose(["linear"])) == [], "a part of a track shows nothing"
    assert len(found.find_failed(list(course().katas.values()))) == 2, "too few of the core track, and of all"
    assert "| linear | 11 | 7 | 0 | 3 | 0 | 1 |" in format_markdown([found.tabulate(core)])
    assert "| numeric katas together | 11 | 7 | 0 | 3 | 0 | 1 |" in format_markdown([found.tabulate(core)])
    for name in "lmn":
        found.add(wrong(name, note="a bias"), said())
    assert found.find_failed(core) == [], "a test's own note names a mistake as well"


def test_a_zoo_entry_can_only_look_like_a_known_mistake() -> None:
    kata = course().katas["linear"]
    assert find_sentences("a", kata, {"looks_like": "relu"}) == {"a ReLU is applied to the product"}
    assert find_sentences("a", kata, {}) == frozenset()
    with pytest.raises(CallError, match=r"linear\.toml: a: looks_like is 'gelu', but linear has no such mistake"):
        find_sentences("linear.toml: a", kata, {"looks_like": ["relu", "gelu"]})


def test_the_page_of_a_kata_has_what_a_student_reads_of_each_wrong_entry() -> None:
    (linear,) = course().choose(["linear"])
    message = "linear · Linear(x) is x @ weight\n  note      off\n  again: pytest"
    tests = (TestResult("test_a", "failed", message=message), TestResult("test_b", "passed"))
    caught, missed = (ZooEntry("linear", name, "Breaks: a rule", "") for name in ("caught", "missed"))
    text = format_page(
        linear, [(caught, KataResult("linear", "wrong", 0.0, 1.0, tests)), (missed, ended({}, "done")[0])]
    )
    assert "## caught\n\nBreaks: a rule\n\n```\nlinear · Linear(x) is x @ weight\n  note      off\n```" in text
    assert "## missed\n\nBreaks: a rule\n\nNo test catches it, so a student sees no message." in text
