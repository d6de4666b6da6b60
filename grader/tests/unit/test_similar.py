"""`grader similar`: the folders that detectors of similar submissions take."""

import shlex
from pathlib import Path

import pytest

from grader.tests.conftest import ask
from torchkata.course import course

SOURCE = "def step(self):\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A class of two, of whom one has handed in a stub unchanged."""
    for name in ("ada", "ben"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "sgd.py").write_text(f"# {name}\n{SOURCE}")
    (tmp_path / "class/ben/linear.py").write_bytes(course().stub("linear").read_bytes())
    return tmp_path


def lay_out(folder: Path, *options: object) -> tuple[int, str, str]:
    """Run the command for the class."""
    done = ask(
        "similar", folder / "class", "--folders", folder / "a place", "--kata", "sgd", "--kata", "linear", *options
    )
    return done.code, done.out, done.err


def list_files(folder: Path) -> list[str]:
    """List the files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_folders_contain_changed_files_and_stubs(folder: Path) -> None:
    assert lay_out(folder)[::2] == (0, "")
    assert list_files(folder / "a place") == [
        *("stubs/linear.py", "stubs/sgd.py", "submissions/ada/sgd.py", "submissions/ben/sgd.py")
    ]
    assert (folder / "a place/submissions/ada/sgd.py").read_text() == f"# ada\n{SOURCE}"
    assert (folder / "a place/stubs/sgd.py").read_bytes() == course().stub("sgd").read_bytes()


def test_commands_name_the_folders(folder: Path) -> None:
    compare50, jplag, moss = (shlex.split(line) for line in lay_out(folder)[1].splitlines())
    code, stubs = f"{folder}/a place/submissions", f"{folder}/a place/stubs"
    assert compare50[:4] == ["compare50", f"{code}/*", "-d", f"{stubs}/*"]
    assert jplag[-3:] == ["-bc", stubs, code]
    assert moss[3:] == ["-d", "-b", f"{stubs}/linear.py", "-b", f"{stubs}/sgd.py", f"{code}/*/*.py"]


def test_pseudonyms_replace_names(folder: Path) -> None:
    code, _, err = lay_out(folder, "--pseudonyms", folder / "key.json")
    names = [path.name for path in (folder / "a place/submissions").iterdir()]
    assert (code, err) == (0, "")
    assert len(names) == 2
    assert all(name.startswith("student-") for name in names)


def test_unreadable_submission_is_named(folder: Path) -> None:
    (folder / "class/cleo").mkdir()
    code, _, err = lay_out(folder)
    assert code == 2
    assert "contains no kata" in err
    assert (folder / "a place/submissions/ada/sgd.py").exists()


def test_class_without_submissions_is_refused(folder: Path) -> None:
    for path in (folder / "class").glob("*/*"):
        path.unlink()
    code, _, err = lay_out(folder)
    assert code == 2
    assert err.splitlines()[-1] == "grader: no readable submission to compare"
