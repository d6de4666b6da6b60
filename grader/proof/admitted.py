"""What the corpus admits that something here does not stop: then the instructor is told to look at the source."""

from collections.abc import Sequence
from functools import cache

from grader.pipeline.lint import findings_of
from grader.pipeline.submission import Submission
from grader.proof.attacks import Attack


def overlooked(admitted: Sequence[Attack]) -> list[str]:
    """A line for each of these attacks in whose source nothing is found: where nothing stops it, nothing of its own."""
    lines = []
    for attack in admitted:
        own = texts_on(attack.hostile) - texts_on(attack.base())
        if not own:
            lines.append(f"attack {attack.title}: nothing is found in its source")
        elif attack.entry.open and not own - texts_on(attack.control):
            lines.append(f"attack {attack.title}: nothing that is found tells it from its honest control")
    return lines


def texts_on(submission: Submission) -> set[str]:
    """Return the texts of what is found in a submission."""
    return set().union(*(texts_in(*file) for file in submission.files.items()))


@cache  # most files are our solution, in every attack
def texts_in(file: str, source: bytes) -> frozenset[str]:
    """The texts of what is found in one file."""
    return frozenset(finding.text for finding in findings_of(file, source))
