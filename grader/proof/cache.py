"""A cache of the results of proven claims, so that unchanged submissions do not have to be graded again.

$XDG_CACHE_HOME/torchkata/proven/<kata>.msgpack    results by `digest_job`, most recently used last

Cached results are judged again every time. The cache can be deleted at any time.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec

from grader.base.files import write_whole
from grader.pipeline.job import Job
from grader.proof.claims import Claim
from grader.results.dependencies import digest, digest_kata, digest_submission, environment
from grader.results.result import KataResult
from torchkata.course import course

MAX_RESULTS = 1000  # maximum number per kata, enough for all claims in a few versions
STORE_SECONDS = 60.0  # interval between writes to disk


class CacheFile(msgspec.Struct, frozen=True):
    """The cache file of a kata."""

    results: dict[str, list[KataResult]]
    schema: Literal["torchkata/proven/v1"] = "torchkata/proven/v1"


class ProofCache:
    """A cache of results that were obtained with a given number of examples and isolation level."""

    def __init__(self, folder: Path, examples: int, isolation: str, warn: Callable[[str], None]) -> None:
        self.folder = folder
        self.examples = examples
        self.isolation = isolation
        self.warn = warn
        self.stored = time.monotonic()
        self.known: dict[str, dict[str, list[KataResult]]] = {}
        self.new: dict[str, dict[str, list[KataResult]]] = {}

    def find(self, claim: Claim) -> Sequence[KataResult] | None:
        """Return the cached results of a claim with the same content, or None if there are none."""
        path = self.get_path(claim)
        if path.name not in self.known:
            self.known[path.name] = read_results(path)
        full = replace(claim, job=replace(claim.job, few_examples=False))
        for known in (full, claim):  # the results with all examples also prove the quick claim
            key = self.make_key(known)
            results = self.known[path.name].get(key)
            if results is not None:
                self.new.setdefault(path.name, {})[key] = results  # mark as recently used
                return results
        return None

    def keep(self, claim: Claim, results: Sequence[KataResult]) -> None:
        """Cache the results of a claim that holds. Of the messages, only the entry's note is kept."""
        kept = [drop_messages(result, get_note(claim)) for result in results]
        self.new.setdefault(self.get_path(claim).name, {})[self.make_key(claim)] = kept
        if time.monotonic() - self.stored > STORE_SECONDS:
            self.store()

    def store(self) -> None:
        """Merge the new results into the cache files, each of which is written atomically."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for name, new in self.new.items():
                path = self.folder / name
                before = {key: results for key, results in read_results(path).items() if key not in new}
                newest = [*before.items(), *new.items()][-MAX_RESULTS:]
                write_whole(path, msgspec.msgpack.encode(CacheFile(dict(newest))))
        except OSError as error:
            self.warn(f"cannot store the results of the proofs: {error}")
        self.new, self.stored = {}, time.monotonic()

    def make_key(self, claim: Claim) -> str:
        """Return the cache key. It includes the note, because no other part of the messages is stored."""
        return self.digest_job(claim.job) + get_note(claim)

    def digest_job(self, job: Job) -> str:
        """Return the digest of everything that affects the results of a job.

        Of the submission's files, only those of its katas and of the katas that they build on are included.
        """
        names = {kata.name for kata in job.katas}
        needed = sorted(names.union(*map(course().prerequisites, names)))
        files = {name: content for name, content in job.submission.files.items() if name.removesuffix(".py") in needed}
        judges = [(kata.name, [*kata.points], digest_kata(kata.name)) for kata in job.katas]
        known_good = [name for name in needed if name in job.known_good]
        options = (self.examples, self.isolation, job.few_examples, job.seed, job.limits)
        return digest(environment(), judges, needed, known_good, digest_submission(files), options)

    def get_path(self, claim: Claim) -> Path:
        """Return the cache file for a claim."""
        return self.folder / f"{claim.kata or 'all'}.msgpack"


def read_results(path: Path) -> dict[str, list[KataResult]]:
    """Return the results in a cache file, or nothing if the file is missing or invalid."""
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=CacheFile).results
    except (OSError, msgspec.MsgspecError):
        return {}


def get_note(claim: Claim) -> str:
    """Return the note that the zoo requires for a wrong entry, or ""."""
    return claim.entry.note if claim.entry else ""


def drop_messages(result: KataResult, note: str) -> KataResult:
    """Return a result without messages, except for this note."""
    tests = [replace(test, message=note if note in test.message else "") for test in result.tests]
    return msgspec.structs.replace(result, tests=tuple(tests))
