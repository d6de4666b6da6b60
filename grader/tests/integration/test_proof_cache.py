"""A claim in the proof record is proven again only if one of its dependencies has changed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grader.pipeline.job import Job
from grader.pipeline.submission import Submission
from grader.proof.cache import ProofCache
from grader.proof.claims import Claim, make_claims
from grader.results.dependencies import find_engine_files, find_kata_files
from grader.results.result import KataResult
from grader.tests import ROOT
from grader.tests.conftest import run_python
from torchkata.course import course
from torchkata.result import TestResult

WARNINGS: list[str] = []


@pytest.fixture(scope="module")
def solution() -> Claim:
    return next(claim for claim in make_claims([course().katas["strides"]], seeds=1) if claim.group == "solution")


def make_proof(claim: Claim) -> list[KataResult]:
    """Return results that prove a claim."""
    tests = [TestResult(name, "passed", 1.0, 1.0, message="long") for name in claim.job.katas[0].points]
    return [KataResult(claim.kata, "done", 1.0, 1.0, tuple(tests))]


def open_record(folder: Path, *, examples: int = 10, isolation: str = "bwrap") -> ProofCache:
    """Open the record as a new run would."""
    WARNINGS.clear()
    return ProofCache(folder, examples, isolation, WARNINGS.append)


def store_proofs(folder: Path, *proven: Claim) -> None:
    """Store proofs of the given claims, as a run would."""
    run = open_record(folder)
    for claim in proven:
        run.keep(claim, make_proof(claim))
    run.store()


def change_job(claim: Claim, **changes: object) -> Claim:
    return replace(claim, job=replace(claim.job, **changes))  # type: ignore[arg-type]


def test_proof_record_stores_no_messages(tmp_path: Path, solution: Claim) -> None:
    assert open_record(tmp_path / "proven").find(solution) is None
    store_proofs(tmp_path / "proven", solution)
    found = open_record(tmp_path / "proven").find(solution)
    assert found is not None
    assert [test.name for test in found[0].tests] == [*course().katas["strides"].points]
    assert {test.message for test in found[0].tests} == {""}
    assert solution.refute(found) is None


def test_proof_record_stores_note_identifying_mistake(tmp_path: Path) -> None:
    made = make_claims([course().katas["strides"]], seeds=1)
    wrong = next(claim for claim in made if claim.entry and not claim.entry.looks_like)
    assert wrong.entry is not None
    noted = replace(wrong, entry=replace(wrong.entry, note="the last stride is 1"))
    test = TestResult(wrong.entry.caught_by, "failed", 0.0, 1.0, message="long, and the last stride is 1, and longer")
    run = open_record(tmp_path)
    run.keep(wrong, [KataResult("strides", "wrong", 0.0, 1.0, (test,))])
    assert run.find(noted) is None, "the texts of this proof are not stored"
    run.keep(noted, [KataResult("strides", "wrong", 0.0, 1.0, (test,))])
    run.store()
    found = open_record(tmp_path).find(noted)
    assert found is not None
    assert [test.message for test in found[0].tests] == ["the last stride is 1"]


def test_proof_is_invalid_for_different_content_or_options(tmp_path: Path, solution: Claim) -> None:
    store_proofs(tmp_path, solution)
    files = solution.job.submission.files
    other = Submission("other", {**files, "strides.py": files["strides.py"] + b"\n"})
    kata = course().katas["strides"]
    less = replace(kata, points=dict([*kata.points.items()][1:]))
    again = open_record(tmp_path)
    assert again.find(solution) is not None
    assert again.find(change_job(solution, submission=Submission("named otherwise", files))) is not None
    for job in ({"submission": other}, {"seed": 1}, {"katas": (less,)}):
        assert again.find(change_job(solution, **job)) is None, job
    assert open_record(tmp_path, examples=11).find(solution) is None
    assert open_record(tmp_path, isolation="none").find(solution) is None


def test_proof_depends_only_on_prerequisites_of_kata(tmp_path: Path) -> None:
    def digest(changed_file: str) -> str:
        files = course().solutions() | {changed_file: b"pass"}
        return open_record(tmp_path).digest_job(Job(Submission("", files), (course().katas["cruncher"],), seed=0))

    assert digest("linear.py") != digest("sgd.py") == digest("other.py")


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


def test_loaded_files_are_dependencies_of_a_proof() -> None:
    ran = run_python("-c", LOADED)
    assert ran.code == 0, ran.err
    loaded = set(json.loads(ran.out.splitlines()[-1]))
    assert {"tests/test_adamw.py", "reference/adamw/mistakes.py", "torchkata/pytest_plugin/search.py"} <= loaded
    seen = {path.relative_to(ROOT).as_posix() for path in (*find_kata_files("adamw"), *find_engine_files())}
    assert loaded - seen == set()


@pytest.mark.parametrize("damage", [b"", b"\xc1", b"\x81\xa7results\x01"])
def test_corrupted_proof_record_is_treated_as_empty(tmp_path: Path, solution: Claim, damage: bytes) -> None:
    (tmp_path / "strides.msgpack").write_bytes(damage)
    assert open_record(tmp_path).find(solution) is None
    store_proofs(tmp_path, solution)
    assert open_record(tmp_path).find(solution) is not None
    assert [path.name for path in tmp_path.iterdir()] == ["strides.msgpack"], "an incomplete file was left"


def test_concurrent_runs_store_both_proofs(tmp_path: Path, solution: Claim) -> None:
    runs = [(open_record(tmp_path), change_job(solution, seed=seed)) for seed in range(2)]
    assert [run.find(claim) for run, claim in runs] == [None, None]
    for run, claim in runs:
        run.keep(claim, make_proof(claim))
    for run, _ in runs:
        run.store()
    assert None not in [open_record(tmp_path).find(claim) for _, claim in runs]


def test_proof_succeeds_if_record_is_unwritable(tmp_path: Path, solution: Claim) -> None:
    (tmp_path / "proven").write_text("a file")
    store_proofs(tmp_path / "proven", solution)
    assert len(WARNINGS) == 1
    assert WARNINGS[0].startswith("cannot store the results of the proofs: ")
