"""The oracle of NAME."""

from collections import deque
from collections.abc import Sequence


def answer_calls(size: int, calls: Sequence[Sequence[int | str]]) -> list[list[int] | None]:
    """Return the answers to these calls of a new CLASS(size), in order."""
    kept: deque[int] = deque(maxlen=size)
    answers: list[list[int] | None] = []
    for method, *items in calls:
        kept.extend(item for item in items if isinstance(item, int))
        answers.append(list(kept) if method == "items" else None)
    return answers
