"""Keeps the examples that a test goes through, and answers a second time as the student did."""

import functools
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis.errors import HypothesisException

from torchkata.compat.hypothesis_internals import draw_without_engine
from torchkata.seam.failures import AbortTest, Crashed
from torchkata.seam.reply import Probe
from torchkata.seam.student import Call, Student
from torchkata.seam.values import Plain, is_array, is_tensor

MAX_EXAMPLES = 10  # examples kept from the first failures on, and up to the end
MAX_BYTES = 2**22  # bytes in the answers of one that is kept


@dataclass(frozen=True)
class Example:
    """What a test's body was given, and what the student answered, in order."""

    given: dict[str, Any]
    answers: list[Plain] = field(default_factory=list)


class NotRecorded(Exception):
    """A call that was not made when the example ran."""

    def __init__(self, probe: Probe, args: tuple[object, ...]) -> None:
        super().__init__(probe)
        self.probe = probe
        self.args_given = args


class RecordingStudent:
    """Passes calls on to the student and keeps the answers."""

    def __init__(self, student: Student, answers: list[Plain]) -> None:
        self.student = student
        self.answers = answers

    def call(self, probe: Probe, *args: object) -> Any:
        """As `Student.call`."""
        self.answers.append(self.student.call(probe, *args))
        return self.answers[-1]


class ReplayingStudent:
    """Answers as the student did."""

    def __init__(self, answers: list[Plain]) -> None:
        self.answers = iter(answers)
        self.calls: list[Call] = []

    def call(self, probe: Probe, *args: object) -> Any:
        """The next answer. Raises NotRecorded when there is none."""
        self.calls.append(Call(probe, args))
        for answer in self.answers:
            return answer
        raise NotRecorded(probe, args)


class RecordedBody:
    """Stands where a test's body was, and keeps examples: the first that fail, which are rich, and the last.

    The last one of all is the smallest that fails, where Hypothesis has made it small. What a student's code crashed
    on is not kept: there is no answer to compare.
    """

    def __init__(self, body: Callable[..., None]) -> None:
        self.body = body
        self.begin({})

    def begin(self, fixtures: dict[str, Any]) -> None:
        """Forget all examples; a test with these fixtures begins."""
        self.fixtures = fixtures
        self.first: list[Example] = []
        self.last: deque[Example] = deque(maxlen=MAX_EXAMPLES)

    def __call__(self, **given: Any) -> None:
        """Run the body, and keep the example. Raises as the body does."""
        given = {**self.fixtures, **given}
        student = given.pop("student")
        example = Example(given)
        try:
            self.body(**given, student=RecordingStudent(student, example.answers))
        except (Crashed, HypothesisException):
            raise
        except (Exception, SystemExit):
            self.keep(example, failed=True)
            raise
        self.keep(example, failed=False)

    def keep(self, example: Example, *, failed: bool) -> None:
        """Keep an example, unless its answers would fill the memory."""
        if count_bytes(example.answers) > MAX_BYTES:
            return
        if failed and len(self.first) < MAX_EXAMPLES:
            self.first.append(example)
        self.last.append(example)

    def kept(self) -> list[Example]:
        """The smallest failing example, then the others."""
        seen = [*reversed(self.last)]
        return seen + [example for example in self.first if not any(example is other for other in seen)]

    def more(self, test: Any, student: Student, count: int) -> Iterator[Example]:
        """Further examples of a Hypothesis test, each asked of this student in its turn while answers come."""
        self.begin({**self.fixtures, "student": student})
        for given, _ in draw_without_engine(test, 0, count):
            self.last.clear()
            try:
                self(**given)
            except AbortTest:
                return
            except Exception:
                pass  # what fails is kept, too
            yield from self.last


def count_bytes(value: Plain) -> int:
    """About how much memory a value takes."""
    if is_tensor(value) or is_array(value):
        return int(value.nbytes)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sys.getsizeof(value) + sum(map(count_bytes, inner))


def record_body(item: Any) -> RecordedBody:
    """A test's body, recorded: from now on for a Hypothesis test, whose handle has the body."""
    if not hasattr(item.obj, "hypothesis"):
        return RecordedBody(item.obj)
    handle = item.obj.hypothesis
    if not hasattr(handle.inner_test, "recorded"):
        body = RecordedBody(handle.inner_test)

        @functools.wraps(handle.inner_test)
        def recording(**given: Any) -> None:
            body(**given)

        recording.recorded = body  # type: ignore[attr-defined]
        handle.inner_test = recording
    found: RecordedBody = handle.inner_test.recorded
    return found


def get_body(item: Any) -> Callable[..., None]:
    """The body of a Hypothesis test as it was written, recorded or not."""
    inner = item.obj.hypothesis.inner_test
    body: Callable[..., None] = inner.recorded.body if hasattr(inner, "recorded") else inner
    return body
