"""Tests of reading submissions: which files are read, and which student they belong to."""

import os
import socket
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.base.errors import CallError
from grader.pipeline.layouts import find_submissions
from grader.pipeline.submission_ids import assign_ids
from grader.pipeline.trees import SubmissionError
from grader.pipeline.walk import read_submission


def write_files(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}")
    return folder


def test_only_modules_next_to_katas_are_read(tmp_path: Path) -> None:
    names = ["linear.py", "conftest.py", "__init__.py", "pytest.ini", "a.pth", "x.so", "not-a-module.py"]
    ada = write_files(tmp_path / "a", *names, "helpers.py")
    (ada / "sgd.py").symlink_to("/etc/passwd")
    os.mkfifo(ada / "train.py")
    (tmp_path / "link").symlink_to(".")
    assert list(read_submission(tmp_path / "link/a").files) == ["helpers.py", "linear.py"]


def write_zip(path: Path, *names: str, content: str = "") -> Path:
    """Write an archive with the given files. The content of each file is `content` or its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, content or f"# {name}")
    return path


def test_two_loose_files_of_one_name_are_refused(tmp_path: Path) -> None:
    names = ("lovelaceada_LATE_4711_90_linear.py", "lovelaceada_LATE_4711_91_sgd-2.py")
    folder = write_files(tmp_path / "canvas", *names, "notes.txt", "linear_4.py")
    found = find_submissions([folder], "canvas")
    assert (found.submissions, found.passed_over) == ([], ["linear_4.py", "notes.txt"])
    (entry,), _ = assign_ids([], found.loose)
    read_in = read_submission(entry.path, entry.files).files
    assert read_in == {"linear.py": f"# {names[0]}".encode(), "sgd.py": f"# {names[1]}".encode()}
    write_files(folder, "lovelaceada_4711_99_sgd.py")
    (entry,), _ = assign_ids([], find_submissions([folder], "canvas").loose)
    with pytest.raises(SubmissionError, match=r"two of its files have the same name; remove one \(sgd\.py\)$"):
        read_submission(entry.path, entry.files)


def test_class_without_submissions_is_rejected(tmp_path: Path) -> None:
    metadata = tmp_path / "class/submission_metadata.yml"
    write_files(metadata.parent, metadata.name)
    with pytest.raises(CallError, match="no submissions found"):
        find_submissions([metadata])
    with pytest.raises(CallError, match="no submissions found"):
        find_submissions([metadata.parent], "gradescope")
    with pytest.raises(CallError, match=r"class\.zip: --layout needs a folder; unpack the download first$"):
        find_submissions([write_zip(tmp_path / "class.zip", "linear.py")], "canvas")


def test_too_many_or_too_large_files_are_rejected(tmp_path: Path) -> None:
    many = write_files(tmp_path / "many", "linear.py", *(f"helper{i}.py" for i in range(80)))
    with pytest.raises(SubmissionError, match="more than 64 Python files"):
        read_submission(many)
    large = write_files(tmp_path / "large", "linear.py")
    (large / "linear.py").write_bytes(bytes(2**20 + 1))
    with pytest.raises(SubmissionError, match="larger than 1 MiB"):
        read_submission(large)


def swap_after_open(monkeypatch: pytest.MonkeyPatch, name: str, swap: Callable[[], object]) -> None:
    """Call `swap` after a file or folder with the given name has been opened."""
    open_it = os.open

    def opened(path: str | Path, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        descriptor = open_it(path, flags, mode, dir_fd=dir_fd)
        if Path(path).name == name:
            monkeypatch.setattr(os, "open", open_it)
            swap()
        return descriptor

    monkeypatch.setattr(os, "open", opened)


def test_symbolic_or_hard_link_to_submission_is_rejected(tmp_path: Path) -> None:
    archive, ada = write_zip(tmp_path / "ada.zip", "linear.py"), write_files(tmp_path / "ada", "linear.py")
    for number, target in enumerate((archive, ada)):
        (tmp_path / f"eve{number}.zip").symlink_to(target)
        with pytest.raises(SubmissionError, match=r"^is a symbolic link; submit the file itself$"):
            read_submission(tmp_path / f"eve{number}.zip")
    (tmp_path / "eve.zip").hardlink_to(archive)
    with pytest.raises(SubmissionError, match=r"a file has more than one hard link, .*; copy the submission \(cp -r\)"):
        read_submission(tmp_path / "eve.zip")
    eve = write_files(tmp_path / "eve", "sgd.py")
    (eve / "linear.py").hardlink_to(ada / "linear.py")
    with pytest.raises(SubmissionError, match=r"a file has more than one hard link.* \(linear\.py\)$"):
        read_submission(eve)


def test_file_of_another_owner_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fstat = os.fstat

    def change_owner(descriptor: int) -> os.stat_result:
        found = fstat(descriptor)
        return found if stat.S_ISDIR(found.st_mode) else os.stat_result((*found[:4], found.st_uid + 1, *found[5:]))

    ada = write_files(tmp_path / "ada", "assignment/linear.py")
    monkeypatch.setattr(os, "fstat", change_owner)
    with pytest.raises(SubmissionError, match=r"a file has a different owner than the submission; .*\(linear\.py\)$"):
        read_submission(ada)


@pytest.mark.parametrize("name", ["x.zip", "x"])
def test_pipe_or_socket_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(SubmissionError, match=r"not a file or directory$"):
        read_submission(tmp_path / name)
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"y{name}")
        with pytest.raises(SubmissionError, match=r"can't be read \("):
            read_submission(Path(f"y{name}"))


def test_read_survives_symlink_swap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = write_files(tmp_path / "ada", "assignment/linear.py", "assignment/sgd.py")
    eve = write_files(tmp_path / "eve", "assignment/linear.py", "assignment/sgd.py")

    def swap_folder() -> None:
        (eve / "assignment").rename(eve / "before")
        (eve / "assignment").symlink_to(ada / "assignment")

    def swap_file() -> None:
        (eve / "before/sgd.py").unlink()
        (eve / "before/sgd.py").symlink_to("/etc/passwd")

    for path in (ada / "assignment").iterdir():
        path.write_text("ada's")
    swap_after_open(monkeypatch, "assignment", swap_folder)
    files = read_submission(eve).files
    assert files == {name: f"# assignment/{name}".encode() for name in ("linear.py", "sgd.py")}
    (eve / "assignment").unlink()
    swap_after_open(monkeypatch, "linear.py", swap_file)
    assert list(read_submission(eve).files) == ["linear.py"]
    archive = write_zip(tmp_path / "eve.zip", "linear.py", content="eve's")
    swap_after_open(monkeypatch, "eve.zip", lambda: write_zip(tmp_path / "ada.zip", "linear.py").replace(archive))
    assert read_submission(archive).files == {"linear.py": b"eve's"}
