"""Tests of the claims that `grader certify` proves: tests catch wrong implementations and accept correct ones."""

from dataclasses import replace

import pytest

from grader.base.errors import CallError
from grader.proof.caught_by import find_cheapest
from grader.proof.claims import Claim, find_others, make_claims, make_job, refute_wrong
from grader.proof.diagnoses import judge_diagnosis
from grader.proof.shares import find_failed, find_unfair, measure_share
from grader.proof.zoo import ZooEntry, find_sentences
from grader.results.result import KataResult
from torchkata.course import Level, course
from torchkata.result import Status, TestResult


def make_results(
    diagnoses: dict[str, str | None], status: Status = "wrong", *, kata: str = "linear", seconds: float = 0.1
) -> list[KataResult]:
    """Return a kata's result. A test with the value None has passed; any other value is its diagnosis."""
    tests = [
        TestResult(name, "passed", seconds=seconds)
        if said is None
        else TestResult(name, "failed", diagnosis=said, explained_by=(said,) if said else (), seconds=seconds)
        for name, said in diagnoses.items()
    ]
    return [KataResult(kata, status, 0.0, 1.0, tuple(tests))]


def make_diagnosed(*sentences: str) -> list[KataResult]:
    """Return a result of `linear` with one failed test per diagnosis, plus one without a diagnosis."""
    return make_results({**{f"test_{i}": text for i, text in enumerate(sentences)}, "test_more": ""})


def make_entry(*looks_like: str, caught_by: str = "", note: str = "") -> ZooEntry:
    """Return a zoo entry of a wrong `linear` with the given `looks_like`, `caught_by` and `note`."""
    return ZooEntry("linear", "a", "", "", frozenset(looks_like), caught_by, note)


def make_claim(name: str, *looks_like: str, note: str = "") -> Claim:
    """Return the claim about a wrong `linear` that is known to be caught by `test_0`."""
    files = make_job(name, {}, course().choose(["linear"]))
    return Claim("wrong", "linear", name, files, make_entry(*looks_like, caught_by="test_0", note=note))


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
def test_wrong_implementation_must_be_graded_and_fail(status: Status, problem: str | None) -> None:
    assert refute_wrong(make_entry(), make_results({"test_a": ""}, status)) == problem


def test_certify_reports_wrong_entry_in_caught_by() -> None:
    caught, named = make_results({"test_a": "", "test_b": None}), make_results({"test_a": "", "test_b": "relu"})
    assert refute_wrong(make_entry(), caught) is None, "without caught_by, any failed test is enough"
    assert refute_wrong(make_entry(caught_by="test_a"), caught) is None
    assert refute_wrong(make_entry(caught_by="test_b"), caught) == "its test_b does not catch it"
    assert refute_wrong(make_entry("relu", caught_by="test_b"), named) is None
    assert refute_wrong(make_entry("relu", caught_by="test_a"), named) == "its test_a does not give its diagnosis"


def test_fastest_test_failing_under_every_seed_is_chosen() -> None:
    slow, quick = make_results({"test_a": ""}, seconds=2.0)[0].tests, make_results({"test_b": ""}, seconds=0.1)[0].tests
    both = [KataResult("linear", "wrong", 0.0, 1.0, (*slow, *quick))]
    assert find_cheapest(make_entry(), [make_results({"test_a": None}, "done")]) is None
    assert find_cheapest(make_entry(), [both, both]) == "test_b"
    assert find_cheapest(make_entry(), [both, make_results({"test_a": "", "test_b": None})]) == "test_a", (
        "test_b fails under one seed only"
    )
    first = make_results({"test_a": None, "test_b": ""})  # with certify's own seed
    assert find_cheapest(make_entry(), [first, both]) == "test_b"
    assert find_cheapest(make_entry("relu"), [make_results({"test_a": "", "test_b": "relu"})]) == "test_b"
    assert find_cheapest(make_entry("relu"), [make_results({"test_a": ""})]) is None


def test_certify_reports_kata_that_rejects_correct_entry() -> None:
    done = make_results({"test_a": None}, "done")
    rejected = make_results({"test_a": None, "test_b": ""}, kata="cruncher")
    assert find_others("done", done) is None
    assert find_others("done", [*done, *rejected]) == "cruncher is wrong (test_b)"


def test_every_kata_has_claims_of_every_kind() -> None:
    katas = list(course().katas.values())
    made = list(make_claims(katas, seeds=2))
    assert [made[0].refute(make_results({}, status)) for status in ("not_started", "done")] == [None, "linear is done"]
    for kata in katas:
        groups = {claim.group for claim in made if claim.kata == kata.name}
        assert groups == {"solution", "right", "wrong"} | ({"fallback"} if course().dependents(kata.name) else set())
        seeds = [claim.job.seed for claim in made if (claim.group, claim.kata) == ("solution", kata.name)]
        assert seeds == [0, 1]


@pytest.mark.parametrize(
    ("claim", "results", "judgement", "problem"),
    [
        (make_claim("a", "relu"), make_diagnosed("relu", "relu"), "right diagnosis", None),
        (make_claim("a", "relu"), make_diagnosed(), "no diagnosis", "no test gives its diagnosis"),
        (make_claim("a", "relu"), make_diagnosed("relu", "bias"), "wrong diagnosis", "wrong diagnosis: bias"),
        (make_claim("a", "relu", "bias"), make_diagnosed("bias"), "right diagnosis", None),
        (make_claim("a"), make_diagnosed("bias"), "unexpected diagnosis", None),
    ],
)
def test_wrong_diagnosis_of_zoo_entry_is_reported(
    claim: Claim, results: list[KataResult], judgement: str, problem: str | None
) -> None:
    assert (judge_diagnosis(claim, results), claim.refute(results)) == (judgement, problem)


def test_note_of_failed_test_counts_as_diagnosis() -> None:
    assert judge_diagnosis(make_claim("a"), make_diagnosed()) == "no diagnosis"
    assert judge_diagnosis(make_claim("a", note="a bias"), make_diagnosed()) == "named by the test"
    assert judge_diagnosis(make_claim("a", note="a bias"), make_diagnosed("bias")) == "unexpected diagnosis"
    seen = TestResult("test_0", "failed", 0.0, 1.0, diagnosis="there is a bias")
    assert judge_diagnosis(make_claim("a"), [KataResult("linear", "wrong", 0.0, 1.0, (seen,))]) == "named by the test"


def test_note_must_be_reported_by_the_catching_test() -> None:
    def failed(**notes: str) -> list[KataResult]:
        tests = tuple(TestResult(name, "failed", 0.0, 1.0, message=note) for name, note in notes.items())
        return [KataResult("linear", "wrong", 0.0, 1.0, tests)]

    claim = make_claim("a", note="there is a bias")
    assert claim.refute(failed(test_0="note  there is a bias: b")) is None
    by_another = failed(test_0="note  1 of 2", test_1="there is a bias")
    assert claim.refute(by_another) == "its test_0 does not contain its note"


def test_looks_like_entry_must_name_known_mistake() -> None:
    kata = course().katas["linear"]
    assert find_sentences("a", kata, {"looks_like": "relu"}) == {"a ReLU is applied to the output"}
    assert find_sentences("a", kata, {}) == frozenset()
    both = {"the weight is transposed before the matmul", "a ReLU is applied to the output"}
    assert find_sentences("a", kata, {"looks_like": ["relu", "transposed"]}) == both
    with pytest.raises(CallError, match=r"linear\.toml: a: looks_like is 'gelu', but linear has no such mistake"):
        find_sentences("linear.toml: a", kata, {"looks_like": ["relu", "gelu"]})


def test_share_of_lost_points_requires_all_results() -> None:
    (kata,) = course().choose(["linear"])
    first, *others = kata.points
    (result,) = make_results({first: "", **dict.fromkeys(others)})
    failed = find_failed(kata, result)
    assert failed is not None
    assert [*failed] == [first]
    assert measure_share(kata, failed) == kata.points[first] / kata.max_score
    assert find_failed(kata, make_results({first: ""})[0]) is None


def judge(level: Level, *failed: str, exception: str = "") -> list[str]:
    """Return what certify says about a wrong `linear` that breaks a rule of this level and fails these tests."""
    (kata,) = course().choose(["linear"])
    entry = replace(make_entry(), level=level, exception=exception)
    return [*find_unfair(kata, {entry.name: {*failed}}, [entry])]


def test_entry_loses_points_according_to_its_level() -> None:
    tests = course().katas["linear"].tests
    (central,), (convention,), essential = tests["central"], tests["conventions"], tests["essential"]
    assert judge("central", central) == judge("conventions", convention) == judge("essential", *essential) == []
    assert judge("central", *essential) == [
        "points: wrong linear a breaks a rule in central, but passes all tests that kata.toml lists there"
    ]
    assert judge("conventions", essential[0])[0].endswith("that kata.toml lists there")
    (line,) = judge("conventions", central, convention)
    assert line.startswith("points: wrong linear a breaks a convention and loses 58% of the points; at most 25%")


def test_mistake_against_central_rule_keeps_few_points() -> None:
    (kata,) = course().choose(["adagrad"])
    tests: dict[Level, tuple[str, ...]] = {"central": ("a", "b"), "essential": ("c",), "conventions": ()}
    kata = replace(kata, tests=tests, points={"a": 3, "b": 3, "c": 4})
    entry = replace(make_entry(), kata="adagrad", level="central")
    (line,) = find_unfair(kata, {"a": {"b"}}, [entry])
    assert (
        line == "points: wrong adagrad a breaks a central rule and keeps 70% of the points; at most 60% would be fair"
    )
    assert [*find_unfair(kata, {"a": {"a", "b"}}, [entry])] == []


def test_kata_may_have_one_exception_with_a_reason() -> None:
    (kata,) = course().choose(["linear"])
    assert judge("conventions", *kata.points, exception="it shows in every test") == []
    (line,) = judge("conventions", *kata.tests["conventions"], exception="it shows in every test")
    assert line == "points: linear/wrong.toml: a needs no exception: delete it"
    entries = [replace(make_entry(), name=name, exception="a reason") for name in "ab"]
    assert [*find_unfair(kata, {}, entries)] == [
        "points: linear/wrong.toml has the exceptions a, b; a kata may have only one"
    ]
