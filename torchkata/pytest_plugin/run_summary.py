"""Prints the results of a run: the failures of each kata, the table of katas, and the next step."""

import math
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pytest

from torchkata.course import Kata, course
from torchkata.course.near_misses import list_near_misses
from torchkata.course.predictions import has_questions
from torchkata.i18n import _, pad, translate, wrap
from torchkata.i18n.katas import describe_effort, score_of, title_of, title_of_track
from torchkata.result import FAILED, LOOK_OF, LOOKS, Status, TestResult, get_status

from .failure_groups import describe_hidden, group_failures, render_block
from .history import State, find_next, load_state
from .links import add_link
from .rewards import describe_end, describe_kata, format_bar
from .run_state import get_result

MAX_SHOWN = 3  # maximum number of failures shown for a kata, since fixing one often fixes others
TABLE_LINES = 10  # lines around the failures of a single kata: progress above, and the table and next step below
WIDTH = 99  # maximum number of columns
GREY = {"grey": "light"}  # the name that pytest uses for the color


def write_failures(
    out: pytest.TerminalReporter, kata: Kata, results: list[TestResult], most: int | None, early: str = ""
) -> None:
    """Print the failures of a kata, one block for each cause. Refer to the message that was shown `early`."""
    if get_status([result.outcome for result in results]) in ("not_started", "done"):
        return
    width = find_width(out)
    room = shutil.get_terminal_size().lines - TABLE_LINES if out.isatty and most is not None else math.inf
    started = [result for result in results if result.outcome != "not_started"]
    blocks = group_failures(started if any(result.outcome != "passed" for result in started) else results)
    count_apart(out, [test for block in blocks if block.waits for test in block.tests])
    shown = 0
    for above, block in zip([None, *blocks], blocks[:most], strict=False):
        lines = [[*wrap(line, width)] for line in render_block(kata, block, above)]
        room -= 1 + sum(map(len, lines))
        if shown and room < 0:  # failures that scroll off the screen are not read
            break
        shown += 1
        if early and block.tests[0].message == early:  # it still takes its lines, or it would scroll off the screen
            lines = [[*wrap(line, width)] for line in render_block(kata, block, is_repeated=True)]
        out.write_line("")
        for place, parts in enumerate(lines):
            for part in parts:
                out.write_line(add_place_link(out, part, block.tests[0]), bold=place == 0)
    if hidden := sum(len(block.tests) for block in blocks[shown:]):
        out.write_line("\n" + describe_hidden(kata, hidden))


def count_apart(out: pytest.TerminalReporter, waiting: Collection[TestResult]) -> None:
    """Count tests that wait for another failure as waiting instead of wrong in pytest's last line."""
    wrong = out.stats.get(translate(LOOKS["failed"].word), []) if waiting else []
    if found := [report for report in wrong if get_result(report) in waiting]:
        wrong[:] = [report for report in wrong if report not in found]
        out.stats.setdefault(_("waiting"), []).extend(found)


def find_width(out: pytest.TerminalReporter) -> int:
    """Return the maximum number of columns of a line."""
    return min(WIDTH, shutil.get_terminal_size().columns) if out.isatty else WIDTH


def add_place_link(out: pytest.TerminalReporter, text: str, result: TestResult) -> str:
    """Turn the file name in a line of a failure report into a link to the student's file."""
    if not result.file or out.config.getoption("impl") != "assignment":
        return text
    place = _("{file}, line {line}", file=result.file, line=result.line) if result.line else result.file
    return add_link(text, place, course().assignment / result.file, is_terminal=bool(out.isatty))


def write_table(out: pytest.TerminalReporter, results: dict[str, list[TestResult]]) -> None:
    """Print one line for each tested kata, grouped by track, then suggest the next kata and commands that help."""
    katas = course().choose(list(results))
    width = max(len(kata.name) for kata in katas) + 2
    state = load_state()
    left: set[str] = set()
    failed: set[str] = set()
    for before, kata in zip([None, *katas], katas, strict=False):
        if before is None or before.track != kata.track:
            out.write_line(f"\n{title_of_track(course().tracks[kata.track])}")
        outcomes = [result.outcome for result in results.get(kata.name, [])]
        status = judge_kata(kata.name, results.get(kata.name, []))
        partly = status == "done" and len(outcomes) < len(kata.points)
        out.write(f"  {kata.name:<{width}}")
        color = "grey" if partly else LOOK_OF[status].color
        word = _("partly run") if partly else translate(LOOK_OF[status].word)
        out.write(pad(word, 13), **{GREY.get(color, color): True})
        points = sum_points(kata.name, results.get(kata.name, []))
        row = score_of(kata, outcomes.count("passed"), points) + describe_prerequisites(kata, results, state)
        if status == "not_started" and (names := " or ".join(list_near_misses(kata.name))):
            row += f"   ({_('there is {names}: is it meant to be {file}?', file=f'{kata.name}.py', names=names)})"
        out.write_line("\n".join(wrap(" " * (width + 15) + row, find_width(out)))[width + 15 :])
        if partly or status != "done":
            left |= {kata.name, *find_open_causes(kata, results, state)}
        if LOOK_OF[status].color == "red":
            failed.add(kata.name)
    config = out.config
    if config.getoption("--hypothesis-profile") == "grade":
        earned = sum(sum_points(name, ended) for name, ended in results.items())
        total = sum(kata.max_score for kata in katas)
        out.write_line("\n" + _("{earned} of {most} points", earned=f"{earned:g}", most=f"{total:g}"), bold=True)
    if config.getoption("watched") and failed:
        return
    following = find_next(left, failed)
    if following is None:
        write_rewards(out, katas, state)
        return
    if len(katas) == 1 and (effort := describe_effort(katas[0])):
        out.write_line("\n".join(wrap(f"  {effort}", find_width(out), hanging=2)))
    user = next((name for name in results if name in course().dependents(following.name)), "")
    line = _(
        "next: {title} — assignment/{kata}.py ({user} builds on it), then: kata next {kata}"
        if following.name not in results and user
        else "next: {title} — assignment/{kata}.py, then: kata next {kata}",
        title=title_of(following),
        kata=following.name,
        user=user,
    )
    file = course().stub(following.name)
    out.write_line("")
    for part in wrap(line, find_width(out), hanging=0):
        out.write_line(add_link(part, f"assignment/{file.name}", file, is_terminal=bool(out.isatty)))
    if failed:
        out.write_line(_("stuck? kata about {kata}, kata hint {kata}", kata=following.name))
    elif state.status(following.name) in ("not_graded", "not_started"):
        out.write_line(_("before you write it: kata about {kata}", kata=following.name))
        if has_questions(following.name):
            out.write_line(_("  before you run its tests: kata predict {kata}", kata=following.name))


def write_rewards(out: pytest.TerminalReporter, katas: Sequence[Kata], state: State) -> None:
    """Print what is possible now that these katas are done."""
    if state.next() is None:
        lines = [*describe_end(state)]
    elif len(katas) == 1:
        lines = [*describe_kata(katas[0], state)]
    else:
        lines = [_("All done." if len(katas) == len(course().katas) else "Done. For the next kata: kata next")]
    for line in ("", *lines, format_bar(state)):
        out.write_line("\n".join(wrap(line, find_width(out), hanging=0)))


def judge_kata(kata: str, results: Sequence[TestResult]) -> Status:
    """Return the status of a kata. One that is written, but builds on katas that are not, has not run."""
    status = get_status([result.outcome for result in results])
    waits = status == "not_started" and all(result.cause != f"{kata}.py" for result in results)
    return "not_graded" if waits else status


def sum_points(kata: str, results: Sequence[TestResult]) -> float:
    """Return the points of all tests that passed."""
    return sum(course().katas[kata].points[result.name] for result in results if result.outcome == "passed")


def find_open_causes(kata: Kata, results: Mapping[str, Sequence[TestResult]], state: State) -> set[str]:
    """Return the unfinished prerequisites that caused tests of this kata to fail."""
    files = {Path(result.file).stem for result in results.get(kata.name, [])}
    return {name for name in course().prerequisites(kata.name) if name in files and not state.is_done(name)}


def describe_prerequisites(kata: Kata, results: Mapping[str, Sequence[TestResult]], state: State) -> str:
    """Return a remark that names what a kata builds on and what has failed or is unwritten, or "" if there is nothing.

    For a kata that is not started itself, the remark names the first of the katas that it builds on.
    """
    ended = results.get(kata.name, [])
    causes = {result.cause.removesuffix(".py") for result in ended if result.outcome == "not_started"}
    broken = [] if ended else find_broken_prerequisites(kata.name, results)
    needed = [name for name in course().prerequisites(kata.name) if name in causes or name in broken]
    if causes == {kata.name}:
        needed = [name for name in kata.builds_on if not state.is_done(name)][:1]
    return _("   (builds on {katas}: do that first)", katas=", ".join(needed)) if needed else ""


def find_broken_prerequisites(kata: str, results: Mapping[str, Sequence[TestResult]]) -> list[str]:
    """Return the prerequisites of a kata that have failed in this run."""
    names = course().prerequisites(kata)
    return [name for name in names if any(result.outcome in FAILED for result in results.get(name, ()))]
