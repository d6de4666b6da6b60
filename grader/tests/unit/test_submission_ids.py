"""Whom the results belong to: odd names are kept, refused in one line, or told apart before anything is written."""

import csv
import unicodedata
from pathlib import Path

import msgspec
import pytest

from grader.output import gradebook
from grader.pipeline.submission_ids import assign_ids
from grader.results.result import KataResult, Result


def folder(path: Path) -> Path:
    """A directory that is handed in."""
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize("name", ["Zoë K", "-rf", ".hidden", "=cmd()", "a,b", 'say "hi"', "李雷", "[bold]x", "x" * 255])
def test_odd_names_of_submissions_are_kept(tmp_path: Path, name: str) -> None:
    entries, refused = assign_ids([folder(tmp_path / name)])
    assert ([entry.id for entry in entries], refused) == ([name], [])


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("two\nlines", "unprintable characters"),
        ("bell\a", "unprintable characters"),
        ("line\u2028separator", "unprintable characters"),
        ("not\udcfftext", "unprintable characters"),
        ("...zip", "a reserved name"),
        (".zip", "empty apart from its ending"),
        ("gradebook.csv", "a reserved name"),
        (".slurm", "a reserved name"),
        (".seed", "a reserved name"),
        ("Report.HTML", "a reserved name"),
        ("\u0958" * 60, "longer than 255 bytes"),
    ],
)
def test_a_name_that_cannot_be_a_directory_is_refused_and_the_others_are_kept(
    tmp_path: Path, name: str, problem: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"") if name.endswith("zip") else path.mkdir()
    entries, (refusal,) = assign_ids([path, folder(tmp_path / "ada")])
    line = str(refusal)
    assert [entry.id for entry in entries] == ["ada"]
    assert problem in line
    assert line.isprintable()
    assert line.endswith("; rename it")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada", "Ada"),
        ("Straße", "STRASSE"),
        ("ada", "ada."),
        (unicodedata.normalize("NFC", "Zoë"), unicodedata.normalize("NFD", "Zoë")),
        ("ada", "sub/ada"),
    ],
)
def test_names_that_some_file_system_takes_for_the_same_are_refused(tmp_path: Path, one: str, other: str) -> None:
    paths = [folder(tmp_path / "class" / one), folder(tmp_path / "class" / other)]
    entries, refused = assign_ids([*paths, folder(tmp_path / "class/ben")])
    assert [entry.id for entry in entries] == ["ben"]
    assert [refusal.entry.path for refusal in refused] == paths
    assert len({refusal.entry.id for refusal in refused}) == 2
    assert all("two submissions have this name" in str(refusal) for refusal in refused)


def test_a_submission_path_that_is_given_twice_counts_once(tmp_path: Path) -> None:
    path = folder(tmp_path / "ada")
    entries, _ = assign_ids([path, tmp_path / "." / "ada", path])
    assert [entry.id for entry in entries] == ["ada"]


def test_a_submission_that_is_a_link_has_the_name_of_the_link(tmp_path: Path) -> None:
    (tmp_path / "ben").symlink_to(folder(tmp_path / "version 7"))
    assert assign_ids([tmp_path / "ben"])[0][0].id == "ben"


def test_a_gradebook_with_odd_names_is_read_back_unchanged(tmp_path: Path) -> None:
    names = ["a,b", 'say "hi"', "two\nlines", "Zoë"]
    katas = [KataResult("linear", "done", 12.0, 12.0)]
    *graded, other = [Result(name, 12.0, 100.0, "", 0, 100, "bwrap", 0.0, {}, katas) for name in names]
    gradebook.write([*graded, msgspec.structs.replace(other, katas=[])], tmp_path)
    with (tmp_path / "gradebook.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["submission"] for row in rows] == names
    cells = [(row["linear"], row["linear_status"]) for row in rows]
    assert cells == [("12.0", "done")] * 3 + [("", "not_graded")]
    assert "sgd" not in rows[0], "nobody's was graded"


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-1", "@sum", "＝cmd()"])
def test_a_name_in_the_gradebook_is_no_formula_in_a_spreadsheet(tmp_path: Path, name: str) -> None:
    gradebook.write([Result(name, 0.0, 0.0, "", 0, 1, "none", 0.0, {}, [])], tmp_path)
    assert (tmp_path / "gradebook.csv").read_text().splitlines()[1].startswith(f'"\'{name}",')


def test_every_text_in_the_gradebook_is_quoted_and_no_number(tmp_path: Path) -> None:
    gradebook.write([Result("a;=cmd()", 1.0, 2.0, "", 0, 1, "none", 0.0, {}, [], unreadable="no; kata")], tmp_path)
    header, row = (tmp_path / "gradebook.csv").read_text().splitlines()
    assert header == '"submission","score","max_score","findings","unreadable"'
    assert row == '"a;=cmd()",1.0,2.0,0,"no; kata"'
