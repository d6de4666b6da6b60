"""Tests of the digests in `grader/results/dependencies.py`: each one must change if one of its dependencies changes."""

import inspect
import shutil
import tomllib
from pathlib import Path

import pytest

from grader.base import imports
from grader.results import dependencies
from grader.results.dependencies import digest_kata, digest_submission
from grader.tests import ROOT

ALL, NONE = {"linear", "adamw"}, set[str]()


def digest_katas() -> dict[str, str]:
    """Return the digests of a kata with a workload and of one that builds on another."""
    return {kata: dependencies.digest_kata(kata) for kata in ALL}


@pytest.fixture(scope="module")
def before() -> dict[str, str]:
    """Return the digests before any file or version is changed."""
    return digest_katas()


@pytest.fixture
def fresh_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute every digest anew instead of caching it, except those of single files."""
    for name, function in vars(dependencies).copy().items():
        if hasattr(function, "__wrapped__") and function is not dependencies.digest_file:
            monkeypatch.setattr(dependencies, name, inspect.unwrap(function))


def find_changed(before: dict[str, str]) -> set[str]:
    """Return the names of the katas whose digests have changed."""
    return {name for name, digest in digest_katas().items() if before[name] != digest}


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        *((f"tests/{name}.py", {"adamw"}) for name in ("test_adamw", "contracts/state", "probes/optimizers")),
        *((f"reference/{name}", {"adamw"}) for name in ("adam/oracle.py", "adamw/kata.toml", "adamw/zh.po")),
        *((name, {"linear"}) for name in ("tests/test_linear.py", "reference/workloads/linear_forward.py")),
        *((f"reference/{name}", ALL) for name in ("zh.po", "lint.toml")),
        *((f"torchkata/{name}", ALL) for name in ("i18n/zh.po", "compare/assertions.py", "inside/speed/layout.py")),
        *((f"grader/{name}.py", ALL) for name in ("pipeline/inputs", "sandbox/inside/zygote")),
        *((f"grader/{name}.py", NONE) for name in ("output/page/html", "tests/support/sample_results")),
        *((f"reference/adamw/{name}", NONE) for name in ("wrong.toml", "solution.py")),
        *((f"reference/{name}.py", NONE) for name in ("train/oracle", "workloads/cheats/clocks/stops_every_clock")),
    ],
)
@pytest.mark.usefixtures("fresh_digests")
def test_changed_file_changes_digests_of_its_katas(
    file: str, changed: set[str], before: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (ROOT / file).is_file()
    read = dependencies.digest_file
    monkeypatch.setattr(dependencies, "digest_file", lambda path: "changed" if path == ROOT / file else read(path))
    assert find_changed(before) == changed


@pytest.mark.usefixtures("fresh_digests")
def test_new_module_of_any_package_changes_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torchkata", "grader"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(dependencies, "ENGINE", tmp_path)
    engine = dependencies.digest_engine()
    for package in {path.parent for path in tmp_path.rglob("*.py")}:
        new = package / "new_module.py"
        new.touch()
        is_above = any(package.is_relative_to(tmp_path / room) for room in dependencies.ABOVE)
        assert (dependencies.digest_engine() == engine) == is_above, package
        new.unlink()


def test_only_engine_and_course_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in imports.PACKAGES:
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("numpy", "torch", "hypothesis", "msgspec"):  # an installed engine is next to them
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("is not to be read")
    monkeypatch.setattr(imports, "ENGINE", tmp_path)
    monkeypatch.setattr(imports, "find_imports", imports.find_imports.__wrapped__)
    found = imports.follow_imports([ROOT / "tests/test_sgd.py", ROOT / "reference/sgd/solution.py"])
    folders = {path.relative_to(max(tmp_path, ROOT, key=path.is_relative_to)).parts[0] for path in found}
    assert folders == {"tests", "reference", "torchkata"}


def test_rooms_left_out_are_above_what_judges() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    rooms = {"grader/tests"}
    for contract, lowest in zip(contracts, ("pipeline", "pytest_plugin"), strict=False):
        (package,) = contract["containers"]
        layers = contract["layers"]
        rooms |= {f"{package}/{room}" for room in layers[: layers.index(lowest)]}
    assert rooms == {*dependencies.ABOVE}


@pytest.mark.parametrize(("name", "changed"), [("python", ALL), ("torch", ALL), ("platform", NONE)])
@pytest.mark.usefixtures("fresh_digests")
def test_changed_version_changes_all_digests(
    name: str, changed: set[str], before: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = dependencies.environment()
    monkeypatch.setattr(dependencies, "environment", lambda: {**here, name: "0.1"})
    assert find_changed(before) == changed, "the nodes of a cluster may have different platforms"


def test_options_and_submitted_files_change_their_digest() -> None:
    assert len({digest_kata("linear", *options) for options in ((), (0, 5), (1, 5), (0, 6))}) == 4
    given: list[dict[str, bytes]] = [{}, {"linear.py": b""}, {"linear.py": b"pass"}, {"adamw.py": b""}]
    assert len({*map(digest_submission, given)}) == 4
