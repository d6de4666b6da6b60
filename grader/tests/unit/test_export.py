"""Tests of `grader export` for one submission and for several submissions."""

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from grader.results.result import write
from grader.tests.conftest import Run, call_grader
from grader.tests.support.platforms import RUNNER
from grader.tests.support.sample_results import make_result

FORMATS = ("gradescope", "classroom50", "github", "junit")


@pytest.fixture
def one_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set a CI runner's environment variables and return a directory with the results of one submission."""
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)
    write(make_result("get_batch · claim\n  wrong", submission="ada", file="get_batch.py"), tmp_path / "one")
    return tmp_path / "one"


@pytest.fixture
def two_results(one_result: Path) -> Path:
    """Return a directory with the results of two submissions."""
    write(make_result("why", submission="bob | <b>"), one_result)
    return one_result


def export(directory: Path, format: str, to: Path, *arguments: str) -> Run:
    """Run `grader export`."""
    accept = ["--accept-inconclusive"] if format in ("gradescope", "classroom50") else []
    return call_grader("export", directory, "--format", format, "--to", to, *accept, *arguments)


def list_names(directory: Path) -> list[str]:
    """Return the sorted names of the files in a directory."""
    return sorted(path.name for path in directory.iterdir())


def test_single_submission_is_exported_to_one_file(one_result: Path, tmp_path: Path) -> None:
    for format in FORMATS:
        done = export(one_result, format, tmp_path / "new" / format)
        assert (done.code, done.err) == (0, "")
    assert json.loads((tmp_path / "new/gradescope").read_text())["score"] == 3
    assert json.loads((tmp_path / "new/classroom50").read_text())["owner"] == "ada"
    assert (tmp_path / "new/github").read_text().startswith("## ada: 3 of 16 points")
    assert ET.parse(tmp_path / "new/junit").getroot()[0].get("name") == "ada: get_batch"
    assert list_names(tmp_path / "new") == sorted(FORMATS)


def test_github_export_prints_annotations_and_replaces_summary(one_result: Path, tmp_path: Path) -> None:
    for _ in range(2):
        out = export(one_result, "github", tmp_path / "summary.md").out
        assert out.startswith("::error file=assignment/get_batch.py,line=7,title=")
        assert len(out.splitlines()) == 1
    assert (tmp_path / "summary.md").read_text().count("## ada") == 1


def test_several_submissions_are_exported_to_separate_files(two_results: Path, tmp_path: Path) -> None:
    assert export(two_results, "gradescope", tmp_path / "gs").code == 0
    assert list_names(tmp_path / "gs") == ["ada.json", "bob | <b>.json"]
    fields = [f"--field={name}=x" for name in ("classroom", "assignment", "commit", "release")]
    fields += ["--field=submission=submit/{submission}", "--field=owner={submission}", "--field=datetime=2026-09-01"]
    assert export(two_results, "classroom50", tmp_path / "c50", *fields).code == 0
    owners = {json.loads(path.read_text())["owner"] for path in (tmp_path / "c50").iterdir()}
    assert owners == {"ada", "bob | <b>"}


def test_junit_and_github_put_submissions_into_one_file(two_results: Path, tmp_path: Path) -> None:
    assert export(two_results, "junit", tmp_path / "junit.xml").code == 0
    assert len(ET.parse(tmp_path / "junit.xml").getroot()) == 2
    done = export(two_results, "github", tmp_path / "class.md")
    assert (done.code, done.out) == (0, "")
    assert len((tmp_path / "class.md").read_text().splitlines()) == 4


def test_too_long_name_is_skipped_and_reported(two_results: Path, tmp_path: Path) -> None:
    write(make_result("why", submission="c" * 255), two_results)
    write(make_result("why", submission="d" * 250), two_results)
    done = export(two_results, "gradescope", tmp_path / "gs")
    problem = f"grader: {tmp_path}/gs/{'c' * 255}.json: can't write there (File name too long)\n"
    assert (done.code, done.err) == (2, problem)
    assert list_names(tmp_path / "gs") == ["ada.json", "bob | <b>.json", f"{'d' * 250}.json"]


@pytest.mark.parametrize("format", FORMATS)
def test_unreadable_or_outdated_results_are_skipped_and_reported(
    two_results: Path, tmp_path: Path, format: str
) -> None:
    (two_results / "eve").mkdir()
    (two_results / "eve/result.json").write_text('{"score": 100}')
    old = make_result("why", submission="old")
    write(msgspec.structs.replace(old, katas=[msgspec.structs.replace(old.katas[0], kata="gone")]), two_results)
    done = export(two_results, format, tmp_path / "to")
    unreadable, outdated = done.err.splitlines()
    assert done.code == 2
    assert unreadable.startswith(f"grader: {two_results}/eve/result.json: not a torchkata result (")
    assert (
        outdated == f"grader: {two_results}/old/result.json: kata gone has changed since this was graded; grade again"
    )
    written = tmp_path / "to"
    if written.is_dir():
        assert list_names(written) == ["ada.json", "bob | <b>.json"]
    else:
        assert all(name in written.read_text() for name in ("ada", "bob"))


def test_bidirectional_characters_are_shown_as_code_points(tmp_path: Path, one_result: Path) -> None:
    shutil.rmtree(one_result)
    write(make_result("get_batch · claim\n  a\u202eb", submission="eve\u2066", file="get_batch.py"), one_result)
    printed = call_grader("report", one_result, "--feedback", tmp_path / "pages").out
    for format in FORMATS:
        printed += export(one_result, format, tmp_path / "to" / format).out
    with_names = [*tmp_path.rglob("gradebook.csv"), *tmp_path.rglob("*.html")]  # other tables contain no names
    written = [*with_names, *(tmp_path / "to").iterdir()]
    assert len(written) == 3 + len(FORMATS)
    for name, text in {"terminal": printed, **{path.name: path.read_text("utf-8") for path in written}}.items():
        assert not re.search("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", text), name
        assert name == "classroom50" or "2066" in text or "202E" in text, name
