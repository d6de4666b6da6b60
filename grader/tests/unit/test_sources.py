"""Tests of `grader export --format sources`, which writes folders for plagiarism detectors."""

import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace

from grader.results import result, source
from grader.tests.conftest import Run, call_grader
from grader.tests.support.sample_results import make_result
from torchkata.course import course

SOURCE = "def step(self):\r\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the results of two students, one of whom submitted an unchanged stub."""
    linear = course().stub("linear").read_bytes()
    for name, files in (("ada", {}), ("ben", {"linear.py": linear})):
        store(tmp_path, name, {"sgd.py": f"# {name}\n{SOURCE}".encode(), **files})
    return tmp_path


def store(folder: Path, name: str, files: dict[str, bytes]) -> None:
    result.write(replace(make_result("why", submission=name), hand_in=name), folder / "results")
    source.store(folder / "results", name, name, files)


def export(folder: Path) -> Run:
    return call_grader("export", folder / "results", "--format", "sources", "--out", folder / "a place")


def test_folders_contain_changed_files_and_stubs(folder: Path) -> None:
    done, out = export(folder), folder / "a place"
    assert (done.code, done.err) == (0, "")
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert files == {
        "submissions/ada/sgd.py",
        "submissions/ben/sgd.py",
        *(f"stubs/{kata}.py" for kata in course().katas),
    }
    assert (out / "submissions/ada/sgd.py").read_bytes() == f"# ada\n{SOURCE}".encode()
    assert (out / "stubs/sgd.py").read_bytes() == course().stub("sgd").read_bytes()


def test_commands_contain_the_folders(folder: Path) -> None:
    remark, *lines = export(folder).out.splitlines()
    assert "first activate the environment in which it is installed" in remark
    compare50, jplag, moss = map(shlex.split, lines)
    code, stubs = f"{folder}/a place/submissions", f"{folder}/a place/stubs"
    assert compare50[:4] == ["compare50", f"{code}/*", "-d", f"{stubs}/*"]
    assert jplag[-3:] == ["-bc", stubs, code]
    assert (moss[3:6], moss[-1]) == (["-d", "-b", f"{stubs}/{next(iter(course().katas))}.py"], f"{code}/*/*.py")


def test_missing_and_truncated_code_is_reported(folder: Path) -> None:
    store(folder, "cleo", {"sgd.py": b"# " + b"x" * source.MAX_FILE})
    result.write(replace(make_result("why", submission="dan"), unreadable="is a symbolic link"), folder / "results")
    result.write(make_result("why", submission="eve"), folder / "results")
    done = export(folder)
    assert (done.code, done.err.splitlines()) == (
        2,
        [
            "grader: cleo: sgd.py is so long that only its beginning is stored and compared",
            f"grader: {folder}/results/dan/result.json: is a symbolic link",
            f"grader: {folder}/results/eve/result.json: the code is not stored; run `grader grade --again` again",
        ],
    )
    assert {path.name for path in (folder / "a place/submissions").iterdir()} == {"ada", "ben", "cleo"}
