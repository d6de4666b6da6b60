"""The marks and the words of how something ended: told apart without colour."""

from grader.output.table import MARKS
from torchkata.explain import Outcome, Status

SYMBOLS: dict[Status, str] = {status: mark for status, (mark, _, _) in MARKS.items()} | {
    "done": "✓",
    "not_started": "–",
    "not_graded": "·",
}
STATUSES: dict[Status, str] = {status: words for status, (_, words, _) in MARKS.items()}
STATUS_OF: dict[Outcome, Status] = {
    "passed": "done",
    "failed": "wrong",
    "crashed": "crashed",
    "timed_out": "timed_out",
    "not_started": "not_started",
    "inconclusive": "inconclusive",
    "not_graded": "not_graded",
}
OUTCOMES: dict[Outcome, str] = {outcome: STATUSES[status] for outcome, status in STATUS_OF.items()} | {
    "passed": "passed"
}
