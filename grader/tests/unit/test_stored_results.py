"""Tests of stored results: reasons for unreadable submissions, no data loss on repeated calls, private directories."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from grader.base.errors import CallError
from grader.pipeline.queue import Queue, check_replaced
from grader.pipeline.speed import find_untimed
from grader.pipeline.submission_ids import assign_ids
from grader.results.dependencies import digest_submission
from grader.results.result import KataResult, PerformanceResult, Result, read, write
from grader.tests import support
from grader.tests.conftest import call_grader
from grader.tests.support.platforms import RUNNER, parse_gradescope, parse_junit
from grader.tests.support.sample_results import make_result
from grader.tests.support.submissions import LINEAR, make_options, write_submissions
from torchkata.course import course

WHY = "is a symbolic link; submit the file itself"


def make_queue(out: Path, *paths: Path, **changes: Any) -> Queue:
    asked = make_options(out, **{"examples": 10, **changes})
    return Queue(*assign_ids(paths), tuple(course().katas[name] for name in asked.katas), asked)


def write_class(folder: Path) -> list[Path]:
    (ada,) = write_submissions(folder, LINEAR, "ada")
    (folder / "eve").symlink_to(ada)
    return [folder / "eve", ada]


def test_outputs_show_why_submission_is_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, most = tmp_path / "out", course().katas["linear"].max_score
    list(make_queue(out, *write_class(tmp_path)).to_grade())
    write(make_result("why", submission="ada"), out)
    assert call_grader("report", out, "--out", tmp_path / "pages").code == 0
    ada, eve = csv.DictReader((out / "gradebook.csv").read_text().splitlines())
    assert (eve["score"], float(eve["max_score"]), eve["get_batch_status"]) == ("0.0", most, "not_graded")
    assert (eve["unreadable"], ada["unreadable"]) == (WHY, "")
    for page in ((out / "report.html").read_text("utf-8"), (tmp_path / "pages/eve/feedback.html").read_text()):
        assert WHY in page
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)
    accept = ["--accept-inconclusive"]
    for format, options in (("gradescope", accept), ("classroom50", accept), ("github", []), ("junit", [])):
        assert call_grader("export", out, "--format", format, "--out", tmp_path / format, *options).code == 0
    report = parse_gradescope((tmp_path / "gradescope/eve.json").read_bytes())
    assert (report["score"], report["output"]) == (0, f"Your submission can't be graded. {WHY}")
    (row,) = report["tests"]
    assert (row["max_score"], row["output"]) == (most, f"This submission can't be graded: {WHY}")
    (case,) = json.loads((tmp_path / "classroom50/eve.json").read_text())["tests"]
    assert (case["test-name"], case["passed"]) == (f"hand-in: {WHY}", False)
    assert "| eve | 0 of" in (tmp_path / "github").read_text()
    (failure,) = [
        one for one in parse_junit((tmp_path / "junit").read_bytes()).iter("failure") if WHY in (one.text or "")
    ]
    assert failure.get("message") == f"This submission can't be graded: {WHY}"


def test_unreadable_submission_keeps_its_earlier_result(tmp_path: Path) -> None:
    paths, out = write_class(tmp_path), tmp_path / "new/out"
    before = os.umask(0)
    try:
        list(make_queue(out, *paths).to_grade())
    finally:
        os.umask(before)
    assert out.stat().st_mode & 0o777 == 0o700, "results are private"
    graded = make_result("why", submission="eve")
    write(graded, out)
    assert [job.submission.id for job in make_queue(out, *paths).to_grade()] == ["ada"]
    assert read(out / "eve/result.json") == replace(graded, unreadable=WHY), "the earlier result is kept"
    paths[0].unlink()
    write_submissions(tmp_path, LINEAR, "eve")
    assert [job.submission.id for job in make_queue(out, *paths).to_grade()] == ["eve", "ada"]


def test_unreadable_class_creates_no_directory(tmp_path: Path) -> None:
    eve, _ = write_class(tmp_path)
    with pytest.raises(CallError, match="is a symbolic link"):
        list(make_queue(tmp_path / "out", eve).to_grade())
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir(mode=0o700)
    assert list(make_queue(tmp_path / "out", eve).to_grade()) == []
    assert read(tmp_path / "out/eve/result.json").unreadable == WHY


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_results_directory_writable_by_others_is_rejected(tmp_path: Path, mode: int) -> None:
    out = tmp_path / "the results"
    out.mkdir()
    out.chmod(mode)
    with pytest.raises(CallError, match=r"other users can write there and change results; chmod go-w '.*the results'$"):
        list(make_queue(out, *write_class(tmp_path)).to_grade())
    out.chmod(mode & ~0o022)
    assert len(list(make_queue(out, *write_class(tmp_path / "again")).to_grade())) == 1


def test_only_outdated_katas_are_graded_again(tmp_path: Path) -> None:
    out, (ada,) = tmp_path / "out", write_submissions(tmp_path, LINEAR, "ada")
    both = make_queue(out, ada, katas=("linear", "sgd"))
    (job,) = both.to_grade()
    assert job.reusable == {}
    linear, sgd = (KataResult(name, "done", 12.0, 12.0, digest=both.judges[name]) for name in ("linear", "sgd"))
    hand_in = digest_submission(job.submission.judged)
    before = replace(make_result("why", submission="ada"), hand_in=hand_in, katas=[linear])

    def kept(stored: Result, **changes: Any) -> list[str] | None:
        write(stored, out)
        jobs = list(make_queue(out, ada, **changes).to_grade())
        return [*jobs[0].reusable] if jobs else None

    assert kept(before) is None
    assert kept(replace(before, unreadable="why")) is None
    assert read(out / "ada/result.json") == before
    assert kept(before, katas=("linear", "sgd")) == ["linear"]
    assert kept(replace(before, katas=[linear, sgd])) == ["linear"], "the call does not name sgd"
    assert kept(replace(before, katas=[replace(linear, digest="another")])) == []
    assert kept(replace(before, katas=[replace(linear, status="inconclusive")])) == []
    assert kept(replace(before, hand_in="another")) == []
    assert kept(before, examples=11) == kept(before, seed=1) == kept(before, isolation="none") == []
    assert kept(before, device="cpu", keep="better") is None, "speed is graded later"
    assert kept(before, again=True) == []


OF_BATCH: dict[str, Any] = {"katas": ("get_batch",)}
WARNED: list[str] = []
MADE = make_result("why")
TIMED = replace(MADE, device="cuda", performance=[PerformanceResult("linear_forward", "passed", 5.0, 5.0)])


@pytest.mark.parametrize(
    ("stored", "options", "lost"),
    [
        (MADE, {"katas": ("linear",)}, "get_batch"),
        (MADE, OF_BATCH | {"examples": 9}, "10 examples"),
        (MADE, OF_BATCH | {"seed": 1}, "seed 0"),
        (MADE, OF_BATCH | {"isolation": "none"}, "isolation bwrap"),
        (TIMED, OF_BATCH, "speed on cuda"),
        (TIMED, OF_BATCH | {"device": "cpu"}, "speed on cuda"),
        (TIMED, {"katas": ("linear",), "device": "cuda"}, "get_batch"),
        (MADE, OF_BATCH, ""),
        (MADE, OF_BATCH | {"examples": 11}, ""),
        (MADE, {"katas": ("get_batch", "linear")}, ""),
        (MADE, OF_BATCH | {"isolation": "auto"}, ""),
        (MADE, OF_BATCH | {"device": "cpu"}, ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_call_that_would_lose_results_is_rejected(
    tmp_path: Path, stored: Result, options: dict[str, Any], lost: str
) -> None:
    made = make_queue(tmp_path / "out", *write_submissions(tmp_path, LINEAR, "ada", "ben"), **options)
    write(stored, tmp_path / "out")
    if not lost:
        check_replaced(made.entries, made.options, WARNED.append)
        return
    with pytest.raises(CallError) as refusal:
        check_replaced(made.entries, made.options, WARNED.append)
    assert str(refusal.value) == (
        f"--out {tmp_path}/out: this would overwrite the result of ada and lose {lost}; "
        "choose another DIR, or use --again"
    )
    write(replace(stored, submission="ben"), tmp_path / "out")
    with pytest.raises(CallError, match="the result of ada and 1 more and lose "):
        check_replaced(made.entries, made.options, WARNED.append)


def test_grade_command_refuses_to_lose_results(tmp_path: Path) -> None:
    (ada,) = write_submissions(tmp_path, LINEAR, "ada")
    write(make_result("why"), tmp_path / "out")
    before = (tmp_path / "out/ada/result.json").read_bytes()
    refused = call_grader(*("grade", ada, "--out", tmp_path / "out", "--kata", "linear", "--examples", 10, "--seed", 0))
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "lose get_batch;" in refused.err
    assert (tmp_path / "out/ada/result.json").read_bytes() == before


def test_files_changed_after_testing_are_not_timed(tmp_path: Path) -> None:
    (ada,) = write_submissions(tmp_path, LINEAR, "ada")
    made = make_queue(tmp_path / "out", ada, device="cpu")
    (job,) = made.to_grade()
    write(replace(make_result("why"), hand_in=digest_submission(job.submission.judged)), tmp_path / "out")
    (timed_job,), changed = find_untimed("cpu", made, {"ada"})
    assert (timed_job.files, changed) == (job.submission.files, [])
    (ada / "linear.py").write_text(f"{LINEAR}\n# changed\n")
    assert find_untimed("cpu", made, {"ada"}) == ([], ["ada"])


def test_result_of_earlier_version_is_shown_and_regraded(tmp_path: Path) -> None:
    stored = Path(support.__file__).with_name("stored_result.json").read_bytes()
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada/result.json").write_bytes(stored)
    removed = {"handed_in", "predictions", "fingerprint", "speed_fingerprint", "submitted"}
    assert removed <= json.loads(stored).keys() - set(Result.__struct_fields__)
    found = read(tmp_path / "ada/result.json")
    assert (found.score, found.katas[0].score, found.performance[0].score) == (7, 3, 4)
    done = call_grader("report", tmp_path, "--out", tmp_path / "pages")
    assert (done.code, done.err) == (0, "")
    assert "yours = 2 * expected" in (tmp_path / "pages/ada/feedback.html").read_text()
    (ada,) = write_submissions(tmp_path / "class", LINEAR, "ada")
    graded = {"katas": tuple(kata.kata for kata in found.katas), "examples": found.examples, "device": found.device}
    again, warned = make_queue(tmp_path, ada, **graded), list[str]()
    check_replaced(again.entries, again.options, warned.append)
    assert warned == ["1 stored result of an earlier version of the grader: graded again, once"]
    assert [job.submission.id for job in again.to_grade()] == ["ada"]
