"""`kata` without arguments: prints the status of all katas and the next step."""

import sys
from collections.abc import Sequence

from torchkata.course import Kata, Track, course
from torchkata.course.predictions import has_questions
from torchkata.i18n import _, pad, translate
from torchkata.i18n.katas import about, describe_effort, effort_of, score_of, title_of, title_of_track, title_of_way
from torchkata.pytest_plugin.history import State
from torchkata.pytest_plugin.links import add_link
from torchkata.pytest_plugin.rewards import describe_end, format_bar
from torchkata.result import LOOK_OF

from .terminal import paint, print_wrapped, say, wrap_text


def show(state: State) -> None:
    """Print all tracks, followed by the next step."""
    for track in course().tracks.values():
        katas = [kata for kata in course().katas.values() if kata.track == track.name]
        if katas:
            print(paint(format_heading(track, katas, state), "bold"))
            for kata in katas:
                print(format_row(kata, state))
            print()
    show_ways(state)
    print(format_bar(state))
    show_next(state)


def show_ways(state: State) -> None:
    """Print the recommended ways through the course, each with its katas that are not done yet."""
    for number, (title, names) in enumerate(course().ways.items()):
        if number == 0:
            print(paint(_("Ways through the course"), "bold"))
        katas = course().with_prerequisites(names)
        done = sum(state.status(kata.name) == "done" for kata in katas)
        heading = _("{title}   {done} of {all} done", title=title_of_way(title), done=done, all=len(katas))
        heading += _(", about {hours} h", hours=f"{sum(kata.hours for kata in katas):g}")
        print(f"  {heading}")
        print_wrapped(f"    {', '.join(kata.name for kata in katas)}", 4)
    if course().ways:
        print()


def format_heading(track: Track, katas: Sequence[Kata], state: State) -> str:
    """Return the heading of a track: how many katas are done, how many hours it takes, and whether it is optional."""
    done = sum(state.status(kata.name) == "done" for kata in katas)
    heading = _("{title}   {done} of {all} done", title=title_of_track(track), done=done, all=len(katas))
    if hours := sum(kata.hours for kata in katas):
        heading += _(", about {hours} h", hours=f"{hours:g}")
    return heading if track.name in course().graded else heading + _(", optional")


def format_row(kata: Kata, state: State) -> str:
    """Return the line for a kata: its last outcome, and its effort or that its files have changed since then."""
    status = state.status(kata.name)
    run = state.runs.get(kata.name)
    width = max(map(len, course().katas)) + 1
    word = paint(pad(translate(LOOK_OF[status].word), 13), status)
    score = score_of(kata, run.passed, run.earned) if run else score_of(kata, 0, 0)
    more = _("  may be outdated") if state.is_old(kata.name) else f" {effort_of(kata)}"
    return f"  {kata.name:<{width}}{word}{pad(score, 23)}{more}".rstrip()


def show_next(state: State) -> None:
    """Print the next kata to work on."""
    kata = state.next()
    if kata is None:
        print_wrapped("\n".join(describe_end(state)))
    else:
        text = _("next: {title} — assignment/{kata}.py, then: kata next", title=title_of(kata), kata=kata.name)
        file = course().stub(kata.name)
        for line in wrap_text(text):
            print(add_link(line, f"assignment/{file.name}", file, is_terminal=sys.stdout.isatty()), flush=True)
        if effort := describe_effort(kata):
            print_wrapped(effort)
        for name, task in about(kata).items():
            print_wrapped(_("  {name}: {task}", name=name, task=task), 4)
        if state.status(kata.name) in ("not_graded", "not_started"):
            say("before you write it: kata about {kata}", kata=kata.name)
            if has_questions(kata.name):
                say("  before you run its tests: kata predict {kata}", kata=kata.name)
        print_wrapped(_("stuck? kata about, kata hint   editing: kata watch   to hand in: kata export"))
