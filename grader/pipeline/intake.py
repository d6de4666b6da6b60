"""Reads the submissions of a class.

A submission that cannot be read becomes a refusal and does not affect the others.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from grader.pipeline.archives import SubmissionError
from grader.pipeline.submission import Submission, read_submission
from grader.pipeline.submission_ids import Entry, Refusal

AHEAD = 64  # number of submissions that threads read ahead


def take_in_all(entries: Sequence[Entry], threads: int) -> Iterator[Submission | Refusal]:
    """Read submissions one by one, or in several threads, which is faster if file operations are slow.

    A process that has running threads must not fork, so use one thread if a child is forked for each submission.
    """
    if threads == 1:
        yield from map(take_in, entries)
        return
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, len(entries), AHEAD):
            yield from pool.map(take_in, entries[start : start + AHEAD])


def take_in(entry: Entry) -> Submission | Refusal:
    """Read a submission. If it can't be read, return a refusal with the reason."""
    try:
        return replace(read_submission(entry.path, entry.files), id=entry.id)
    except SubmissionError as error:
        return Refusal(entry, error)
