"""What is stored is kept: reasons beside results, nothing given up for less, and nobody else may write there."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from grader.base.errors import CallError
from grader.cluster.pending import find_pending
from grader.output.summary import rebuild
from grader.pipeline.overwrite_guard import demand_no_loss
from grader.pipeline.queue import Queue
from grader.pipeline.speed import find_untimed
from grader.pipeline.submission_ids import assign_ids
from grader.results.dependencies import digest_kata
from grader.results.history import course_version
from grader.results.result import KataResult, PerformanceResult, Result, read, write
from grader.tests.conftest import ask
from grader.tests.support.made_results import result
from grader.tests.support.platforms import RUNNER, for_gradescope, for_junit
from grader.tests.support.submissions import LINEAR, handed_in, options
from torchkata.course import course

WHY = "is a symbolic link; submit the file itself"


def queue(out: Path, *paths: Path, **changes: Any) -> Queue:
    """A class whose submissions are to be graded."""
    asked = options(out, **{"examples": 10, **changes})
    return Queue(*assign_ids(paths), tuple(course().katas[name] for name in asked.grading.katas), asked)


def a_class(folder: Path) -> list[Path]:
    """Somebody who handed in, and somebody who handed in a link to it."""
    (ada,) = handed_in(folder, LINEAR, "ada")
    (folder / "eve").symlink_to(ada)
    return [folder / "eve", ada]


@pytest.fixture
def unreadable(tmp_path: Path) -> Path:
    """The results of a class with one that can't be read, and one that was graded."""
    list(queue(tmp_path / "out", *a_class(tmp_path)).to_grade())
    write(result("why", submission="ada"), tmp_path / "out")
    return tmp_path / "out"


def test_what_cannot_be_read_has_its_row_and_the_reason_in_the_gradebook(unreadable: Path) -> None:
    rebuild(unreadable)
    rows = {row["submission"]: row for row in csv.DictReader((unreadable / "gradebook.csv").read_text().splitlines())}
    assert (rows["eve"]["score"], rows["eve"]["get_batch_status"]) == ("0.0", "not_graded")
    assert float(rows["eve"]["max_score"]) == course().katas["linear"].max_score
    assert (rows["eve"]["unreadable"], rows["ada"]["unreadable"]) == (WHY, "")


def test_what_cannot_be_read_has_its_reason_on_the_page_and_in_every_export(
    unreadable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask("report", unreadable, "--feedback", tmp_path / "pages").code == 0
    for page in (unreadable / "report.html", tmp_path / "pages/eve/feedback.html"):
        assert WHY.replace("'", "&#39;") in page.read_text()
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)
    for format in ("gradescope", "classroom50", "github", "junit"):
        assert ask("export", unreadable, "--format", format, "--to", tmp_path / format).code == 0
    report = for_gradescope((tmp_path / "gradescope/eve.json").read_bytes())
    assert (report["score"], report["output"]) == (0, f"Your submission can't be graded. {WHY}")
    (row,) = report["tests"]
    assert (row["max_score"], row["output"]) == (course().katas["linear"].max_score, f"It can't be graded: {WHY}")
    (case,) = json.loads((tmp_path / "classroom50/eve.json").read_text())["tests"]
    assert (case["test-name"], case["passed"]) == (f"hand-in: {WHY}", False)
    assert "| eve | 0 of" in (tmp_path / "github").read_text()
    junit = for_junit((tmp_path / "junit").read_bytes())
    (failure,) = [case for case in junit.iter("failure") if WHY in (case.text or "")]
    assert failure.get("message") == f"It can't be graded: {WHY}"


def test_what_cannot_be_read_any_more_keeps_what_was_graded(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o700)
    before = result("why", submission="eve")
    write(before, tmp_path / "out")
    assert [job.submission.id for job in queue(tmp_path / "out", *a_class(tmp_path)).to_grade()] == ["ada"]
    assert read(tmp_path / "out/eve/result.json") == replace(before, unreadable=WHY)


def test_what_can_be_read_again_is_graded_again(tmp_path: Path) -> None:
    paths = a_class(tmp_path)
    list(queue(tmp_path / "out", *paths).to_grade())
    paths[0].unlink()
    handed_in(tmp_path, LINEAR, "eve")
    assert [job.submission.id for job in queue(tmp_path / "out", *paths).to_grade()] == ["eve", "ada"]


def test_where_nothing_can_be_read_no_new_directory_is_made(tmp_path: Path) -> None:
    eve, _ = a_class(tmp_path)
    with pytest.raises(CallError, match="is a symbolic link"):
        list(queue(tmp_path / "out", eve).to_grade())
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir(mode=0o700)
    assert list(queue(tmp_path / "out", eve).to_grade()) == []
    assert read(tmp_path / "out/eve/result.json").unreadable == WHY


def test_results_are_for_the_eyes_of_whoever_grades(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        list(queue(tmp_path / "new/out", *a_class(tmp_path)).to_grade())
    finally:
        os.umask(before)
    assert (tmp_path / "new/out").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_results_where_others_may_write_are_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    (tmp_path / "the results").mkdir()
    (tmp_path / "the results").chmod(mode)
    with pytest.raises(CallError, match=r"other users can write there and change results; chmod go-w '.*the results'$"):
        list(queue(tmp_path / "the results", *a_class(tmp_path)).to_grade())
    (tmp_path / "the results").chmod(mode & ~0o022)
    assert len(list(queue(tmp_path / "the results", *a_class(tmp_path / "again")).to_grade())) == 1


def test_only_what_another_grading_would_change_is_graded_again(tmp_path: Path) -> None:
    out, (ada,) = tmp_path / "out", handed_in(tmp_path, LINEAR, "ada")
    made = queue(out, ada)
    (job,) = made.to_grade()
    assert job.reusable == {}
    linear, sgd = (KataResult(name, "done", 12.0, 12.0, digest=digest_kata(name)) for name in ("linear", "sgd"))
    before = replace(result("why", submission="ada"), basis=made.bases["ada"], katas=[linear])

    def kept(stored: Result, **changes: Any) -> list[str] | None:
        write(stored, out)
        jobs = list(queue(out, ada, **changes).to_grade())
        return [*jobs[0].reusable] if jobs else None

    assert kept(before) is None
    assert read(out / "ada/result.json") == replace(before, fingerprint=made.prints["ada"], course=course_version())
    assert kept(before, katas=("linear", "sgd")) == ["linear"]
    assert kept(replace(before, katas=[linear, sgd])) == ["linear"], "and sgd goes, where somebody asks for that"
    assert kept(replace(before, katas=[replace(linear, digest="another")])) == []
    assert kept(replace(before, katas=[replace(linear, status="inconclusive")])) == []
    assert kept(replace(before, basis="another")) == []
    assert kept(before, force=True) == []


def timed(made: Result) -> Result:
    """With a workload that counts."""
    return replace(made, device="cuda", performance=[PerformanceResult("linear_forward", "passed", 5.0, 5.0)])


OF_BATCH: dict[str, Any] = {"katas": ("get_batch",)}


@pytest.mark.parametrize(
    ("stored", "options", "lost"),
    [
        (result("why"), {"katas": ("linear",)}, "get_batch"),
        (result("why"), OF_BATCH | {"examples": 9}, "10 examples"),
        (result("why"), OF_BATCH | {"seed": 1}, "seed 0"),
        (result("why"), OF_BATCH | {"isolation": "none"}, "isolation bwrap"),
        (timed(result("why")), OF_BATCH, "speed on cuda"),
        (timed(result("why")), OF_BATCH | {"device": "cpu"}, "speed on cuda"),
        (timed(result("why")), {"katas": ("linear",), "device": "cuda"}, "get_batch"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_call_that_would_lose_what_is_stored_is_refused_and_says_what(
    tmp_path: Path, stored: Result, options: dict[str, Any], lost: str
) -> None:
    made = queue(tmp_path / "out", *handed_in(tmp_path, LINEAR, "ada", "ben"), **options)
    write(stored, tmp_path / "out")
    with pytest.raises(CallError) as refusal:
        demand_no_loss(made.entries, made.options)
    assert str(refusal.value) == (
        f"--out {tmp_path}/out: this would overwrite the result of ada and lose {lost}; "
        "choose another DIR, or use --force"
    )
    write(replace(stored, submission="ben"), tmp_path / "out")
    with pytest.raises(CallError, match="the result of ada and 1 more and lose "):
        demand_no_loss(made.entries, made.options)


@pytest.mark.parametrize(
    "options",
    [{}, {"examples": 11}, {"katas": ("get_batch", "linear")}, {"isolation": "auto"}, {"device": "cpu"}],
    ids=str,
)
def test_a_call_that_grades_as_much_or_more_is_taken(tmp_path: Path, options: dict[str, Any]) -> None:
    made = queue(tmp_path / "out", *handed_in(tmp_path, LINEAR, "ada"), **(OF_BATCH | options))
    write(result("why"), tmp_path / "out")
    demand_no_loss(made.entries, made.options)


def test_grade_loses_nothing_that_is_stored(tmp_path: Path) -> None:
    (ada,) = handed_in(tmp_path, LINEAR, "ada")
    write(result("why"), tmp_path / "out")
    before = (tmp_path / "out/ada/result.json").read_bytes()
    call = ("grade", ada, "--out", tmp_path / "out", "--kata", "linear", "--examples", 10, "--seed", 0)
    refused = ask(*call)
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "lose get_batch;" in refused.err
    assert (tmp_path / "out/ada/result.json").read_bytes() == before


def test_speed_is_timed_for_no_other_files_than_those_that_were_tested(tmp_path: Path) -> None:
    (ada,) = handed_in(tmp_path, LINEAR, "ada")
    made = queue(tmp_path / "out", ada, device="cpu")
    (job,) = made.to_grade()
    write(replace(result("why"), fingerprint=made.prints["ada"]), tmp_path / "out")
    (timed_job,), changed = find_untimed("cpu", made, {"ada"})
    assert (timed_job.files, changed) == (job.submission.files, [])
    (ada / "linear.py").write_text(f"{LINEAR}\n# changed\n")
    assert find_untimed("cpu", made, {"ada"}) == ([], ["ada"])


def test_a_submission_that_a_node_could_not_read_is_still_pending(tmp_path: Path) -> None:
    made = queue(tmp_path / "out", *handed_in(tmp_path, LINEAR, "ada"))
    left = find_pending(made, since_ns=0)
    graded = replace(result("why"), fingerprint=made.prints["ada"], katas=[KataResult("linear", "done", 12.0, 12.0)])
    for stored, names in ((replace(graded, unreadable="it is not there"), ["ada"]), (graded, [])):
        write(stored, tmp_path / "out")
        os.utime(tmp_path / "out/ada/result.json", ns=(len(names), len(names)))  # two versions of it
        left.update()
        assert left.left == names
