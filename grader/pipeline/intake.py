"""Reads the submissions of a class, each in a child process with limits on memory and processor time.

A submission that cannot be read becomes a refusal and does not affect the others.
"""

import contextlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import TypeAlias

import msgspec

from grader.base.processes import ForkedChild, fork_child, limit_cpu, limit_memory
from grader.base.signals import interruptible, uninterrupted
from grader.pipeline.reading import read_submission
from grader.pipeline.submission import Submission
from grader.pipeline.submission_ids import Entry, Refusal
from grader.pipeline.trees import SubmissionError
from grader.pipeline.walk import TOO_MUCH
from torchkata.course import course

MEMORY_MIB = 512  # memory that a child may allocate in addition to its inherited memory
SECONDS = 20  # of processor time; a large submission takes less than one
ReadResult: TypeAlias = Submission | tuple[str, str]  # or the text and layout of a SubmissionError


@dataclass
class Reader(ForkedChild):
    """A child that reads one submission."""

    entry: Entry

    def finish(self) -> Submission | Refusal:
        """Return what the child has read. If it was lost, return a refusal."""
        found: ReadResult = (TOO_MUCH, "")
        with contextlib.suppress(EOFError, OSError), interruptible():
            found = msgspec.msgpack.decode(self.messages.recv_bytes(), type=ReadResult)
        if isinstance(found, tuple):
            return Refusal(self.entry, SubmissionError(found[0], layout=found[1]))
        return replace(found, id=self.entry.id)


def take_in_all(entries: Sequence[Entry], at_once: int = 1) -> Iterator[Submission | Refusal]:
    """Read submissions one by one, or several at once, which is faster if file operations are slow.

    With `at_once` = 1, each is read when it is needed.
    """
    _ = course().katas  # load them once for all children; raises CourseError if the course is invalid
    coming, running = iter(entries), deque[Reader]()
    try:
        while True:
            with uninterrupted():
                while len(running) < at_once and (entry := next(coming, None)):
                    running.append(start(entry))
                if not running:
                    return
                found = running[0].finish()
                running.popleft().end()
            yield found
    finally:
        for reader in running:
            reader.end()


def take_in(entry: Entry) -> Submission | Refusal:
    """Read a submission. If it can't be read, return a refusal with the reason."""
    return next(take_in_all([entry]))


def start(entry: Entry) -> Reader:
    """Fork a child that reads one submission."""
    return Reader(*fork_child(lambda answer: read_into(answer, entry), "reading a submission"), entry)


def read_into(answer: Connection, entry: Entry) -> None:
    """Read a submission in this process, and send it, or the reason why it can't be read."""
    limit_memory(MEMORY_MIB)
    limit_cpu(SECONDS)
    found: ReadResult
    try:
        found = read_submission(entry.path, entry.files)
    except SubmissionError as error:
        found = str(error), error.layout
    answer.send_bytes(msgspec.msgpack.encode(found))
