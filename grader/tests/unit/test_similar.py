"""Tests of `grader similar`, which writes folders for plagiarism detectors."""

import shlex
from pathlib import Path

import pytest

from grader.tests.conftest import Run, call_grader
from torchkata.course import course

SOURCE = "def step(self):\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the submissions of two students, one of whom submitted an unchanged stub."""
    for name in ("ada", "ben"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "sgd.py").write_text(f"# {name}\n{SOURCE}")
    (tmp_path / "class/ben/linear.py").write_bytes(course().stub("linear").read_bytes())
    return tmp_path


def lay_out(folder: Path, *options: object) -> Run:
    katas = ("--kata", "sgd", "--kata", "linear")
    return call_grader("similar", folder / "class", "--folders", folder / "a place", *katas, *options)


def test_similarity_folders_contain_changed_files_and_stubs(folder: Path) -> None:
    (folder / "class/cleo").mkdir()
    done, out = lay_out(folder), folder / "a place"
    assert (done.code, "contains no kata" in done.err) == (2, True), "an unreadable submission must be reported"
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) == [
        *("stubs/linear.py", "stubs/sgd.py", "submissions/ada/sgd.py", "submissions/ben/sgd.py")
    ]
    assert (out / "submissions/ada/sgd.py").read_text() == f"# ada\n{SOURCE}"
    assert (out / "stubs/sgd.py").read_bytes() == course().stub("sgd").read_bytes()


def test_similarity_commands_contain_the_folders(folder: Path) -> None:
    done = lay_out(folder)
    assert (done.code, done.err) == (0, "")
    compare50, jplag, moss = (shlex.split(line) for line in done.out.splitlines())
    code, stubs = f"{folder}/a place/submissions", f"{folder}/a place/stubs"
    assert compare50[:4] == ["compare50", f"{code}/*", "-d", f"{stubs}/*"]
    assert jplag[-3:] == ["-bc", stubs, code]
    assert moss[3:] == ["-d", "-b", f"{stubs}/linear.py", "-b", f"{stubs}/sgd.py", f"{code}/*/*.py"]


def test_similarity_folders_use_pseudonyms(folder: Path) -> None:
    done = lay_out(folder, "--pseudonyms", folder / "key.json")
    assert (done.code, done.err) == (0, "")
    names = [path.name for path in (folder / "a place/submissions").iterdir()]
    assert [name.startswith("student-") for name in names] == [True, True]


def test_class_without_submissions_is_rejected(folder: Path) -> None:
    for path in (folder / "class").glob("*/*"):
        path.unlink()
    done = lay_out(folder)
    assert (done.code, done.err.splitlines()[-1]) == (2, "grader: no readable submission to compare")
