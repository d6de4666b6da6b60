"""What each digest of `grader/results/dependencies.py` covers."""

import inspect
from pathlib import Path

import pytest

from grader.results import dependencies
from grader.tests import ROOT
from torchkata.course import course

OF_ALL = {"course", "result", "call"}  # digests that cover every file of the course and of the engine
OF_THE_ENGINE = {*OF_ALL, "engine", "basis"}
SUBMISSION = {"linear.py": b"", "adamw.py": b"pass"}


def make_digests(
    files: dict[str, bytes] = SUBMISSION, options: dict[str, object] | None = None, seed: int = 0
) -> dict[str, str]:
    """Return every digest, most of them of the kata adamw."""
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


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every digest be made again."""
    for name, function in vars(dependencies).copy().items():
        if hasattr(function, "__wrapped__"):
            monkeypatch.setattr(dependencies, name, inspect.unwrap(function))


def differing(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """Return the names of the digests that are others now."""
    return {name for name in before if before[name] != after[name]}


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("tests/test_adamw.py", {*OF_ALL, "kata", "proof"}),
        ("tests/contracts/state.py", {*OF_ALL, "kata", "proof"}),
        ("tests/strategies.py", {*OF_ALL, "kata", "proof"}),
        ("tests/probes/optimizers.py", {*OF_ALL, "kata", "proof"}),
        ("reference/adam/oracle.py", {*OF_ALL, "kata", "proof"}),
        ("reference/adam/moment_mistakes.py", {*OF_ALL, "kata", "proof"}),
        ("reference/adamw/kata.toml", {*OF_ALL, "kata"}),
        ("reference/zh.toml", {*OF_ALL, "kata"}),
        ("reference/lint.toml", {*OF_ALL, "basis"}),
        ("tests/test_linear.py", {*OF_ALL}),
        ("reference/train/oracle.py", {*OF_ALL}),
        ("pyproject.toml", {*OF_ALL}),
        ("torchkata/compare/assertions.py", {*OF_THE_ENGINE, "proof"}),
        ("torchkata/cli/check.py", {*OF_THE_ENGINE}),
        ("grader/pipeline/inputs.py", {*OF_THE_ENGINE, "proof"}),
        ("grader/pipeline/collect.py", {*OF_THE_ENGINE, "proof"}),
        ("grader/sandbox/zygote.py", {*OF_THE_ENGINE, "proof"}),
        ("grader/output/page/html.py", {*OF_THE_ENGINE}),
        ("grader/tests/support/made_results.py", set()),
        ("reference/adamw/wrong.toml", set()),
        ("reference/adamw/solution.py", set()),
    ],
)
@pytest.mark.usefixtures("uncached")
def test_changed_file_changes_digests_that_cover_it(
    file: str, changed: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (ROOT / file).is_file()
    before, read = make_digests(), dependencies.digest_file
    monkeypatch.setattr(dependencies, "digest_file", lambda path: "changed" if path == ROOT / file else read(path))
    assert differing(before, make_digests()) == changed


@pytest.mark.parametrize("name", ["python", "torch", "numpy", "hypothesis", "pytest", "platform"])
@pytest.mark.usefixtures("uncached")
def test_changed_version_changes_every_digest_but_the_katas(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, here = make_digests(), dependencies.environment()
    monkeypatch.setattr(dependencies, "environment", lambda: {**here, name: "0.1"})
    of_all = {"proof"} if name == "platform" else before.keys() - {"kata"}
    assert differing(before, make_digests()) == of_all, "the nodes of a cluster may differ in their platform"


def test_submission_options_and_seed_change_their_digests() -> None:
    before = make_digests()
    assert differing(before, make_digests({**SUBMISSION, "adamw.py": b""})) == {"result", "basis", "proof"}
    assert differing(before, make_digests({**SUBMISSION, "linear.py": b"pass"})) == {"result", "basis"}
    assert differing(before, make_digests(options={"examples": 5})) == {"result", "basis", "call"}
    assert differing(before, make_digests(seed=1)) == {"result", "basis", "proof", "call"}
