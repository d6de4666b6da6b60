"""Tests of submission ids: unusual names are kept, impossible ones are refused, and similar ones stay distinct."""

import csv
import unicodedata
from pathlib import Path

import msgspec
import pytest

from grader.marks.roster import Person, match_submissions
from grader.output import gradebook
from grader.pipeline.submission_ids import assign_ids
from grader.results.ids import DIGEST
from grader.results.result import KataResult, Result


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
    *graded, other = [Result(name, 12.0, 100.0, "", 0, 100, "bwrap", 0.0, {}, katas) for name in names]
    gradebook.write([*graded, msgspec.structs.replace(other, katas=[])], tmp_path)
    with (tmp_path / "gradebook.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    cells = [(row["submission"], row["linear"], row["linear_status"]) for row in rows]
    assert cells == [(name, "12.0", "done") for name in names[:3]] + [("Zoë", "", "not_graded")]
    assert "sgd" not in rows[0], "a kata without results has no column"


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-1", "@sum", "＝cmd()", "=a;b"])
def test_gradebook_quotes_text_and_escapes_formulas(tmp_path: Path, name: str) -> None:
    gradebook.write([Result(name, 1.0, 2.0, "", 0, 1, "none", 0.0, {}, [], unreadable="no; kata")], tmp_path)
    header, row = (tmp_path / "gradebook.csv").read_text().splitlines()
    assert header == '"submission","score","max_score","findings","unreadable"'
    assert row == f'"\'{name}",1.0,2.0,0,"no; kata"'
