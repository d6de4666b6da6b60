"""Tests of reading submissions: which files are read, and which student they belong to."""

import os
import socket
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.base.errors import CallError
from grader.marks.roster import Person, match_submissions
from grader.pipeline.layouts import Download, find_submissions
from grader.pipeline.reading import read_submission
from grader.pipeline.submission_ids import assign_ids
from grader.pipeline.trees import SubmissionError


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


def test_katas_may_be_in_nested_folder_or_archive(tmp_path: Path) -> None:
    wrapped = write_files(tmp_path / "a", "hw1/assignment/linear.py", "hw1/main.py", ".git/linear.py")
    assert read_submission(wrapped).files == {"linear.py": b"# hw1/assignment/linear.py"}
    moodle = tmp_path / "Ada L_17_assignsubmission_file"
    write_zip(moodle / "my work.zip", "x/assignment/linear.py")
    (moodle / "notes.txt").touch()
    found = read_submission(moodle)
    assert (found.id, found.files) == (moodle.name, {"linear.py": b"# x/assignment/linear.py"})
    write_zip(moodle / "again.ZIP", "linear.py")
    differ = r"^linear\.py is in again\.ZIP and my work\.zip/x/assignment, and they differ: hand in one$"
    with pytest.raises(SubmissionError, match=differ):
        read_submission(moodle)
    deep = write_files(tmp_path / "c", "not/too/deep/down/linear.py")
    assert read_submission(deep).files == {"linear.py": b"# not/too/deep/down/linear.py"}
    with pytest.raises(SubmissionError, match="contains no kata"):
        read_submission(write_files(tmp_path / "d", "folder.zip/notes.txt"))


def test_folder_of_class_is_expanded_with_layout(tmp_path: Path) -> None:
    moodle = tmp_path / "moodle"
    write_zip(moodle / "Ada_1_assignsubmission_file/x.zip", "linear.py")
    write_files(moodle / "Ben_2_assignsubmission_file", "assignment/linear.py")
    write_files(moodle, "Eve_3_assignsubmission_file/notes.txt", "grades.csv", ".DS_Store", "__MACOSX/x")
    found = find_submissions([moodle], "moodle")
    assert [path.name.split("_")[0] for path in found.submissions] == ["Ada", "Ben", "Eve"], "Eve's is empty, not lost"
    assert found.passed_over == ["grades.csv"]
    gradescope = write_files(tmp_path / "gradescope", "submission_metadata.yml", "submission_1/linear.py")
    one = Download([gradescope / "submission_1"])
    assert find_submissions([gradescope], "gradescope") == find_submissions(sorted(gradescope.iterdir())) == one
    canvas = tmp_path / "canvas"
    both = [write_zip(canvas / f"{name}_1_2_hw.zip", "linear.py") for name in ("ada", "ben")]
    assert find_submissions([canvas], "canvas") == find_submissions(both) == Download(both)
    for folder in (moodle, gradescope, canvas):
        assert find_submissions([folder]) == Download([folder])
        with pytest.raises(SubmissionError, match=r"^looks like a class from ") as refusal:
            read_submission(folder)
        assert refusal.value.layout == folder.name


def test_loose_canvas_files_are_grouped_by_student(tmp_path: Path) -> None:
    names = ("lovelaceada_LATE_4711_90_linear.py", "lovelaceada_LATE_4711_91_sgd-2.py", "张三_4712_92_my_help.py")
    folder = write_files(tmp_path / "canvas", *names, "张三_4712_93_linear.py", "notes.txt", "linear_4.py")
    found = find_submissions([folder], "canvas")
    assert (found.submissions, found.passed_over) == ([], ["linear_4.py", "notes.txt"])
    entries, refused = assign_ids(found.submissions, found.loose)
    assert refused == []
    read_in = {entry.id: read_submission(entry.path, entry.files).files for entry in entries}
    assert {id: list(files) for id, files in read_in.items()} == {
        "lovelaceada_4711_files": ["linear.py", "sgd.py"],
        "张三_4712_files": ["linear.py", "my_help.py"],
    }
    assert read_in["lovelaceada_4711_files"]["sgd.py"] == b"# lovelaceada_LATE_4711_91_sgd-2.py"
    assert [entry.late_by_platform for entry in entries] == [True, False]
    people = [Person("ada", lms_id="4711"), Person("zhang", lms_id="4712")]
    assert match_submissions(people, [entry.id for entry in entries]).submissions == {
        "ada": "lovelaceada_4711_files",
        "zhang": "张三_4712_files",
    }
    write_files(folder, "lovelaceada_4711_99_sgd.py")
    entry = assign_ids([], find_submissions([folder], "canvas").loose)[0][0]
    with pytest.raises(SubmissionError, match=r"two of its files have the same name; remove one \(sgd\.py\)$"):
        read_submission(entry.path, entry.files)


@pytest.mark.parametrize(
    "names",
    [
        ("assignment/linear.py", "old/linear.py", "older/linear.py"),
        ("linear.py", "old.zip", "older.zip"),
        ("hw/linear.py", "notes/a.txt"),
        ("docs/a.md", "tests/test_linear.py"),
    ],
)
def test_single_submission_is_not_expanded(tmp_path: Path, names: tuple[str, ...]) -> None:
    assert find_submissions([write_files(tmp_path / "ada", *names)]) == Download([tmp_path / "ada"])


def test_class_without_submissions_is_rejected(tmp_path: Path) -> None:
    metadata = tmp_path / "class/submission_metadata.yml"
    write_files(metadata.parent, metadata.name)
    with pytest.raises(CallError, match="no submissions found"):
        find_submissions([metadata])
    with pytest.raises(CallError, match="no submissions found"):
        find_submissions([metadata.parent], "gradescope")
    with pytest.raises(CallError, match=r"class\.zip: --layout needs a folder; unpack the download first$"):
        find_submissions([write_zip(tmp_path / "class.zip", "linear.py")], "canvas")


@pytest.mark.parametrize(
    ("name", "expected"), [("ada.zip", "ada"), ("ada.tar.gz", "ada"), ("a.b.tgz", "a.b"), ("Zoë K.tar", "Zoë K")]
)
def test_submission_id_is_file_name_without_suffix(tmp_path: Path, name: str, expected: str) -> None:
    path = write_zip(tmp_path / name, "linear.py")
    if not name.endswith("zip"):
        with tarfile.open(path, "w:gz" if name.endswith("gz") else "w") as archive:
            archive.add(write_files(tmp_path / "files", "linear.py"), ".")
    assert read_submission(path).id == expected


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
