"""Tests of reading submissions: which files are read, which student they belong to, and which id they get."""

import csv
import os
import socket
import stat
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from grader.base.errors import CallError
from grader.marks.roster import Person, match_submissions
from grader.output import gradebook
from grader.pipeline.layouts import find_submissions
from grader.pipeline.reading import read_submission
from grader.pipeline.submission_ids import assign_ids
from grader.pipeline.trees import SubmissionError
from grader.results.ids import DIGEST
from grader.results.result import KataResult, Result


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


def make_folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize("name", ["Zoë K", "-rf", ".hidden", "=cmd()", "a,b", 'say "hi"', "李雷", "[bold]x", "x" * 255])
def test_unusual_names_are_preserved(tmp_path: Path, name: str) -> None:
    entries, refused = assign_ids([make_folder(tmp_path / name)])
    assert ([entry.id for entry in entries], refused) == ([name], [])


@pytest.mark.parametrize(("name", "expected"), [("ada.zip", "ada"), ("a.b.tar.gz", "a.b"), ("Zoë.tgz", "Zoë")])
def test_submission_id_is_file_name_without_suffix(tmp_path: Path, name: str, expected: str) -> None:
    (tmp_path / name).touch()
    (entry,), _ = assign_ids([tmp_path / name])
    assert entry.id == expected


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        *((name, "unprintable characters") for name in ("two\nlines", "bell\a", "line\u2028break", "not\udcfftext")),
        *((name, "a reserved name") for name in ("...zip", "gradebook.csv", ".slurm", ".seed", "Report.HTML")),
        (".zip", "consists only of a file extension"),
        ("\u0958" * 60, "longer than 255 bytes"),
    ],
)
def test_invalid_name_is_rejected_without_affecting_other_submissions(tmp_path: Path, name: str, problem: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"") if name.endswith("zip") else path.mkdir()
    entries, (refusal,) = assign_ids([path, make_folder(tmp_path / "ada")])
    line = str(refusal)
    assert [entry.id for entry in entries] == ["ada"]
    assert problem in line
    assert line.isprintable()
    assert line.endswith("; rename it")


def test_name_that_locale_cannot_decode_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.getfilesystemencoding", lambda: "ascii")
    _, (refusal,) = assign_ids([tmp_path / "Zo\udcc3\udcab"])
    assert refusal.reason == "its name is not ASCII; set a UTF-8 locale (such as LC_ALL=C.UTF-8), or rename it"


@pytest.mark.parametrize(("one", "other"), [("ada", "Ada"), ("Straße", "STRASSE.zip"), ("ada", "ada.")])
def test_distinct_names_in_one_folder_are_preserved(tmp_path: Path, one: str, other: str) -> None:
    entries, refused = assign_ids([make_folder(tmp_path / one), make_folder(tmp_path / other)])
    assert ([entry.id for entry in entries], refused) == ([one, other.removesuffix(".zip")], [])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada", "ada.zip"),
        ("ada", "sub/Ada"),
        ("ada", "sub/ada"),
        ("x" * 255, f"sub/{'x' * 255}"),
        (unicodedata.normalize("NFC", "Zoë"), unicodedata.normalize("NFD", "Zoë")),
    ],
)
def test_equal_names_get_distinct_stable_ids(tmp_path: Path, one: str, other: str) -> None:
    paths = [make_folder(tmp_path / "class" / name) for name in (one, other, "ben")]
    entries, refused = assign_ids(paths)
    assert ([entry.path for entry in entries], refused) == (paths, [])
    ids = [entry.id for entry in entries]
    assert len(set(ids)) == 3
    assert ids[2] == "ben"
    assert all(DIGEST.search(id) and len(id.encode()) <= 255 for id in ids[:2])
    assert {entry.id for entry in assign_ids([*reversed(paths)])[0]} == set(ids)
    taken = assign_ids([make_folder(tmp_path / "class" / ids[0])])[0][0].id
    assert taken != ids[0], "nobody can choose a name that is another's id"


def test_exact_match_or_sole_readable_submission_is_used() -> None:
    people = [Person("ada")]
    found = match_submissions(people, ["Ada", "ada"])
    assert (found.submissions, found.problems) == ({"ada": "ada"}, ("Ada: does not count, because ada counts for ada",))
    one, other = (f"ada~{digit * 16}" for digit in "01")
    assert match_submissions(people, [one, other], unreadable={one}).submissions == {"ada": other}
    (problem,) = match_submissions(people, [one, other]).problems
    assert problem.startswith(f"ada: has several submissions ({one}, {other})")
    assert match_submissions([Person("ada", submission=one)], [one, other]).submissions == {"ada": one}


def test_duplicate_path_and_symlink_share_one_id(tmp_path: Path) -> None:
    path = make_folder(tmp_path / "ada")
    entries, _ = assign_ids([path, tmp_path / "." / "ada", path])
    assert [entry.id for entry in entries] == ["ada"]
    (tmp_path / "ben").symlink_to(make_folder(tmp_path / "version 7"))
    assert assign_ids([tmp_path / "ben"])[0][0].id == "ben"


def test_gradebook_keeps_unusual_names(tmp_path: Path) -> None:
    names = ["a,b", 'say "hi"', "two\nlines", "Zoë"]
    katas = [KataResult("linear", "done", 12.0, 12.0)]
    *graded, other = [Result(name, 12.0, 100.0, 0, 100, "bwrap", 0.0, {}, katas) for name in names]
    gradebook.write([*graded, msgspec.structs.replace(other, katas=[])], tmp_path)
    with (tmp_path / "gradebook.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    cells = [(row["submission"], row["linear"], row["linear_status"]) for row in rows]
    assert cells == [(name, "12.0", "done") for name in names[:3]] + [("Zoë", "", "not_graded")]
    assert "sgd" not in rows[0], "a kata without results has no column"


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-1", "@sum", "＝cmd()", "=a;b"])
def test_gradebook_quotes_text_and_escapes_formulas(tmp_path: Path, name: str) -> None:
    gradebook.write([Result(name, 1.0, 2.0, 0, 1, "none", 0.0, {}, [], unreadable="no; kata")], tmp_path)
    header, row = (tmp_path / "gradebook.csv").read_text().splitlines()
    assert header == '"submission","score","max_score","findings","unreadable"'
    assert row == f'"\'{name}",1.0,2.0,0,"no; kata"'
