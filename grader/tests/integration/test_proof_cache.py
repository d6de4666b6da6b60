"""What `grader certify` proved is not proven again while all that it depends on stays as it is, and only then."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grader.base.imports import find_imports, follow_imports
from grader.pipeline.job import Job
from grader.pipeline.submission import Submission
from grader.proof import cache
from grader.proof.cache import ProofCache
from grader.proof.claims import Claim, make_claims
from grader.results import dependencies
from grader.results.result import KataResult
from grader.tests import ROOT
from grader.tests.conftest import python
from torchkata.course import course
from torchkata.result import TestResult

WARNINGS: list[str] = []


@pytest.fixture(scope="module")
def solution() -> Claim:
    """That the solution of `strides` is done."""
    return next(claim for claim in make_claims([course().katas["strides"]], seeds=1) if claim.group == "solution")


def done(claim: Claim) -> list[KataResult]:
    """What proves it."""
    tests = [TestResult(name, "passed", 1.0, 1.0, message="long") for name in claim.job.katas[0].points]
    return [KataResult(claim.kata, "done", 1.0, 1.0, tuple(tests))]


def record(folder: Path, *, examples: int = 10, isolation: str = "bwrap") -> ProofCache:
    """The record as a new run finds it."""
    WARNINGS.clear()
    return ProofCache(folder, examples, isolation, WARNINGS.append)


def digest_of(job: Job) -> str:
    """Return the digest of what a proof of this job depends on."""
    return ProofCache(Path(), 10, "bwrap", WARNINGS.append).digest_job(job)


def changed(claim: Claim, **changes: object) -> Claim:
    """The claim with another job."""
    return replace(claim, job=replace(claim.job, **changes))  # type: ignore[arg-type]


def test_a_proven_claim_is_found_by_the_next_run_without_its_texts(tmp_path: Path, solution: Claim) -> None:
    run = record(tmp_path / "proven")
    assert run.find(solution) is None
    run.keep(solution, done(solution))
    run.store()
    found = record(tmp_path / "proven").find(solution)
    assert found is not None
    assert [test.name for test in found[0].tests] == [*course().katas["strides"].points]
    assert {test.message for test in found[0].tests} == {""}
    assert solution.refute(found) is None


def test_of_all_texts_the_note_that_names_a_mistake_is_known(tmp_path: Path) -> None:
    made = make_claims([course().katas["strides"]], seeds=1)
    wrong = next(claim for claim in made if claim.entry and not claim.entry.looks_like)
    assert wrong.entry is not None
    noted = replace(wrong, entry=replace(wrong.entry, note="the last stride is 1"))
    test = TestResult(wrong.entry.caught_by, "failed", 0.0, 1.0, message="long, and the last stride is 1, and longer")
    run = record(tmp_path)
    run.keep(wrong, [KataResult("strides", "wrong", 0.0, 1.0, (test,))])
    assert run.find(noted) is None, "its texts are not known"
    run.keep(noted, [KataResult("strides", "wrong", 0.0, 1.0, (test,))])
    run.store()
    found = record(tmp_path).find(noted)
    assert found is not None
    assert [test.message for test in found[0].tests] == ["the last stride is 1"]


def test_a_claim_of_other_content_seed_or_options_is_not_proven(tmp_path: Path, solution: Claim) -> None:
    run = record(tmp_path)
    run.keep(solution, done(solution))
    run.store()
    files = solution.job.submission.files
    other = Submission("other", {**files, "strides.py": files["strides.py"] + b"\n"})
    kata = course().katas["strides"]
    less = replace(kata, points=dict([*kata.points.items()][1:]))
    again = record(tmp_path)
    assert again.find(solution) is not None
    assert again.find(changed(solution, submission=Submission("named otherwise", files))) is not None
    for job in ({"submission": other}, {"seed": 1}, {"katas": (less,)}):
        assert again.find(changed(solution, **job)) is None, job
    assert record(tmp_path, examples=11).find(solution) is None
    assert record(tmp_path, isolation="none").find(solution) is None


def test_a_proof_depends_on_the_katas_that_its_kata_builds_on_and_on_no_others(solution: Claim) -> None:
    files = solution.job.submission.files
    everything = frozenset(course().katas)

    def of(kata: str, changed_file: str = "") -> str:
        submission = Submission("a", {**files, **({changed_file: b"pass"} if changed_file else {})})
        return digest_of(Job(submission, (course().katas[kata],), 0, everything))

    assert of("cruncher", "linear.py") != of("cruncher")
    assert of("cruncher", "sgd.py") == of("cruncher")


def test_other_versions_of_the_libraries_need_a_new_proof(solution: Claim, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest_of(solution.job)
    assert {"python", "torch", "numpy", "hypothesis"} <= dependencies.environment().keys()
    monkeypatch.setattr(dependencies, "environment", lambda: {"torch": "0.1"})
    assert digest_of(solution.job) != before


LOADED = """
import json, sys
from pathlib import Path
from grader.pipeline.collect import collect_tests
from torchkata.course import course
from torchkata.diagnosis.mistakes import load_mistakes
ROOT = course().root
collect_tests(lambda tests: load_mistakes("adamw"), 1, "prove", [course().katas["adamw"]])
files = [Path(module.__file__) for module in [*sys.modules.values()] if getattr(module, "__file__", None)]
ours = [file.relative_to(ROOT) for file in files if file.is_relative_to(ROOT)]
print(json.dumps([file.as_posix() for file in ours if file.parts[0] != ".venv"]))
"""


def test_every_project_file_that_grading_loads_is_among_the_dependencies_of_a_proof() -> None:
    ran = python("-c", LOADED)
    assert ran.code == 0, ran.err
    loaded = set(json.loads(ran.out.splitlines()[-1]))
    assert {"tests/test_adamw.py", "reference/adamw/mistakes.py", "torchkata/pytest_plugin/search.py"} <= loaded
    patterns = [*dependencies.GRADING_FILES, *(pattern.format(kata="adamw") for pattern in dependencies.KATA_FILES)]
    seen = follow_imports(path for pattern in patterns for path in ROOT.glob(pattern))
    assert loaded - {path.relative_to(ROOT).as_posix() for path in seen} == set()


def test_dependencies_include_relative_imports_and_imports_within_functions() -> None:
    assert ROOT / "torchkata/pytest_plugin/search.py" in find_imports(ROOT / "torchkata/pytest_plugin/report.py"), (
        "relative"
    )
    assert ROOT / "grader/commands/grade.py" in find_imports(ROOT / "grader/cli/grading.py"), "in a function"
    assert ROOT / "grader/pipeline/rubric.py" in find_imports(ROOT / "grader/pipeline/session.py"), (
        "from grader.pipeline import rubric"
    )


@pytest.mark.parametrize("damage", [b"", b"\xc1", b"\x81\xa7results\x01"])
def test_a_damaged_record_of_proofs_counts_as_empty(tmp_path: Path, solution: Claim, damage: bytes) -> None:
    (tmp_path / "strides.msgpack").write_bytes(damage)
    run = record(tmp_path)
    assert run.find(solution) is None
    run.keep(solution, done(solution))
    run.store()
    assert record(tmp_path).find(solution) is not None
    assert [path.name for path in tmp_path.iterdir()] == ["strides.msgpack"], "and nothing half written beside it"


def test_two_simultaneous_runs_keep_the_proofs_of_both(tmp_path: Path, solution: Claim) -> None:
    one, two = record(tmp_path), record(tmp_path)
    later = changed(solution, seed=1)
    assert one.find(solution) is two.find(later) is None
    one.keep(solution, done(solution))
    two.keep(later, done(later))
    one.store()
    two.store()
    third = record(tmp_path)
    assert third.find(solution) is not None
    assert third.find(later) is not None


def test_a_record_of_proofs_forgets_the_oldest_unused_ones(
    tmp_path: Path, solution: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MAX_RESULTS", 2)
    seeds = [changed(solution, seed=seed) for seed in range(3)]
    first = record(tmp_path)
    for claim in seeds[:2]:
        first.keep(claim, done(claim))
    first.store()
    second = record(tmp_path)
    assert second.find(seeds[0]) is not None
    second.keep(seeds[2], done(seeds[2]))
    second.store()
    assert [record(tmp_path).find(claim) is not None for claim in seeds] == [True, False, True]


def test_a_proof_goes_on_where_its_record_cannot_be_written(tmp_path: Path, solution: Claim) -> None:
    (tmp_path / "proven").write_text("a file")
    run = record(tmp_path / "proven")
    assert run.find(solution) is None
    run.keep(solution, done(solution))
    run.store()
    assert len(WARNINGS) == 1
    assert WARNINGS[0].startswith("cannot store the proven results: ")
