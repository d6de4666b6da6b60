"""Tells what is possible now: after a kata, at the end of a track, and at the end of the course."""

from collections.abc import Iterator

from torchkata.course import Kata, course
from torchkata.course.handout import is_self_study
from torchkata.i18n import _
from torchkata.i18n.katas import after_of, ending_of_course, ending_of_track, texts_of_command

from .history import State

CELLS = 20  # length of the bar


def format_bar(state: State) -> str:
    """Return a bar and the number of katas that are done. It is ASCII, so that every terminal can show it."""
    done, count = sum(state.status(name) == "done" for name in course().katas), len(course().katas)
    return f"[{'#' * (CELLS * done // count):.<{CELLS}}] {done}/{count}"


def describe_kata(kata: Kata, state: State) -> Iterator[str]:
    """Yield lines about what a finished kata makes possible, and what its track does if that is finished, too."""
    yield (
        _("Done. You can now {after}.", after=after_of(kata)) if kata.after else _("Done. For the next kata: kata next")
    )
    track = course().tracks[kata.track]
    katas = [each.name for each in course().katas.values() if each.track == kata.track]
    if track.ending and all(state.status(name) == "done" for name in katas):
        yield ending_of_track(track)
    offers = [*offer_command(kata)]
    if is_self_study(course().root) or course().solution(kata.name).is_file():
        offers.append(_("compare: kata solution {kata} --others", kata=kata.name))
    yield "  " + "   ".join([*offers, _("go on: kata next")])


def offer_command(kata: Kata) -> Iterator[str]:
    """Yield the invitation to the command that the kata adds, if any."""
    if invitation := texts_of_command(kata).get("invitation"):
        yield invitation


def describe_end(state: State) -> Iterator[str]:
    """Yield the ending of the course: what the student has done, what it is good for, and what it makes possible."""
    tests, runs = sum(run.passed for run in state.runs.values()), sum(run.number for run in state.runs.values())
    longest = max(state.runs, key=lambda name: state.runs[name].number)
    values = {"tests": tests, "runs": runs, "kata": longest, "most": state.runs[longest].number}
    yield _(
        "All katas are done: {katas}. Tests that pass: {tests}. You ran {kata} most often: {most} of {runs} times.",
        katas=len(state.runs),
        **values,
    )
    if ending := ending_of_course():
        yield from ("", ending, "")
    offers = [offer for kata in course().katas.values() for offer in offer_command(kata)]
    if not is_self_study(course().root):
        offers.append(_("hand in: kata export"))
    yield from (f"  {offer}" for offer in offers)
