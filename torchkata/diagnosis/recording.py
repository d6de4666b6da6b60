"""Records the examples of a test together with the student's answers, and replays these answers."""

import functools
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis.errors import HypothesisException

from torchkata.inside.hypothesis_internals import draw_without_engine
from torchkata.inside.reply import Probe
from torchkata.inside.values import Plain, is_array, is_tensor
from torchkata.seam.failures import AbortTest, Crashed
from torchkata.seam.student import Call, Student, find_probe

MAX_EXAMPLES = 10  # maximum number of first failing examples to record, and of last examples
MAX_BYTES = 2**22  # maximum total size of the answers of a recorded example


@dataclass(frozen=True)
class Example:
    """The arguments of a test's body, and the student's answers in the order of the calls."""

    given: dict[str, Any]
    answers: list[Plain] = field(default_factory=list)
    memory: dict[str, Any] = field(default_factory=dict)  # the student's memory before the first call


class NotRecorded(Exception):
    """Raised for a call that did not occur while the example was recorded."""

    def __init__(self, probe: Probe | str, args: tuple[object, ...]) -> None:
        super().__init__(probe)
        self.probe = probe
        self.args_given = args


class RecordingStudent:
    """A `Student` that records the answers of another student."""

    def __init__(self, student: Student, answers: list[Plain]) -> None:
        self.student = student
        self.memory = student.memory
        self.answers = answers

    def call(self, probe: Probe | str, *args: object) -> Any:
        """Call the student's code and record the answer."""
        self.answers.append(self.student.call(probe, *args))
        return self.answers[-1]


class ReplayingStudent:
    """A `Student` that returns recorded answers."""

    def __init__(self, example: Example) -> None:
        self.answers = iter(example.answers)
        self.memory = dict(example.memory)
        self.calls: list[Call] = []

    def call(self, probe: Probe | str, *args: object) -> Any:
        """Return the next recorded answer. Raises NotRecorded if there are no more answers."""
        self.calls.append(Call(*find_probe(probe, args)))
        for answer in self.answers:
            return answer
        raise NotRecorded(probe, args)


class RecordedBody:
    """A wrapper of a test's body that records its first failing examples and its last examples.

    The first failing examples are large, and the last example has been shrunk by Hypothesis. Examples for
    which the student's code crashed are not recorded, because there is no answer to compare.
    """

    def __init__(self, body: Callable[..., None]) -> None:
        self.body = body
        self.begin({})

    def begin(self, fixtures: dict[str, Any]) -> None:
        """Discard all recorded examples and store the fixtures of the test that is run next."""
        self.fixtures = fixtures
        self.first: list[Example] = []
        self.last: deque[Example] = deque(maxlen=MAX_EXAMPLES)

    def __call__(self, **given: Any) -> None:
        """Run the body and record the example. An exception of the body gets the call that it is about, `last_call`."""
        given = {**self.fixtures, **given}
        student = given.pop("student")
        example = Example(given, memory=dict(student.memory))
        try:
            self.body(**given, student=RecordingStudent(student, example.answers))
        except HypothesisException:
            raise
        except (Exception, SystemExit) as error:
            error.last_call = getattr(student, "last", None)  # type: ignore[union-attr]  # others may follow
            if not isinstance(error, Crashed):
                self.keep(example, failed=True)
            raise
        self.keep(example, failed=False)

    def keep(self, example: Example, *, failed: bool) -> None:
        """Record an example, unless its answers are too large."""
        if count_bytes(example.answers) > MAX_BYTES:
            return
        if failed and len(self.first) < MAX_EXAMPLES:
            self.first.append(example)
        self.last.append(example)

    def kept(self) -> list[Example]:
        """Return the recorded examples, starting with the smallest failing one."""
        seen = [*reversed(self.last)]
        return seen + [example for example in self.first if not any(example is other for other in seen)]

    def more(self, test: Any, student: Student, count: int) -> Iterator[Example]:
        """Yield up to `count` new examples of a Hypothesis test with this student's answers. Stop at an AbortTest."""
        self.begin({**self.fixtures, "student": student})
        for given, _ in draw_without_engine(test, 0, count):
            self.last.clear()
            try:
                self(**given)
            except AbortTest:
                return
            except Exception:
                pass  # failing examples are recorded, too
            yield from self.last


def count_bytes(value: Plain) -> int:
    """Return the approximate size of a value in memory."""
    if is_tensor(value) or is_array(value):
        return int(value.nbytes)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sys.getsizeof(value) + sum(map(count_bytes, inner))


def record_body(item: Any) -> RecordedBody:
    """Wrap the body of a test to record its examples. For a Hypothesis test, also replace the body with the wrapper."""
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
    """Return the original body of a Hypothesis test."""
    inner = item.obj.hypothesis.inner_test
    body: Callable[..., None] = inner.recorded.body if hasattr(inner, "recorded") else inner
    return body
