"""What the corpus admits that something here does not stop: then the instructor is told to look at the source."""

from collections.abc import Sequence

from grader.pipeline.remarks import look_through
from grader.pipeline.submission import Submission
from grader.proof.attacks import Attack


def overlooked(admitted: Sequence[Attack]) -> list[str]:
    """A line for each of these attacks whose code gets no remark; none of its own, where nothing stops it at all."""
    lines = []
    for attack in admitted:
        own = texts_on(attack.hostile.submission) - texts_on(attack.base())
        if not own:
            lines.append(f"attack {attack.title}: no remark on its code")
        elif attack.entry.open and not own - texts_on(attack.control.submission):
            lines.append(f"attack {attack.title}: no remark tells it from its honest control")
    return lines


def texts_on(submission: Submission | None) -> set[str]:
    """The texts of all remarks on a submission; none for an archive that was refused."""
    return {remark.text for remark in look_through(submission.files)} if submission else set()
