"""A record of what claims that held came to, beside the grader's other caches: what is as it was is not graded again.

$XDG_CACHE_HOME/torchkata/proven/<kata>.msgpack    results by `digest_proof`, those used last at the end

What is read is judged again, so the judgement may change. Losing all of it costs time only.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec

from grader.pipeline.job import Job
from grader.proof.claims import Claim
from grader.results.dependencies import digest_proof
from grader.results.result import KataResult, write_whole

MOST = 1000  # results of one kata: some versions of all its claims
STORE_SECONDS = 60.0  # so often they are stored, and at the end


class Record(msgspec.Struct, frozen=True):
    """The file of one kata."""

    results: dict[str, list[KataResult]]
    schema: Literal["torchkata/proven/v1"] = "torchkata/proven/v1"


class Proven:
    """What was proven with so many examples at this isolation."""

    def __init__(self, folder: Path, examples: int, isolation: str, warn: Callable[[str], None]) -> None:
        self.folder = folder
        self.examples = examples
        self.isolation = isolation
        self.warn = warn
        self.stored = time.monotonic()
        self.known: dict[str, dict[str, list[KataResult]]] = {}
        self.new: dict[str, dict[str, list[KataResult]]] = {}

    def find(self, claim: Claim) -> Sequence[KataResult] | None:
        """What this claim came to the last time with the same content; None if that is not known."""
        path = self.path(claim)
        if path.name not in self.known:
            self.known[path.name] = read(path)
        for whole in (replace(claim, job=replace(claim.job, few_examples=False)), claim):  # which proves the few, too
            key = self.key(whole)
            results = self.known[path.name].get(key)
            if results is not None:
                self.new.setdefault(path.name, {})[key] = results  # it is used again
                return results
        return None

    def keep(self, claim: Claim, results: Sequence[KataResult]) -> None:
        """Record a claim that holds; what a student would read is no part of it, but for the note of its entry."""
        kept = [without_texts(result, note_of(claim)) for result in results]
        self.new.setdefault(self.path(claim).name, {})[self.key(claim)] = kept
        if time.monotonic() - self.stored > STORE_SECONDS:
            self.store()

    def store(self) -> None:
        """Write what is new, each file whole or not at all; another run's results stay."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for name, new in self.new.items():
                path = self.folder / name
                before = {key: results for key, results in read(path).items() if key not in new}
                newest = [*before.items(), *new.items()][-MOST:]
                write_whole(path, msgspec.msgpack.encode(Record(dict(newest))))
        except OSError as error:
            self.warn(f"what was proven can't be recorded: {error}")
        self.new, self.stored = {}, time.monotonic()

    def key(self, claim: Claim) -> str:
        """The same for what must come out the same; of all texts, one note alone is known of it."""
        return self.digest(claim.job) + note_of(claim)

    def digest(self, job: Job) -> str:
        """Return the digest of what grading a job depends on."""
        options = (self.examples, self.isolation, job.few_examples, job.seed, job.limits)
        return digest_proof(job.katas, job.submission.files, job.known_good, options)

    def path(self, claim: Claim) -> Path:
        """The file that a claim's results are in."""
        return self.folder / f"{claim.kata or 'all'}.msgpack"


def read(path: Path) -> dict[str, list[KataResult]]:
    """The results in a file; none where there is none that can be read."""
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=Record).results
    except (OSError, msgspec.MsgspecError):
        return {}


def note_of(claim: Claim) -> str:
    """What a test's note must say of a wrong implementation, "" for no note."""
    return claim.entry.note if claim.entry else ""


def without_texts(result: KataResult, note: str) -> KataResult:
    """A result without the messages, which are long, and of which a claim asks for no more than this note."""
    tests = [replace(test, message=note if note in test.message else "") for test in result.tests]
    return msgspec.structs.replace(result, tests=tuple(tests))
