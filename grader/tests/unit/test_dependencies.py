"""Tests of the digests in `grader/results/dependencies.py`: each one must change if one of its dependencies changes."""

import inspect
from pathlib import Path

import pytest

from grader.results import dependencies
from grader.tests import ROOT
from torchkata.course import course

ANY_FILE = {"course", "result", "call"}  # digests that cover every file of the course and of the engine
ENGINE_FILE = {*ANY_FILE, "engine", "basis"}
KATA_FILE = {*ANY_FILE, "kata", "proof"}
SUBMISSION = {"linear.py": b"", "adamw.py": b"pass"}


def make_digests(
    files: dict[str, bytes] = SUBMISSION, options: dict[str, object] | None = None, seed: int = 0
) -> dict[str, str]:
    """Return all digests, most of them for the kata `adamw`."""
    chosen = {"seed": seed, **(options or {})}
    katas = (course().katas["adamw"],)
    return {
        "engine": dependencies.digest_engine(),
        "course": dependencies.digest_course(),
        "kata": dependencies.digest_kata("adamw"),
        "result": dependencies.digest_result(files, chosen),
        "basis": dependencies.digest_basis(files, chosen),
        "proof": dependencies.digest_proof(katas, files, (), (seed,)),
        "call": dependencies.digest_call(chosen, [("ada", Path("ada"))]),
    }


@pytest.fixture(scope="module")
def before() -> dict[str, str]:
    """Return all digests before any file or version is changed."""
    return make_digests()


@pytest.fixture
def fresh_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute every digest anew instead of caching it, except those of single files."""
    for name, function in vars(dependencies).copy().items():
        if hasattr(function, "__wrapped__") and function is not dependencies.digest_file:
            monkeypatch.setattr(dependencies, name, inspect.unwrap(function))


def find_changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """Return the names of the digests that have changed."""
    return {name for name in before if before[name] != after[name]}


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("tests/test_adamw.py", KATA_FILE),
        ("tests/contracts/state.py", KATA_FILE),
        ("tests/probes/optimizers.py", KATA_FILE),
        ("reference/adam/oracle.py", KATA_FILE),
        ("reference/adamw/kata.toml", {*ANY_FILE, "kata"}),
        ("reference/zh.po", {*ANY_FILE, "kata"}),
        ("reference/adamw/zh.po", {*ANY_FILE, "kata"}),
        ("torchkata/i18n/zh.po", ENGINE_FILE),
        ("reference/lint.toml", {*ANY_FILE, "basis"}),
        ("tests/test_linear.py", ANY_FILE),
        ("reference/train/oracle.py", ANY_FILE),
        ("pyproject.toml", ANY_FILE),
        ("torchkata/compare/assertions.py", {*ENGINE_FILE, "proof"}),
        ("grader/pipeline/inputs.py", {*ENGINE_FILE, "proof"}),
        ("grader/sandbox/inside/zygote.py", {*ENGINE_FILE, "proof"}),
        ("grader/output/page/html.py", ENGINE_FILE),
        ("grader/tests/support/sample_results.py", set()),
        ("reference/adamw/wrong.toml", set()),
        ("reference/adamw/solution.py", set()),
    ],
)
@pytest.mark.usefixtures("fresh_digests")
def test_changed_file_changes_its_digests(
    file: str, changed: set[str], before: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (ROOT / file).is_file()
    read = dependencies.digest_file
    monkeypatch.setattr(dependencies, "digest_file", lambda path: "changed" if path == ROOT / file else read(path))
    assert find_changed(before, make_digests()) == changed


@pytest.mark.parametrize("name", ["python", "torch", "platform"])
@pytest.mark.usefixtures("fresh_digests")
def test_changed_version_changes_all_digests_except_kata_digest(
    name: str, before: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = dependencies.environment()
    monkeypatch.setattr(dependencies, "environment", lambda: {**here, name: "0.1"})
    changed = {"proof"} if name == "platform" else before.keys() - {"kata"}
    assert find_changed(before, make_digests()) == changed, "the nodes of a cluster may have different platforms"


def test_submission_options_and_seed_change_their_digests(before: dict[str, str]) -> None:
    assert find_changed(before, make_digests({**SUBMISSION, "adamw.py": b""})) == {"result", "basis", "proof"}
    assert find_changed(before, make_digests({**SUBMISSION, "linear.py": b"pass"})) == {"result", "basis"}
    assert find_changed(before, make_digests(options={"examples": 5})) == {"result", "basis", "call"}
    assert find_changed(before, make_digests(seed=1)) == {"result", "basis", "proof", "call"}
