"""`grader export`: files for one submission or many, bad calls in one line."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest

from grader.results.result import write
from grader.tests.conftest import Run, ask
from grader.tests.support.made_results import result
from grader.tests.support.platforms import RUNNER

FORMATS = ("gradescope", "classroom50", "github", "junit")


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """The results of one submission."""
    write(result("get_batch · claim\n  wrong", submission="ada", file="get_batch.py"), tmp_path / "one")
    return tmp_path / "one"


@pytest.fixture
def two(one: Path) -> Path:
    """The results of two."""
    write(result("why", submission="bob | <b>"), one)
    return one


def export(directory: Path, format: str, to: Path, *arguments: str) -> Run:
    """`grader export …`."""
    return ask("export", directory, "--format", format, "--to", to, *arguments)


def loaded(path: Path) -> dict[str, Any]:
    """A JSON file."""
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def test_export_of_one_submission_writes_one_file(one: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)
    for format in FORMATS:
        done = export(one, format, tmp_path / "new" / format)
        assert (done.code, done.err) == (0, "")
    assert loaded(tmp_path / "new/gradescope")["score"] == 3
    assert loaded(tmp_path / "new/classroom50")["owner"] == "ada"
    assert (tmp_path / "new/github").read_text().startswith("## ada: 3 of 16 points")
    assert ET.parse(tmp_path / "new/junit").getroot()[0].get("name") == "ada: get_batch"
    assert len(list((tmp_path / "new").iterdir())) == len(FORMATS)


def test_export_to_github_prints_the_annotations_of_one_submission(one: Path, tmp_path: Path) -> None:
    out = export(one, "github", tmp_path / "summary.md").out
    assert out.startswith("::error file=assignment/get_batch.py,line=7,title=")
    assert len(out.splitlines()) == 1


def test_export_of_several_submissions_writes_a_file_each_into_a_directory(two: Path, tmp_path: Path) -> None:
    assert export(two, "gradescope", tmp_path / "gs").code == 0
    assert sorted(path.name for path in (tmp_path / "gs").iterdir()) == ["ada.json", "bob | <b>.json"]
    given = [f"--field={name}=x" for name in ("classroom", "assignment", "commit", "release")]
    given += ["--field=submission=submit/{submission}", "--field=owner={submission}", "--field=datetime=2026-09-01"]
    assert export(two, "classroom50", tmp_path / "c50", *given).code == 0
    assert {loaded(path)["owner"] for path in (tmp_path / "c50").iterdir()} == {"ada", "bob | <b>"}


def test_export_of_several_submissions_writes_one_junit_file_and_one_github_table(two: Path, tmp_path: Path) -> None:
    assert export(two, "junit", tmp_path / "junit.xml").code == 0
    assert len(ET.parse(tmp_path / "junit.xml").getroot()) == 2
    done = export(two, "github", tmp_path / "class.md")
    assert (done.code, done.out) == (0, "")
    assert len((tmp_path / "class.md").read_text().splitlines()) == 4


def test_export_replaces_an_existing_file(one: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert export(one, "github", tmp_path / "summary.md").code == 0
    assert (tmp_path / "summary.md").read_text().count("## ada") == 1


def test_export_skips_and_names_a_result_that_cannot_be_read(one: Path, tmp_path: Path) -> None:
    (one / "eve").mkdir()
    (one / "eve/result.json").write_text('{"score": 100}')
    done = export(one, "junit", tmp_path / "junit.xml")
    assert (done.code, done.err) == (
        2,
        f"grader: {one}/eve/result.json: not a torchkata result (Object missing required field `submission`)\n",
    )
    assert len(ET.parse(tmp_path / "junit.xml").getroot()) == 1


def test_one_name_that_is_too_long_for_a_file_keeps_no_other_from_being_exported(two: Path, tmp_path: Path) -> None:
    write(result("why", submission="c" * 255), two)
    write(result("why", submission="d" * 250), two)
    done = export(two, "gradescope", tmp_path / "gs")
    assert (done.code, done.err) == (
        2,
        f"grader: {tmp_path}/gs/{'c' * 255}.json: can't write there (File name too long)\n",
    )
    assert sorted(path.name for path in (tmp_path / "gs").iterdir()) == [
        "ada.json",
        "bob | <b>.json",
        f"{'d' * 250}.json",
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_one_result_of_a_course_that_has_changed_keeps_no_other_from_being_exported(
    two: Path, tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)
    old = result("why", submission="old")
    write(msgspec.structs.replace(old, katas=[msgspec.structs.replace(old.katas[0], kata="gone")]), two)
    done = export(two, format, tmp_path / "to")
    assert (done.code, done.err) == (
        2,
        f"grader: {two}/old/result.json: kata gone has changed since this was graded; grade again\n",
    )
    written = tmp_path / "to"
    if written.is_dir():
        assert sorted(path.name for path in written.iterdir()) == ["ada.json", "bob | <b>.json"]
    else:
        assert all(name in written.read_text() for name in ("ada", "bob"))


def test_marks_that_turn_the_direction_of_reading_are_shown_by_number_in_every_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)
    directory = tmp_path / "results"
    write(result("get_batch · claim\n  a\u202eb", submission="eve\u2066", file="get_batch.py"), directory)
    told = ask("report", directory, "--feedback", tmp_path / "pages").out
    for format in FORMATS:
        told += export(directory, format, tmp_path / "to" / format).out
    named = [*tmp_path.rglob("gradebook.csv"), *tmp_path.rglob("*.html")]  # other tables have nobody's name
    written = [*named, *(tmp_path / "to").iterdir()]
    assert len(written) == 3 + len(FORMATS)
    texts = {"terminal": told} | {path.name: path.read_text("utf-8") for path in written}
    for name, text in texts.items():
        assert not re.search("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", text), name
        assert name == "classroom50" or "2066" in text or "202E" in text, name
