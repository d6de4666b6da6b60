"""Shortens the names of submissions for display."""

from collections import Counter
from collections.abc import Mapping, Sequence

from grader.results.ids import CANVAS, MOODLE


def shorten_names(submissions: Sequence[str], known: Mapping[str, str] = {}) -> dict[str, str]:
    """Return the name to display for each submission: the `known` one, or the name without what a platform adds to it.

    A name that several submissions share is not shortened.
    """
    shorter = {one: known.get(one) or strip_platform(one) for one in submissions}
    shared = Counter(shorter.values())
    return {one: name if shared[name] == 1 else one for one, name in shorter.items()}


def strip_platform(submission: str) -> str:
    """Return the name of a student or group without the ids that Canvas or Moodle adds to it."""
    found = MOODLE.fullmatch(submission) or CANVAS.fullmatch(submission)
    return found["name"] if found else submission
