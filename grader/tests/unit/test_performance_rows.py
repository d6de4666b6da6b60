"""Workloads in tables, exports and diffs: beside the tests where a result has them, nowhere where it has none."""

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from grader.commands.diff import Change, compare
from grader.output import gradebook
from grader.output.exporter import Stored
from grader.output.formats import classroom50, github, gradescope, junit
from grader.output.live import LiveReport
from grader.output.speed_score import SpeedScore, speed_score
from grader.output.table import build_class_table
from grader.results import load
from grader.results.result import KataResult, PerformanceResult, Result, write
from grader.tests.support.made_results import (
    HOSTILE,
    rehearsed,
    result,
    result_with_rehearsal,
    result_with_speed,
    timed,
)
from grader.tests.support.platforms import (
    AT,
    RUNNER,
    for_classroom50,
    for_gradescope,
    for_junit,
    outside_fences,
)
from torchkata.course import Tiers, course
from torchkata.i18n import class_words
from torchkata.result import Outcome

WORKLOADS = course().workloads


def test_gradescope_has_a_visible_test_for_each_workload() -> None:
    report = for_gradescope(gradescope.render(result_with_speed("why")))
    tests = {test["name"]: test for test in report["tests"] if test["tags"] == ["performance"]}
    assert len(tests) == len(WORKLOADS)
    assert {test["visibility"] for test in tests.values()} == {"visible"}
    assert [test["number"] for test in tests.values()] == [f"2.{number}" for number in range(1, 9)]
    forward, adagrad = tests["performance: linear forward"], tests["performance: adagrad step"]
    assert (forward["status"], forward["score"], forward["max_score"]) == ("passed", 5, 5)
    assert (adagrad["status"], adagrad["score"], adagrad["output"]) == ("failed", 0, "why")
    assert report["score"] == sum(test.get("score", 0) for test in report["tests"]) == 3 + 8
    for name in ("performance: get batch throughput", "performance: peak memory"):
        assert tests[name]["output"] == "why"
        assert not tests[name].keys() & {"status", "score", "max_score"}, "it does not count"


def test_a_missing_device_is_not_shown_as_an_inconclusive_grading() -> None:
    whole = msgspec.structs.replace(result("why"), katas=[], device="cuda")
    cases: list[tuple[Outcome, str]] = [("not_graded", ""), ("inconclusive", class_words("feedback.unsure"))]
    for outcome, words in cases:
        made = msgspec.structs.replace(whole, performance=[PerformanceResult("sgd_step", outcome, 0, 3, "x")])
        assert for_gradescope(gradescope.render(made))["output"] == words


def test_the_leaderboard_ranks_shares_of_right_results_alone() -> None:
    assert for_gradescope(gradescope.render(result_with_speed()))["leaderboard"] == [
        {"name": "linear_forward (share of peak)", "value": 0.74, "order": "desc"},
        {"name": "cruncher_step (share of peak)", "value": 0.4, "order": "desc"},
        {"name": "sgd_step (share of baseline)", "value": 0.6, "order": "desc"},
    ]


def test_classroom50_has_no_line_for_what_does_not_count() -> None:
    report = for_classroom50(result_with_speed())
    lines = {test["test-name"]: test for test in report["tests"] if test["test-name"].startswith("performance: ")}
    assert len(lines) == 6
    assert lines["performance: sgd step"] == {
        "test-name": "performance: sgd step",
        "passed": True,
        "score": 2,
        "max-score": 3,
    }
    assert (report["score"], report["max-score"]) == (3 + 8, 16 + 21)


def test_junit_has_a_suite_for_the_workloads() -> None:
    suite = for_junit(junit.render([Stored(result_with_speed(HOSTILE), AT)], hostname="here"))[1]
    assert suite.get("name") == "ada: performance"
    kinds = {
        str(case.get("name")).removeprefix("ada: performance: "): next(
            (child for child in case if child.tag != "system-out"), None
        )
        for case in suite.iter("testcase")
    }
    assert {name: None if kind is None else kind.tag for name, kind in kinds.items()} == {
        "linear forward": None,
        "cruncher step": "failure",
        "train throughput": "failure",
        "sgd step": None,
        "adagrad step": "failure",
        "get batch throughput": "error",
        "no hidden sync": None,
        "peak memory": "skipped",
    }
    assert {one.get("name"): one.get("value") for one in suite.iter("property")} == {"score": "8", "max_score": "21"}
    content = junit.render([Stored(result_with_speed("no device here\nmore"), AT)], hostname="here").decode()
    assert '<skipped message="no device here">' in content


def test_the_github_summary_has_a_table_of_shares() -> None:
    summary = outside_fences(github.render_summary(result_with_speed())).translate({ord("\xa0"): " "})
    plain = re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), summary)
    assert plain.startswith("## ada: 11 of 37 points\n")
    assert "| Speed (`performance`) | 8 of 21 | 3 of 6 |" in plain
    assert "| linear forward | 5 of 5 | 0.74 of the peak | 0.50 | 0.60 |" in plain
    assert "| train throughput | 0 of 4 | wrong |  |  |" in plain
    assert "| sgd step | 2 of 3 | 0.60 of the baseline | 0.45 | 0.75 |" in plain
    assert "| adagrad step | 0 of 3 | crashed |  |  |" in plain
    assert "<details><summary>performance: 5 not passed</summary>" in summary
    assert "forged" not in summary
    assert github.render_class([result_with_speed()]).splitlines()[2] == "| ada | 11 of 37 | 0 of 1 |"


def test_the_annotation_of_workloads_names_no_file() -> None:
    line = github.list_annotations(result_with_speed(HOSTILE))[1]
    assert line.startswith("::error title=performance%3A cruncher step::linear · Linear(x)")
    assert "\n" not in line
    assert line.endswith("(and 4 more of performance)")


def test_a_workload_that_the_course_does_not_have_is_refused() -> None:
    made = msgspec.structs.replace(result("why"), performance=[PerformanceResult("flash_attention", "passed", 1, 1)])
    with pytest.raises(ValueError, match="workload flash_attention has changed since this was graded; grade again"):
        gradescope.render(made)


def test_the_gradescope_file_shows_workloads_while_tests_still_run(tmp_path: Path) -> None:
    waiting = [PerformanceResult(name, "not_graded", message="Not run yet.") for name in WORKLOADS]
    live = LiveReport(tmp_path / "results.json", [course().katas["linear"]])
    live.begin(msgspec.structs.replace(result("why"), katas=[], performance=waiting, device="cuda"))
    report = for_gradescope((tmp_path / "results.json").read_bytes())
    outputs = [test["output"] for test in report["tests"] if test["tags"] == ["performance"]]
    assert outputs == ["Not run yet."] * len(WORKLOADS)


def test_no_export_mentions_workloads_where_a_result_has_none() -> None:
    made = result("why")
    contents = [
        gradescope.render(made),
        classroom50.render(made, classroom50.collect_fields({}, RUNNER), AT),
        junit.render([Stored(made, AT)], hostname="here"),
        github.render_summary(made).encode(),
        "\n".join(github.list_annotations(made)).encode(),
    ]
    for content in contents:
        assert not [word for word in (b"performance", b"leaderboard", b"Speed") if word in content]


def test_a_rehearsal_earns_nothing_on_any_platform_and_says_so() -> None:
    made = result_with_rehearsal("why")
    report = for_gradescope(gradescope.render(made))
    shown = {test["name"]: test for test in report["tests"] if test["tags"] == ["performance"]}
    forward, adagrad = shown["performance: linear forward"], shown["performance: adagrad step"]
    assert (forward["status"], forward["score"], forward["max_score"]) == ("passed", 0, 0)
    assert (adagrad["status"], adagrad["score"], adagrad["max_score"]) == ("failed", 0, 0)
    assert report["score"] == made.score == 3
    lines = for_classroom50(made)
    assert (lines["score"], lines["max-score"]) == (3, 16)
    names = [test["test-name"] for test in lines["tests"]]
    assert "performance: sgd step (a rehearsal, no points)" in names
    suite = for_junit(junit.render([Stored(made, AT)], hostname="here"))[1]
    assert {one.get("name"): one.get("value") for one in suite.iter("property")} == {"score": "0", "max_score": "0"}
    assert [out.text for out in suite.iter("system-out")].count("a rehearsal, no points") == 6


def test_the_github_summary_of_a_rehearsal_shows_no_points_for_speed() -> None:
    summary = outside_fences(github.render_summary(result_with_rehearsal("why"))).translate({ord("\xa0"): " "})
    plain = re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), summary)
    assert plain.startswith("## ada: 3 of 16 points\n")
    assert "| Speed (`performance`) | a rehearsal, no points | 3 of 6 |" in plain
    assert "| workload | points | reached | passed from | all reached from |" in plain
    assert "| sgd step | a rehearsal, no points | 0.60 of the baseline | 0.45 | 0.75 |" in plain
    assert "**adagrad step** · crashed · a rehearsal, no points" in plain


def rows_of(directory: Path, *results: Result) -> list[Result]:
    """These results as the class tables read them."""
    for made in results:
        write(made, directory)
    rows, problems = load.read_all(directory, load.drop_details)
    assert problems == []
    return list(rows.values())


def test_the_gradebook_has_a_column_for_each_workload_that_counts_for_someone(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, result_with_speed("why"), result("why", submission="ben"))
    gradebook.write(rows, tmp_path)
    ada, ben = csv.DictReader((tmp_path / "gradebook.csv").read_text().splitlines())
    columns = list(ada)
    assert columns[-8:-2] == [name for name in WORKLOADS if name not in ("get_batch_throughput", "peak_memory")]
    assert columns[-2:] == ["findings", "unreadable"]
    assert (ada["sgd_step"], ada["adagrad_step"], ben["sgd_step"]) == ("2.0", "0.0", "")
    assert (ada["score"], ada["max_score"]) == ("11.0", "37.0")


def test_a_rehearsal_has_no_column_in_the_gradebook(tmp_path: Path) -> None:
    without, speed = tmp_path / "without", tmp_path / "speed"
    gradebook.write(rows_of(without, result("why")), without)
    gradebook.write(rows_of(speed, result_with_rehearsal("why")), speed)
    written = (speed / "gradebook.csv").read_text()
    assert written == (without / "gradebook.csv").read_text()
    assert written.replace('"', "").startswith(
        "submission,score,max_score,get_batch,get_batch_status,findings,unreadable\n"
    )


def table(rows: list[Result], width: int = 100) -> str:
    """The class on so many columns."""
    out = Console(width=width, file=io.StringIO())
    out.print(build_class_table(rows, course().choose([], ["core"])))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_the_class_table_has_one_column_for_speed(tmp_path: Path) -> None:
    passed, unsure, absent = timed("why")[:1], timed("why")[5:6], timed("why")[7:]
    made = {"ada": timed("why"), "ben": passed, "cyd": unsure, "dan": absent, "eve": []}
    whole = result("why", kata="checkpoint")
    rows = rows_of(
        tmp_path,
        *(msgspec.structs.replace(whole, submission=name, performance=speed) for name, speed in made.items()),
    )
    lines = table(rows).splitlines()
    assert lines[1].rstrip().endswith("checkpoint speed"), "no heading is cut off"
    assert [line.split()[3:] for line in lines[3:8]] == [["?", "8", "?"], ["?", "5"], ["?", "0", "?"], ["?"], ["?"]]


@pytest.mark.parametrize("width", [70, 80])
def test_no_number_of_the_class_table_is_cut_on_a_narrow_terminal(tmp_path: Path, width: int) -> None:
    most = [KataResult(kata.name, "done", kata.max_score, kata.max_score) for kata in course().choose([], ["core"])]
    whole = msgspec.structs.replace(result("somebody_whose_name_is_long"), katas=most, score=100, max_score=100)
    body, _, legend = table(rows_of(tmp_path, whole), width).partition("? ")
    assert [line.split()[1:] for line in body.splitlines() if "100/100" in line] == [
        ["100/100", *(f"{kata.max_score:g}" for kata in most)]
    ]
    assert "…" not in body, "that is how a time-out is marked"
    assert "… timed out" in legend


def test_the_class_table_counts_what_passed_in_a_rehearsal(tmp_path: Path) -> None:
    whole = result("why", kata="checkpoint")
    made = {"ada": rehearsed("why"), "ben": rehearsed("why")[:1], "cyd": timed("why")[:1]}
    rows = rows_of(
        tmp_path,
        *(msgspec.structs.replace(whole, submission=name, performance=speed) for name, speed in made.items()),
    )
    shown = table(rows)
    assert [line.split()[3:] for line in shown.splitlines()[3:6]] == [
        ["?", "3", "of", "7", "?"],
        ["?", "1", "of", "1"],
        ["?", "5"],
    ]
    assert "a rehearsal, no points" in shown
    assert "rehearsal" not in table(rows[2:])
    assert "speed" not in table([result("why")])


def test_a_class_table_of_several_tracks_has_a_column_for_each(tmp_path: Path) -> None:
    katas = [KataResult("linear", "done", 12, 12), KataResult("sgd", "crashed", 3, 12)]
    katas += [KataResult("train", "not_started", 0, 13), KataResult("adam", "not_started", 0, 30)]
    rows = rows_of(tmp_path, msgspec.structs.replace(result("why"), katas=katas, score=15, max_score=67))
    out = Console(width=100, file=io.StringIO())
    extension = replace(course().katas["sgd"], name="adam", track="optimizers")
    out.print(build_class_table(rows, [*course().choose([], ["core"]), extension]))
    assert isinstance(out.file, io.StringIO)
    lines = out.file.getvalue().splitlines()
    assert lines[0].split() == ["submission", "score", "core", "optimizers"]
    assert lines[2].split()[1:] == ["15/67", "15", "!", "0", "–"]


def test_a_diff_names_workloads_like_tests() -> None:
    old = result_with_speed("why")
    better = msgspec.structs.replace(old.performance[3], score=3.0, ratio=0.8)
    faster = msgspec.structs.replace(old.performance[0], ratio=0.97)
    speed = [faster, *old.performance[1:3], better, *old.performance[4:]]
    new = msgspec.structs.replace(old, performance=speed)
    assert list(compare("ada", old, new)) == [
        Change("ada", "performance", 8.0, 9.0, "sgd_step", "passed", "passed"),
    ], "another share that earns the same is no change"
    without = msgspec.structs.replace(old, performance=[])
    changes = list(compare("ada", without, old))
    assert {(change.points_before, change.points_after) for change in changes} == {(None, 8.0)}
    assert len(changes) == len(WORKLOADS) - 1, "not graded before, not graded after"


def test_a_speed_score_is_a_share_of_the_peak_where_it_is_known() -> None:
    by_baseline = PerformanceResult("sgd_step", "passed", ratio=0.8, interval=(0.6, 0.9), thresholds=(0.4, 0.6))
    by_peak = msgspec.structs.replace(by_baseline, mfu=0.4)
    assert speed_score(by_baseline) == SpeedScore("baseline", 0.8, (0.6, 0.9), Tiers(0.4, 0.6))
    assert speed_score(by_peak) == SpeedScore("peak", 0.4, (0.3, 0.45), Tiers(0.2, 0.3))
    assert speed_score(msgspec.structs.replace(by_baseline, ratio=None)) is None, "a wrong result"
    assert speed_score(PerformanceResult("sgd_step", "crashed")) is None
