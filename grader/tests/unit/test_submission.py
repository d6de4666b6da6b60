"""Which files of a submission count."""

import os
import shutil
import socket
import stat
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.base.errors import CallError
from grader.marks.roster import Person, match_submissions
from grader.pipeline.archives import SubmissionError
from grader.pipeline.download import Download, find_submissions
from grader.pipeline.submission import read_submission
from grader.pipeline.submission_ids import assign_ids
from grader.tests import ROOT


def handed_in(folder: Path, *names: str) -> Path:
    """A directory with these files."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}")
    return folder


def test_a_submission_has_its_katas_in_the_directory_itself_or_in_assignment(tmp_path: Path) -> None:
    assert list(read_submission(handed_in(tmp_path / "a", "linear.py", "helpers.py")).files) == [
        "helpers.py",
        "linear.py",
    ]
    assert (
        read_submission(handed_in(tmp_path / "b", "assignment/linear.py", "linear.py")).files["linear.py"]
        == b"# assignment/linear.py"
    )


def test_only_python_modules_beside_the_katas_are_read(tmp_path: Path) -> None:
    names = ["linear.py", "conftest.py", "__init__.py", "pytest.ini", "a.pth", "x.so", "not-a-module.py", "deep/sgd.py"]
    assert list(read_submission(handed_in(tmp_path, *names)).files) == ["linear.py"]


def test_links_and_pipes_in_a_submission_are_left_out(tmp_path: Path) -> None:
    handed_in(tmp_path / "ada", "linear.py")
    (tmp_path / "ada/sgd.py").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "ada/train.py")
    assert list(read_submission(tmp_path / "ada").files) == ["linear.py"]


def zip_of(path: Path, *names: str, content: str = "") -> Path:
    """Write an archive with these files, each with this content or its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, content or f"# {name}")
    return path


def test_a_directory_without_katas_may_wrap_a_folder_or_an_archive_of_them(tmp_path: Path) -> None:
    assert read_submission(
        handed_in(tmp_path / "a", "hw1/assignment/linear.py", "hw1/sgd.py", ".git/linear.py")
    ).files == {"linear.py": b"# hw1/assignment/linear.py"}
    assert list(read_submission(handed_in(tmp_path / "b", "linear.py", "old/sgd.py", "old/linear.py")).files) == [
        "linear.py"
    ]
    moodle = tmp_path / "Ada L_17_assignsubmission_file"
    zip_of(moodle / "my work.zip", "x/assignment/linear.py")
    (moodle / "notes.txt").touch()
    assert (read_submission(moodle).id, read_submission(moodle).files) == (
        moodle.name,
        {"linear.py": b"# x/assignment/linear.py"},
    )
    zip_of(moodle / "again.ZIP", "linear.py")
    with pytest.raises(SubmissionError, match=r"contains several archives .* \(again\.ZIP, my work\.zip\)$"):
        read_submission(moodle)
    with pytest.raises(SubmissionError, match="contains no kata"):
        read_submission(handed_in(tmp_path / "c", "too/deep/down/linear.py"))


def test_a_folder_of_submissions_stands_for_what_is_in_it(tmp_path: Path) -> None:
    moodle = tmp_path / "moodle"
    zip_of(moodle / "Ada_1_assignsubmission_file/x.zip", "linear.py")
    handed_in(moodle / "Ben_2_assignsubmission_file", "assignment/linear.py")
    handed_in(moodle, "Eve_3_assignsubmission_file/notes.txt", "grades.csv", ".DS_Store", "__MACOSX/x")
    found = find_submissions([moodle])
    assert [path.name.split("_")[0] for path in found.submissions] == ["Ada", "Ben", "Eve"], "hers is empty, not lost"
    assert found.passed_over == ["grades.csv"]
    gradescope = handed_in(tmp_path / "gradescope", "submission_metadata.yml", "submission_1/linear.py")
    one = Download([gradescope / "submission_1"])
    assert find_submissions([gradescope]) == find_submissions(sorted(gradescope.iterdir())) == one, (
        "as a shell lists them, too"
    )
    canvas = tmp_path / "canvas"
    both = [zip_of(canvas / f"{name}_1_2_hw.zip", "linear.py") for name in ("ada", "ben")]
    assert find_submissions([canvas]) == Download(both)


def test_loose_files_as_canvas_names_them_are_one_hand_in_of_each(tmp_path: Path) -> None:
    names = ("lovelaceada_LATE_4711_90_linear.py", "lovelaceada_LATE_4711_91_sgd-2.py", "张三_4712_92_my_help.py")
    folder = handed_in(tmp_path / "canvas", *names, "张三_4712_93_linear.py", "notes.txt", "linear_4.py")
    found = find_submissions([folder])
    assert (found.submissions, found.passed_over) == ([], ["linear_4.py", "notes.txt"])
    entries, refused = assign_ids(found.submissions, found.loose)
    assert refused == []
    read_in = {entry.id: read_submission(entry.path, entry.files).files for entry in entries}
    assert {id: list(files) for id, files in read_in.items()} == {
        "lovelaceada_4711_files": ["linear.py", "sgd.py"],
        "张三_4712_files": ["linear.py", "my_help.py"],
    }
    assert read_in["lovelaceada_4711_files"]["sgd.py"] == b"# lovelaceada_LATE_4711_91_sgd-2.py"
    assert find_submissions(sorted(folder.glob("*_47*"))).loose == found.loose, "as a shell lists them"
    people = [Person("ada", lms_id="4711"), Person("zhang", lms_id="4712")]
    assert match_submissions(people, [entry.id for entry in entries]).submissions == {
        "ada": "lovelaceada_4711_files",
        "zhang": "张三_4712_files",
    }
    handed_in(folder, "lovelaceada_4711_99_sgd.py")
    entry = assign_ids([], find_submissions([folder]).loose)[0][0]
    with pytest.raises(SubmissionError, match=r"two of its files have the same name; remove one \(sgd\.py\)$"):
        read_submission(entry.path, entry.files)


def git(folder: Path, *arguments: str, at: str = "") -> None:
    """What git does there, at this time."""
    who = {f"GIT_{role}_{what}": "a@x.edu" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **who, "GIT_COMMITTER_DATE": at}
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, env=environment, capture_output=True)


def test_a_repository_says_when_it_was_committed_and_runs_nothing_of_its_students(tmp_path: Path) -> None:
    at, mark = "2026-10-01T22:30:00-07:00", tmp_path / "ran"
    ada = handed_in(tmp_path / "ada", "assignment/linear.py", "assignment/helper.py")
    git(ada, "init", "-q")
    git(ada, "add", "-A")
    git(ada, "commit", "-q", "-m", "done", at=at)
    assert read_submission(ada).handed_in == at
    git(ada, "pack-refs", "--all")
    git(ada, "repack", "-adq")
    assert read_submission(ada).handed_in == at
    (ada / "assignment/linear.py").write_text("# later")
    assert read_submission(ada).handed_in == "", "what is graded was never committed"
    git(ada, "checkout", "-q", "--detach", "--force")
    assert read_submission(ada).handed_in == at
    git(ada, "config", "log.showSignature", "true")
    for name in ("gpg.program", "core.fsmonitor", "core.pager"):
        git(ada, "config", name, f"touch {mark}")
    assert (read_submission(ada).handed_in, mark.exists()) == (at, False)
    git(ada, "status")
    assert mark.exists(), "the trap works"
    (ada / ".git/HEAD").write_text("ref: refs/heads/../../../secret\n")
    assert read_submission(ada).handed_in == ""
    shutil.rmtree(ada / ".git/objects")
    assert read_submission(ada).handed_in == ""


@pytest.mark.parametrize(
    "names",
    [
        ("assignment/linear.py", "old/linear.py", "older/linear.py"),
        ("linear.py", "old.zip", "older.zip"),
        ("hw/linear.py", "notes/a.txt"),
        ("docs/a.md", "tests/test_linear.py"),
    ],
)
def test_a_single_submission_is_not_taken_for_a_folder_of_them(tmp_path: Path, names: tuple[str, ...]) -> None:
    assert find_submissions([handed_in(tmp_path / "ada", *names)]) == Download([tmp_path / "ada"])


def test_what_holds_no_submission_is_refused(tmp_path: Path) -> None:
    handed_in(tmp_path, "submission_metadata.yml")
    with pytest.raises(CallError, match="no submission in it"):
        find_submissions([tmp_path])
    with pytest.raises(CallError, match="no submission in it"):
        find_submissions([tmp_path / "submission_metadata.yml"])


@pytest.mark.parametrize(
    ("name", "expected"), [("ada.zip", "ada"), ("ada.tar.gz", "ada"), ("a.b.tgz", "a.b"), ("Zoë K.tar", "Zoë K")]
)
def test_the_id_of_a_submission_is_its_name_without_the_ending(tmp_path: Path, name: str, expected: str) -> None:
    handed_in(tmp_path / "files", "linear.py")
    path = tmp_path / name
    if name.endswith("zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(tmp_path / "files/linear.py", "linear.py")
    else:
        with tarfile.open(path, "w:gz" if name.endswith("gz") else "w") as archive:
            archive.add(tmp_path / "files/linear.py", "linear.py")
    assert read_submission(path).id == expected


def test_a_submission_with_too_many_or_too_large_files_is_refused(tmp_path: Path) -> None:
    handed_in(tmp_path / "many", "linear.py", *(f"helper{i}.py" for i in range(80)))
    with pytest.raises(SubmissionError, match="more than 64 Python files"):
        read_submission(tmp_path / "many")
    handed_in(tmp_path / "large")
    (tmp_path / "large").mkdir(exist_ok=True)
    (tmp_path / "large/linear.py").write_bytes(bytes(2**20 + 1))
    with pytest.raises(SubmissionError, match="larger than 1 MiB"):
        read_submission(tmp_path / "large")


def test_an_archive_with_damaged_contents_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "ada.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("linear.py", "x = 1\n" * 1000)
    content = bytearray(path.read_bytes())
    content[45:55] = b"\xff" * 10
    path.write_bytes(content)
    with pytest.raises(SubmissionError, match=r"can't be read \(.+\)$"):
        read_submission(path)


def test_an_archive_is_read_like_the_directory_that_it_packs(tmp_path: Path) -> None:
    packed = ROOT / "examples/submissions/unusual_but_right.tar.gz"
    with tarfile.open(packed) as archive:
        safe: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # before Python 3.11.4
        archive.extractall(tmp_path / "unusual_but_right", **safe)
    assert read_submission(packed) == read_submission(tmp_path / "unusual_but_right")


def of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on every file, but no directory, belongs to somebody else."""
    look = os.fstat

    def seen(descriptor: int) -> os.stat_result:
        found = look(descriptor)
        return found if stat.S_ISDIR(found.st_mode) else os.stat_result((*found[:4], found.st_uid + 1, *found[5:]))

    monkeypatch.setattr(os, "fstat", seen)


def swapping(monkeypatch: pytest.MonkeyPatch, name: str, swap: Callable[[], object]) -> None:
    """Do this right after a file or folder of this name was opened."""
    open_it = os.open

    def opened(path: str | Path, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        descriptor = open_it(path, flags, mode, dir_fd=dir_fd)
        if Path(path).name == name:
            monkeypatch.setattr(os, "open", open_it)
            swap()
        return descriptor

    monkeypatch.setattr(os, "open", opened)


@pytest.mark.parametrize("handed_in_as", ["a directory", "an archive"])
def test_a_link_to_anothers_work_is_refused_with_a_remedy(tmp_path: Path, handed_in_as: str) -> None:
    ada = (
        handed_in(tmp_path / "ada", "linear.py")
        if handed_in_as == "a directory"
        else zip_of(tmp_path / "a.zip", "linear.py")
    )
    (tmp_path / "eve.zip").symlink_to(ada)
    with pytest.raises(SubmissionError, match=r"is a symbolic link; submit the file itself$"):
        read_submission(tmp_path / "eve.zip")


def test_a_hard_link_to_anothers_work_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "eve.zip").hardlink_to(zip_of(tmp_path / "ada.zip", "linear.py"))
    with pytest.raises(SubmissionError, match=r"a file has a hard link, .*; copy the submission \(cp -r\)"):
        read_submission(tmp_path / "eve.zip")
    handed_in(tmp_path / "ada", "linear.py")
    eve = handed_in(tmp_path / "eve", "sgd.py")
    (eve / "linear.py").hardlink_to(tmp_path / "ada/linear.py")
    with pytest.raises(SubmissionError, match=r"a file has a hard link.* \(linear\.py\)$"):
        read_submission(eve)


def test_a_file_of_another_owner_than_the_hand_in_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handed_in(tmp_path / "ada", "assignment/linear.py")
    of_another(monkeypatch)
    with pytest.raises(SubmissionError, match=r"a file has a different owner than the submission; .*\(linear\.py\)$"):
        read_submission(tmp_path / "ada")


def test_a_path_that_leads_through_a_link_to_the_hand_in_is_taken(tmp_path: Path) -> None:
    handed_in(tmp_path / "data/ada", "linear.py")
    (tmp_path / "home").symlink_to("data")
    assert list(read_submission(tmp_path / "home/ada").files) == ["linear.py"]


@pytest.mark.parametrize("name", ["x.zip", "x"])
def test_a_pipe_that_is_handed_in_is_refused_at_once(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(SubmissionError, match=r"not a file or directory$"):
        read_submission(tmp_path / name)


def test_a_socket_that_is_handed_in_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's name is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("x.zip")
        with pytest.raises(SubmissionError, match=r"can't be read \("):
            read_submission(Path("x.zip"))


def test_what_is_swapped_for_a_link_while_it_is_read_stays_what_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed_in(tmp_path / "ada", "assignment/linear.py").joinpath("assignment/linear.py").write_text("ada's")
    eve = handed_in(tmp_path / "eve", "assignment/linear.py")

    def swap() -> None:
        (eve / "assignment").rename(eve / "before")
        (eve / "assignment").symlink_to(tmp_path / "ada/assignment")

    swapping(monkeypatch, "assignment", swap)
    assert read_submission(eve).files == {"linear.py": b"# assignment/linear.py"}
    archive = zip_of(tmp_path / "eve.zip", "linear.py", content="eve's")
    swapping(monkeypatch, "eve.zip", lambda: zip_of(tmp_path / "ada.zip", "linear.py").replace(archive))
    assert read_submission(archive).files == {"linear.py": b"eve's"}


def test_a_file_that_becomes_a_link_after_it_was_listed_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    eve = handed_in(tmp_path / "eve", "linear.py", "sgd.py")

    def swap() -> None:
        (eve / "sgd.py").unlink()
        (eve / "sgd.py").symlink_to("/etc/passwd")

    swapping(monkeypatch, "linear.py", swap)
    assert list(read_submission(eve).files) == ["linear.py"]
