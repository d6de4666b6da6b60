"""Tests of updating a handout during the term, by the instructor and by a student, including interrupted updates."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from grader.commands.package.platform_package import spread
from grader.commands.release import wheel
from grader.commands.release.contents import build_handout
from grader.tests import ROOT
from grader.tests.conftest import call_grader, run_kata
from grader.tests.support.wheel import install_handout, make_student_environment, run_installed
from torchkata.course import course, handout

OLD, ASKED = "reference/linear/kata.toml", "reference/stubs/linear.py"


@pytest.fixture(scope="module")
def files() -> Mapping[str, bytes]:
    return build_handout(course().with_prerequisites(["linear"]))


@pytest.fixture
def student(files: Mapping[str, bytes], tmp_path: Path) -> Path:
    """Return a student's handout with changes inside and outside `assignment/`."""
    folder = tmp_path / "student"
    spread(files, folder)
    (folder / "assignment/linear.py").write_bytes(b"mine, to the last byte\r\n")
    (folder / "tests/test_mine.py").write_text("assert 1 + 1 == 2\n")
    (folder / "README.md").write_text("my notes\n")
    return folder


def make_newer(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a handout with a changed test, a changed stub, an added kata and a removed file."""
    changed = {
        "tests/test_linear.py": files["tests/test_linear.py"] + b"# mended\n",
        ASKED: files[ASKED] + b"# asked in another way\n",
        "reference/stubs/sgd.py": b"raise NotImplementedError\n",
    }
    made = {name: content for name, content in files.items() if name not in ("docs/katas.md", handout.LIST)} | changed
    return made | {handout.LIST: handout.listing(made)}


def read_assignment(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "assignment").iterdir()) if path.is_file()}


def test_update_leaves_the_assignment_unchanged(files: Mapping[str, bytes], student: Path, tmp_path: Path) -> None:
    before = read_assignment(student)
    spread(make_newer(files), tmp_path / "handout")
    done = run_kata(student, "update", str(tmp_path / "handout"))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "README.md: you had changed this file; your version is saved as README.md.bak",
        "assignment/sgd.py is missing: `kata reset sgd` restores its stub",
        "the task of linear has changed: compare your file with the new stub, reference/stubs/linear.py",
        "files updated: 5; assignment/ was not changed",
    ]
    assert read_assignment(student) == before
    assert (student / "README.md.bak").read_text() == "my notes\n"
    assert (student / "tests/test_mine.py").read_text() == "assert 1 + 1 == 2\n"
    assert (student / "tests/test_linear.py").read_bytes().endswith(b"# mended\n")
    assert not (student / "docs/katas.md").exists()
    assert not list(student.glob(".update-*"))
    again = run_kata(student, "update", str(tmp_path / "handout"))
    assert again.out.splitlines()[-1] == "already up to date"


def test_update_demands_the_new_engine(
    files: Mapping[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    student, programs = tmp_path / "student", make_student_environment(tmp_path / "venv")
    with monkeypatch.context() as patch:
        patch.setattr(wheel, "FORMAT", f"{wheel.FORMAT}Build: 1\n")  # the engine differs from that of `files`
        spread(build_handout(course().with_prerequisites(["linear"])), student)
    old, new = handout.find_engine(student), wheel.build_wheel()[0]
    install_handout(programs, student)
    assert run_installed(programs, student, "kata", "--version").out.startswith(f"torchkata {old}, ")
    spread(files, tmp_path / "handout")
    assert run_installed(programs, student, "kata", "update", str(tmp_path / "handout")).out.splitlines() == [
        "requirements.txt has changed: run `pip install -r requirements.txt` (or `uv sync`)",
        "files updated: 4; assignment/ was not changed",
    ]
    line = (
        f"this handout needs torchkata {new}, but {old} is running: run `pip install -r requirements.txt` (or "
        "`uv sync`) in the folder of the handout, and start again\n"
    )
    said = {"kata": f"kata: {line}", "pytest": f"ERROR: {line}\n"}
    for command in ("kata", "kata next", "kata check", "kata export", "kata watch", "pytest", "pytest -c /dev/null"):
        refused = run_installed(programs, student, *command.split())
        assert (refused.out, refused.err) == ("", said[command.split()[0]]), command
    assert not (student / ".kata").exists()
    install_handout(programs, student)
    assert "0 of 1 done" in run_installed(programs, student, "kata").out
    assert "not started" in run_installed(programs, student, "pytest").out


@pytest.mark.parametrize("ending", ["zip", "tar", "gztar"])
def test_update_accepts_archives(files: Mapping[str, bytes], student: Path, ending: str) -> None:
    from torchkata.cli.update import read_handout

    spread(make_newer(files), student.parent / "pack/handout-main")
    archive = shutil.make_archive(str(student.parent / "new"), ending, student.parent / "pack")
    assert read_handout(archive).keys() == {name for name in make_newer(files) if not handout.is_students(name)}
    assert "tests/test_linear.py" in handout.update(student, read_handout(archive)).new


def test_incomplete_handout_is_rejected(files: Mapping[str, bytes], student: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in student.rglob("*") if path.is_file()}
    spread({**make_newer(files), "tests/test_linear.py": b"cut"}, tmp_path / "cut")
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.zip").write_text("404 Not Found")
    for source, told in (
        ("cut", "not a complete handout (missing or corrupted: tests/test_linear.py)"),
        ("empty", "not a complete handout (missing or corrupted: reference/handout.sha256)"),
        ("text.zip", "not a complete handout (missing or corrupted: reference/handout.sha256)"),
        ("gone.zip", "can't be read (No such file or directory)"),
    ):
        refused = run_kata(student, "update", str(tmp_path / source))
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert f"{source}: {told}" in refused.err
    assert {path: path.read_bytes() for path in before} == before


def test_failed_update_can_be_repeated(
    files: Mapping[str, bytes], student: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, replace, count = read_assignment(student), Path.replace, 0

    def fails(path: Path, target: Path) -> Path:
        nonlocal count
        count += 1
        if count == 3:
            raise OSError(28, "No space left on device")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="No space left"):
        handout.update(student, make_newer(files))
    assert read_assignment(student) == before
    assert "my notes\n" in [path.read_text() for path in student.glob("README.md*")]
    assert all((student / name).exists() for name in files), "no file may be removed before all new files exist"
    handout.update(student, make_newer(files))
    assert {name: (student / name).read_bytes() for name in make_newer(files) if not handout.is_students(name)} == {
        name: content for name, content in make_newer(files).items() if not handout.is_students(name)
    }
    assert [path.read_text() for path in student.glob("README.md.bak*")] == ["my notes\n"]


def test_release_updates_a_published_handout(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert call_grader("release", "--out", out, "--kata", "linear", "--language", "zh").code == 0
    (out / ".git").mkdir()
    (out / "assignment/linear.py").write_text("class Linear: ...\n")
    (out / "tests/test_linear.py").write_text("last week's\n")
    old = (
        (out / handout.LIST)
        .read_text()
        .replace(handout.digest((ROOT / "tests/test_linear.py").read_bytes()), handout.digest(b"last week's\n"))
    )
    (out / handout.LIST).write_text(old)
    done = call_grader("release", "--out", out, "--update")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "updated: 1 file added or changed, 0 removed"
    assert (out / "assignment/linear.py").read_text() == "class Linear: ...\n"
    assert (out / "tests/test_linear.py").read_bytes() == (ROOT / "tests/test_linear.py").read_bytes()
    more = call_grader("release", "--out", out, "--update", "--kata", "linear", "--kata", "sgd").out
    assert "stubs:   sgd: not in assignment/; add it with `kata reset NAME`" in more
    (out / handout.LIST).unlink()
    assert call_grader("release", "--out", out, "--update").err.endswith(
        "was released by a version that is too old for --update (reference/handout.sha256 is missing)\n"
    )
