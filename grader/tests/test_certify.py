"""`grader certify` refutes what is not so: an implementation that no test catches, a right one that is rejected."""

from pathlib import Path

from grader import result as results
from grader.certify.claims import all_are, claims, is_caught
from grader.certify.prove import Findings, kata_table, markdown
from grader.result import KataResult
from kata.catalog import catalog
from kata.explain import Outcome, Status


def result(kata: str, status: Status, **tests: Outcome) -> KataResult:
    """A kata's result with these tests."""
    ended = [results.TestResult(name, outcome, float(outcome == "passed"), 1.0) for name, outcome in tests.items()]
    return KataResult(kata, status, 0.0, 1.0, ended)


def test_a_wrong_one_that_is_done_is_refuted() -> None:
    assert is_caught([result("linear", "done", test_a="passed")]) == "no test catches it"
    assert is_caught([result("linear", "wrong", test_a="failed")]) is None
    assert is_caught([result("linear", "crashed", test_a="crashed")]) is None
    assert is_caught([result("linear", "not_started", test_a="not_started")]) == "linear is not_started"
    assert "inconclusive" in str(is_caught([result("linear", "inconclusive", test_a="inconclusive")]))


def test_a_right_one_that_is_rejected_is_refuted_by_name() -> None:
    done, wrong = (
        result("linear", "done", test_a="passed"),
        result("cruncher", "wrong", test_a="passed", test_b="failed"),
    )
    assert all_are("done")([done]) is None
    assert all_are("done")([done, wrong]) == "cruncher is wrong (test_b)"


def test_every_kata_has_every_kind_of_claim() -> None:
    katas = list(catalog().katas.values())
    made = list(claims(katas, seeds=2))
    assert [claim.name for claim in made if claim.group == "solution"] == ["solution, seed 0", "solution, seed 1"]
    for kata in katas:
        groups = {claim.group for claim in made if claim.kata == kata.name}
        assert groups == {"right", "wrong"} | ({"stand-in"} if catalog().dependents(kata.name) else set())


def test_findings_count_what_held(tmp_path: Path) -> None:
    katas = catalog().choose(["linear"])
    findings = Findings()
    first, second, *_ = [claim for claim in claims(katas, seeds=1) if claim.group == "wrong"]
    name = next(iter(katas[0].points))
    failed: dict[str, Outcome] = {name: "failed"}
    passed: dict[str, Outcome] = {name: "passed"}
    findings.add(first, [result("linear", "wrong", **failed)])
    findings.add(second, [result("linear", "done", **passed)])
    assert findings.held("wrong", "linear") == (1, 2)
    assert findings.catches(katas[0])[name] == (1, 1)
    assert [claim for claim, _ in findings.refuted] == [second]
    (tmp_path / "table.md").write_text(markdown([kata_table(findings, katas)]))
    assert "| linear | 0/0 | 0/0 | 0/0 | 1/2 | 0/0 | 0 of 0 |" in (tmp_path / "table.md").read_text()
