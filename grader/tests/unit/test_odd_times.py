"""An invalid commit time affects only one student, not the whole class."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from grader.results import result
from grader.tests.conftest import call_grader
from grader.tests.unit.test_report_command import store

ODD = ("2026-09-25T18:52:20+99:99", "%cI", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", "2026-10-01")


@pytest.mark.parametrize("time", ODD)
def test_commands_handle_unusual_commit_times(tmp_path: Path, time: str) -> None:
    results, folder, book = tmp_path / "results", tmp_path / "class", tmp_path / "book.csv"
    folder.mkdir()
    (folder / "class.csv").write_text("id\nada\nben\n")
    (folder / "policy.toml").write_text("due = 2026-10-01T23:59:00+02:00\npenalty_per_day = 0.5\n")
    book.write_text("id,mark\nada,\nben,\n")
    for name, at in (("ada", time), ("ben", "2026-10-02T12:00:00+02:00")):
        store(results, name, "done", "passed", "passed")
        stored = result.read(results / name / "result.json")
        result.write(replace(stored, handed_in=at), results)
    done = call_grader("marks", results, folder)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "ada: submission time unknown, counted as on time; add it to times.csv" in done.err
    assert (folder / "marks.csv").read_text().count("\n") == 3, "a header and two people"
    assert "Traceback" not in call_grader("report", results, "--class", folder).err
    call = ("export", results, "--format", "csv", "--class", folder, "--gradebook", book, "--column", "mark")
    exported = call_grader(*call, "--to", tmp_path / "filled.csv")
    assert exported.err == done.err
    assert (tmp_path / "filled.csv").read_text() == "id,mark\nada,2\nben,1\n"
