"""Tests of workloads in tables, exports and diffs. Workloads are shown only if a result contains them."""

import csv
import dataclasses
import io
import re
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from rich.console import Console

from grader.commands.diff import Change, compare
from grader.output import gradebook
from grader.output.formats import github, gradescope
from grader.output.formats.gradescope import LiveReport
from grader.output.speed_score import SpeedScore, speed_score
from grader.output.summary import build_class_table
from grader.results import load
from grader.results.result import KataResult, PerformanceResult, Result, write
from grader.tests.support.platforms import (
    parse_gradescope,
    parse_junit,
    remove_code_blocks,
    render_classroom50,
    render_junit,
)
from grader.tests.support.sample_results import (
    HOSTILE,
    make_cpu_results,
    make_result,
    make_result_with_cpu_speed,
    make_result_with_speed,
    make_timed_results,
)
from torchkata.course import Kata, Tiers, course
from torchkata.result import Outcome

WORKLOADS = course().workloads


def test_gradescope_shows_each_workload_as_a_test() -> None:
    report = parse_gradescope(gradescope.render(make_result_with_speed("why")))
    tests = {test["name"]: test for test in report["tests"] if test["tags"] == ["performance"]}
    assert len(tests) == len(WORKLOADS)
    assert {test["visibility"] for test in tests.values()} == {"visible"}
    assert [test["number"] for test in tests.values()] == [f"2.{number}" for number in range(1, 7)]
    forward, adagrad = tests["performance: linear forward"], tests["performance: adagrad step"]
    assert (forward["status"], forward["score"], forward["max_score"]) == ("passed", 5, 5)
    assert (adagrad["status"], adagrad["score"], adagrad["output"]) == ("failed", 0, "why")
    assert report["score"] == sum(test.get("score", 0) for test in report["tests"]) == 3 + 7
    uncounted = tests["performance: get batch throughput"]
    assert uncounted["output"] == "why"
    assert not uncounted.keys() & {"status", "score", "max_score"}, "an uncounted workload has no points"
    ranks = {"linear_forward (share of peak)": 0.74, "cruncher_step (share of peak)": 0.4}
    ranks["sgd_step (share of baseline)"] = 0.6
    assert report["leaderboard"] == [{"name": name, "value": ranks[name], "order": "desc"} for name in ranks]


def test_classroom50_omits_uncounted_workloads() -> None:
    report = render_classroom50(make_result_with_speed())
    lines = {test["test-name"]: test for test in report["tests"] if test["test-name"].startswith("performance: ")}
    assert len(lines) == 5
    line = {"test-name": "performance: sgd step", "passed": True, "score": 2, "max-score": 3}
    assert lines["performance: sgd step"] == line
    assert (report["score"], report["max-score"]) == (3 + 7, 16 + 22)


def test_junit_has_a_suite_of_workloads() -> None:
    suite = parse_junit(render_junit(make_result_with_speed(HOSTILE)))[1]
    assert suite.get("name") == "ada: performance"
    children = [[child.tag for child in case if child.tag != "system-out"] for case in suite.iter("testcase")]
    kinds = [None, "failure", "failure", None, "failure", "error"]
    assert [tags[0] if tags else None for tags in children] == kinds
    names = [str(case.get("name")) for case in suite.iter("testcase")]
    assert names == [f"ada: performance: {name.replace('_', ' ')}" for name in WORKLOADS]
    assert {one.get("name"): one.get("value") for one in suite.iter("property")} == {"score": "7", "max_score": "22"}
    content = render_junit(make_result_with_speed("no device here\nmore")).decode()
    assert '<skipped message="no device here">' in content


def test_github_summary_has_a_speed_table() -> None:
    plain = read_plain_summary(make_result_with_speed())
    assert plain.startswith("## ada: 10 of 38 points\n")
    for line in (
        "| Speed (`performance`) | 7 of 22 | 2 of 5 |",
        "| linear forward | 5 of 5 | 0.74 of the peak | 0.50 | 0.60 |",
        "| train throughput | 0 of 5 | wrong |  |  |",
        "| sgd step | 2 of 3 | 0.60 of the baseline | 0.45 | 0.75 |",
        "| adagrad step | 0 of 4 | crashed |  |  |",
        "<details><summary>performance: 4 not passed</summary>",
    ):
        assert line in plain
    assert "forged" not in plain
    assert github.render_row(make_result_with_speed()) == "| ada | 10 of 38 | 0 of 1 |"
    rehearsal = read_plain_summary(make_result_with_cpu_speed("why"))
    assert rehearsal.startswith("## ada: 3 of 16 points\n")
    for line in (
        "| Speed (`performance`) | a rehearsal without points | 2 of 5 |",
        "| workload | points | reached | lower threshold | upper threshold |",
        "| sgd step | a rehearsal without points | 0.60 of the baseline | 0.45 | 0.75 |",
        "**adagrad step** · crashed · a rehearsal without points",
    ):
        assert line in rehearsal


def test_unknown_workload_is_rejected() -> None:
    made = replace(make_result("why"), performance=[PerformanceResult("flash_attention", "passed", 1, 1)])
    with pytest.raises(ValueError, match="workload flash_attention has changed since this was graded; grade again"):
        gradescope.render(made)


def test_gradescope_shows_pending_and_inconclusive_workloads(tmp_path: Path) -> None:
    waiting = [PerformanceResult(name, "not_graded", message="Not run yet.") for name in WORKLOADS]
    whole = replace(make_result("why"), katas=[], device="cuda")
    live = LiveReport(tmp_path / "results.json", [course().katas["linear"]])
    live.begin(replace(whole, performance=waiting))
    report = parse_gradescope((tmp_path / "results.json").read_bytes())
    outputs = [test["output"] for test in report["tests"] if test["tags"] == ["performance"]]
    assert outputs == ["Not run yet."] * len(WORKLOADS)
    cases: list[tuple[Outcome, str]] = [("not_graded", ""), ("inconclusive", "Some tests could not be run.")]
    for outcome, words in cases:
        made = replace(whole, performance=[PerformanceResult("sgd_step", outcome, 0, 3, "x")])
        assert parse_gradescope(gradescope.render(made))["output"].partition(" This")[0] == words


def test_platforms_show_rehearsals_without_points() -> None:
    made = make_result_with_cpu_speed("why")
    report = parse_gradescope(gradescope.render(made))
    shown = {test["name"]: test for test in report["tests"] if test["tags"] == ["performance"]}
    forward, adagrad = shown["performance: linear forward"], shown["performance: adagrad step"]
    assert (forward["status"], forward["score"], forward["max_score"]) == ("passed", 0, 0)
    assert (adagrad["status"], adagrad["score"], adagrad["max_score"]) == ("failed", 0, 0)
    assert report["score"] == made.score == 3
    lines = render_classroom50(made)
    assert (lines["score"], lines["max-score"]) == (3, 16)
    names = [test["test-name"] for test in lines["tests"]]
    assert "performance: sgd step (a rehearsal without points)" in names
    suite = parse_junit(render_junit(made))[1]
    assert {one.get("name"): one.get("value") for one in suite.iter("property")} == {"score": "0", "max_score": "0"}
    assert [out.text for out in suite.iter("system-out")].count("a rehearsal without points") == 5


def store_results(directory: Path, *results: Result) -> list[Result]:
    """Store results and read them back as the class tables do."""
    for made in results:
        write(made, directory)
    rows, problems = load.read_all(directory, load.drop_details)
    assert problems == []
    return list(rows.values())


def test_gradebook_has_a_column_per_counted_workload(tmp_path: Path) -> None:
    timed = msgspec.structs.replace(make_result_with_speed("why"), environment={"device": "a model"})
    gradebook.write(store_results(tmp_path, timed, make_result("why", submission="ben")), tmp_path)
    ada, ben = csv.DictReader((tmp_path / "gradebook.csv").read_text().splitlines())
    columns = list(ada)
    assert columns[-8:-3] == [name for name in WORKLOADS if name != "get_batch_throughput"]
    assert columns[-3:] == ["device", "findings", "unreadable"]
    assert (ada["device"], ben["device"]) == ("a model", "")
    assert (ada["sgd_step"], ada["adagrad_step"], ben["sgd_step"]) == ("2.0", "0.0", "")
    assert (ada["score"], ada["max_score"]) == ("10.0", "38.0")


def test_gradebook_ignores_rehearsals(tmp_path: Path) -> None:
    written = []
    for folder, made in ((tmp_path / "a", make_result_with_cpu_speed("why")), (tmp_path / "b", make_result("why"))):
        gradebook.write(store_results(folder, made), folder)
        written.append((folder / "gradebook.csv").read_text())
    assert written[0] == written[1]
    header = written[0].replace('"', "").splitlines()[0]
    assert header == "submission,score,max_score,get_batch,get_batch_status,findings,unreadable"


def render_table(results: list[Result], width: int = 100, *more: Kata) -> str:
    file = io.StringIO()
    Console(width=width, file=file).print(build_class_table(results, [*course().choose([], ["core"]), *more]))
    return file.getvalue()


def read_plain_summary(made: Result) -> str:
    """Return the GitHub summary with code blocks and escapes removed."""
    summary = remove_code_blocks(github.render_summary(made)).translate({ord("\xa0"): " "})
    return re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), summary)


def store_speeds(directory: Path, **speeds: list[PerformanceResult]) -> list[Result]:
    whole = make_result("why", kata="checkpoint")
    made = (replace(whole, submission=name, performance=speed) for name, speed in speeds.items())
    return store_results(directory, *made)


def test_class_table_has_one_speed_column(tmp_path: Path) -> None:
    speed = make_timed_results("why")
    none = [PerformanceResult("sgd_step", "not_graded", 0, 3)]
    rows = store_speeds(tmp_path, ada=speed, ben=speed[:1], cyd=speed[5:], dan=none, eve=[])
    lines = render_table(rows).splitlines()
    assert lines[1].rstrip().endswith("checkpoint speed"), "no heading may be cut off"
    assert [line.split()[3:] for line in lines[3:8]] == [["?", "7", "?"], ["?", "5"], ["?", "0", "?"], ["?"], ["?"]]


@pytest.mark.parametrize("width", [70, 80])
def test_class_table_fits_a_narrow_terminal(tmp_path: Path, width: int) -> None:
    most = [KataResult(kata.name, "done", kata.max_score, kata.max_score) for kata in course().choose([], ["core"])]
    whole = replace(make_result("somebody_whose_name_is_long"), katas=most, score=100, max_score=100)
    body, _, legend = render_table(store_results(tmp_path, whole), width).partition("? ")
    cells = [line.split()[1:] for line in body.splitlines() if "100/100" in line]
    assert cells == [["100/100", *(f"{kata.max_score:g}" for kata in most)]]
    assert "…" not in body, "the ellipsis marks a time-out"
    assert "… timed out" in legend


def test_class_table_counts_passed_rehearsals(tmp_path: Path) -> None:
    rows = store_speeds(
        tmp_path, ada=make_cpu_results("why"), ben=make_cpu_results("why")[:1], cyd=make_timed_results("why")[:1]
    )
    shown = render_table(rows)
    cells = [line.split()[3:] for line in shown.splitlines()[3:6]]
    assert cells == [["?", "2", "of", "6", "?"], ["?", "1", "of", "1"], ["?", "5"]]
    assert "a rehearsal without points" in shown
    assert "rehearsal" not in render_table(rows[2:])
    assert "speed" not in render_table([make_result("why")])


def test_class_table_has_a_column_per_track(tmp_path: Path) -> None:
    katas = [KataResult("linear", "done", 12, 12), KataResult("sgd", "crashed", 3, 12)]
    katas += [KataResult("train", "not_started", 0, 13), KataResult("adam", "not_started", 0, 30)]
    rows = store_results(tmp_path, replace(make_result("why"), katas=katas, score=15, max_score=67))
    extension = dataclasses.replace(course().katas["sgd"], name="adam", track="optimizers")
    lines = render_table(rows, 100, extension).splitlines()
    assert lines[0].split() == ["submission", "score", "core", "optimizers"]
    assert lines[2].split()[1:] == ["15/67", "15", "!", "0", "–"]


def test_diff_lists_workloads_like_tests() -> None:
    old = make_result_with_speed("why")
    better = replace(old.performance[3], score=3.0, ratio=0.8)
    faster = replace(old.performance[0], ratio=0.97)
    speed = [faster, *old.performance[1:3], better, *old.performance[4:]]
    new = replace(old, performance=speed)
    change = Change("ada", "performance", 7.0, 8.0, "sgd_step", "passed", "passed")
    assert list(compare("ada", old, new)) == [change], "a different speed with the same points is not a change"
    without = replace(old, performance=[])
    changes = list(compare("ada", without, old))
    assert {(change.points_before, change.points_after) for change in changes} == {(None, 7.0)}
    assert len(changes) == len(WORKLOADS)
    ungraded = replace(old, performance=[PerformanceResult("sgd_step", "not_graded", 0, 3)])
    assert list(compare("ada", without, ungraded)) == [], "a workload that was graded in neither run is not a change"


def test_speed_score_is_mfu_if_known() -> None:
    by_baseline = PerformanceResult("sgd_step", "passed", ratio=0.8, interval=(0.6, 0.9), thresholds=(0.4, 0.6))
    by_peak = replace(by_baseline, mfu=0.4)
    assert speed_score(by_baseline) == SpeedScore("baseline", 0.8, Tiers(0.4, 0.6))
    assert speed_score(by_peak) == SpeedScore("peak", 0.4, Tiers(0.2, 0.3))
    assert speed_score(replace(by_baseline, ratio=None)) is None, "a wrong result has no speed score"
    assert speed_score(PerformanceResult("sgd_step", "crashed")) is None
