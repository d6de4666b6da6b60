"""Which files of a submission count."""

import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from grader.pipeline.submission import SubmissionError, read
from grader.tests import ROOT


def handed_in(folder: Path, *names: str) -> Path:
    """A directory with these files."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}")
    return folder


def test_a_submission_has_its_katas_in_the_directory_itself_or_in_assignment(tmp_path: Path) -> None:
    assert list(read(handed_in(tmp_path / "a", "linear.py", "helpers.py")).files) == ["helpers.py", "linear.py"]
    assert (
        read(handed_in(tmp_path / "b", "assignment/linear.py", "linear.py")).files["linear.py"]
        == b"# assignment/linear.py"
    )


def test_only_python_modules_beside_the_katas_are_read(tmp_path: Path) -> None:
    names = ["linear.py", "conftest.py", "__init__.py", "pytest.ini", "a.pth", "x.so", "not-a-module.py", "deep/sgd.py"]
    assert list(read(handed_in(tmp_path, *names)).files) == ["linear.py"]


def test_links_in_a_submission_are_not_followed(tmp_path: Path) -> None:
    handed_in(tmp_path / "ada", "linear.py")
    (tmp_path / "ada/sgd.py").symlink_to("/etc/passwd")
    assert list(read(tmp_path / "ada").files) == ["linear.py"]
    with tarfile.open(tmp_path / "ben.tar", "w") as archive:
        archive.add(tmp_path / "ada/linear.py", "linear.py")
        archive.add(tmp_path / "ada/sgd.py", "sgd.py")
    assert list(read(tmp_path / "ben.tar").files) == ["linear.py"]
    with zipfile.ZipFile(tmp_path / "eve.zip", "w") as archive:
        archive.writestr("linear.py", "")
        link = zipfile.ZipInfo("sgd.py")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert list(read(tmp_path / "eve.zip").files) == ["linear.py"]


def test_pipes_and_devices_in_a_submission_are_left_out(tmp_path: Path) -> None:
    handed_in(tmp_path / "ada", "linear.py")
    os.mkfifo(tmp_path / "ada/sgd.py")
    assert list(read(tmp_path / "ada").files) == ["linear.py"]


def test_a_submitted_archive_may_wrap_everything_in_one_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        for name in (
            "hw1/assignment/linear.py",
            "hw1/notes.txt",
            "__MACOSX/hw1/assignment/._linear.py",
            "hw1/.git/linear.py",
        ):
            archive.writestr(name, name)
    assert read(tmp_path / "ada.zip").files == {"linear.py": b"hw1/assignment/linear.py"}


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
    assert read(path).id == expected


def test_a_submission_with_too_many_or_too_large_files_is_refused(tmp_path: Path) -> None:
    handed_in(tmp_path / "many", "linear.py", *(f"helper{i}.py" for i in range(80)))
    with pytest.raises(SubmissionError, match="more than 64 Python files"):
        read(tmp_path / "many")
    handed_in(tmp_path / "large")
    (tmp_path / "large").mkdir(exist_ok=True)
    (tmp_path / "large/linear.py").write_bytes(bytes(2**20 + 1))
    with pytest.raises(SubmissionError, match="larger than 1 MiB"):
        read(tmp_path / "large")
    with zipfile.ZipFile(tmp_path / "long.zip", "w") as archive:
        for i in range(10_001):
            archive.writestr(str(i), "")
    with pytest.raises(SubmissionError, match="more than 10000 entries"):
        read(tmp_path / "long.zip")


def test_an_archive_with_damaged_contents_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "ada.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("linear.py", "x = 1\n" * 1000)
    content = bytearray(path.read_bytes())
    content[45:55] = b"\xff" * 10
    path.write_bytes(content)
    with pytest.raises(SubmissionError, match=r"ada\.zip: can't be read \(.+\)$"):
        read(path)


def test_an_archive_is_read_like_the_directory_that_it_packs(tmp_path: Path) -> None:
    packed = ROOT / "examples/submissions/unusual_but_right.tar.gz"
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path / "unusual_but_right", filter="data")
    assert read(packed) == read(tmp_path / "unusual_but_right")
