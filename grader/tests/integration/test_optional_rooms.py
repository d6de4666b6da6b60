"""The core works without the folders that `docs/architecture.md` lists as optional."""

import re
import shutil
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import run_python

PAGE = (ROOT / "docs/architecture.md").read_text("utf-8")
SECTION = PAGE.partition("## Folders that can be deleted\n")[2].partition("\n## ")[0]
OPTIONAL = re.findall(r"^\| `((?:grader|torchkata)/[\w/]+)/` \|", SECTION, re.M)
COURSE = ROOT / "examples/courses/primes"
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); "


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("core")
    for name in ("torchkata", "grader"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "tests"))
    for room in OPTIONAL:
        shutil.rmtree(folder / room)
    return folder


def test_grading_works_without_optional_folders(core: Path, tmp_path: Path) -> None:
    assert len(OPTIONAL) >= 5
    command = (str(core), "--course", str(COURSE), "grade", str(COURSE / "submissions/complete"))
    options = ("--out", str(tmp_path / "results"), "--seed", "0", "--examples", "10")
    done = run_python("-P", "-c", f"{START}from grader.__main__ import main; main()", *command, *options)
    assert done.code == 0, done.err
    assert "100/100" in done.out


def test_pytest_works_without_optional_folders(core: Path) -> None:
    code = f"{START}import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    plugins = ("-p", "no:cacheprovider", "-p", "torchkata.pytest_plugin.plugin")
    done = run_python("-P", "-c", code, str(core), *plugins, "--impl", "solution", "--kata", "sieve", cwd=COURSE)
    assert done.code == 0, done.out
    assert re.search(r"sieve +done", done.out)


def test_engine_passes_its_tests_without_the_grader() -> None:
    forbid = ("-p", "grader.tests.support.without_grader", "-p", "no:cacheprovider", "-m", "not timing", "-rp")
    done = run_python("-m", "pytest", *forbid, "grader/tests/unit")
    assert done.code == 0, done.out
    assert "PASSED grader/tests/unit/test_compare.py::" in done.out


def test_core_has_at_most_ten_thousand_lines() -> None:
    rows = re.findall(r"^\| \d+ \| (.+?) \|", PAGE, re.M)
    core = find_files("\n".join(rows)) - find_files(PAGE.partition("later:\n")[2].partition("\nThen come")[0])
    assert len(rows) >= 10
    assert sum(len(file.read_text("utf-8").splitlines()) for file in core) <= 10_000


def test_page_names_each_step_of_the_pipeline() -> None:
    steps = {f"grader/pipeline/{path.name}" for path in ROOT.glob("grader/pipeline/*.py")}
    assert steps - {"grader/pipeline/__init__.py"} == {*re.findall(r"`(grader/pipeline/\w+\.py)`", PAGE)}


def find_files(text: str) -> set[Path]:
    """Return the Python files in the folders and files that the text mentions."""
    places = [ROOT / place for place in re.findall(r"`((?:torchkata|grader)/[\w/.]*)`", text)]
    return {file for place in places for file in (place.rglob("*.py") if place.is_dir() else [place])}
