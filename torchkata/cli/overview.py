"""`kata`: each track with its katas as they last ended, and the next step."""

from ..course import Kata, course
from ..languages import padded, words
from ..languages.katas import about, title_of, title_of_track
from ..state import State
from .terminal import paint, say


def show(state: State) -> None:
    """Print all tracks, then the next step."""
    for track in course().tracks.values():
        katas = [kata for kata in course().katas.values() if kata.track == track.name]
        if katas:
            done = sum(state.status(kata.name) == "done" for kata in katas)
            print(paint(words("track", title=title_of_track(track), done=done, all=len(katas)), "bold"))
            for kata in katas:
                print(row(kata, state))
            print()
    show_next(state)


def row(kata: Kata, state: State) -> str:
    """One kata: its last outcome, and whether that still speaks of the files as they are."""
    status = state.status(kata.name)
    passed = state.runs[kata.name].passed if kata.name in state.runs else 0
    width = max(map(len, course().katas)) + 2
    word = paint(padded(words(f"status.{status}"), 13), status)
    old = words("old") if state.is_old(kata.name) else ""
    return f"  {kata.name:<{width}}{word}{passed:>3}/{len(kata.points)}{old}"


def show_next(state: State) -> None:
    """Print what to do now."""
    kata = state.next()
    if kata is None:
        say("all_done")
    else:
        say("next", title=title_of(kata), kata=kata.name)
        for name, task in about(kata).items():
            say("about", name=name, task=task)
        say("commands")
