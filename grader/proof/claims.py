"""Claims about the zoo, each of which consists of a submission and its expected results."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.pipeline.job import Job
from grader.pipeline.submission import Submission
from grader.proof import zoo
from grader.results.result import KataResult
from torchkata.course import Kata, Limits, course
from torchkata.diagnosis.mistakes import begin_raised
from torchkata.result import FAILED

PATIENCE = 4  # factor for the time limits of a student, so that a slow machine does not refute a claim


@dataclass(frozen=True)
class Claim:
    """A submission and its expected results."""

    group: str  # "stubs", "solution", "right", "wrong" or "fallback"
    kata: str  # "" if the claim concerns all katas
    name: str
    job: Job
    entry: zoo.ZooEntry | None = None  # the wrong entry, if the group is "wrong"

    def with_all_tests(self) -> "Claim":
        """Return the claim that a complete proof makes about the same wrong entry."""
        return replace(self, job=replace(self.job, katas=(course().katas[self.kata],), expect_failure=False))

    def refute(self, results: Sequence[KataResult]) -> str | None:
        """Return how the results contradict the claim, or None if the claim holds."""
        if self.entry is not None:
            return refute_wrong(self.entry, results)
        return find_others("not_started" if self.group == "stubs" else "done", results)


def make_claims(katas: Sequence[Kata], seeds: int, *, quick: bool = False) -> Iterator[Claim]:
    """Yield all claims about these katas.

    A claim about a wrong entry covers only its own kata, because the katas that build on it would use a fallback. For
    each kata that others build on, a separate claim ("fallback") states that these katas can be done without it.

    If `quick` is True, claims about fallbacks are omitted, correct entries are tested on few inputs, and the katas that
    build on a correct entry are not tested with it. For a wrong entry, only the test listed in `caught_by.toml` is run
    (or all tests if none is listed).
    """
    stubs, solution = zoo.read_package(course().assignment), course().solutions()
    yield Claim("stubs", "", "stubs", make_job("stubs", stubs, katas))
    for kata in katas:
        file, others = f"{kata.name}.py", frozenset(course().katas) - {kata.name}
        dependents = course().dependents(kata.name)
        built_on_it = [other for other in katas if other.name in dependents and not quick]
        for seed in range(seeds):
            job = replace(make_job(f"{kata.name}, seed {seed}", solution, [kata], seed, others), few_examples=quick)
            yield Claim("solution", kata.name, f"seed {seed}", job)
        for entry in zoo.load_right(kata):
            files = {**solution, file: entry.source.encode()}
            job = make_job(f"{kata.name}/{entry.name}", files, [kata, *built_on_it], known_good=others)
            yield Claim("right", kata.name, entry.name, replace(job, few_examples=quick))
        for entry in zoo.load_wrong(kata):
            files = {**solution, file: entry.source.encode()}
            alone = quick and bool(entry.caught_by)
            tested = replace(kata, points={entry.caught_by: kata.points[entry.caught_by]}) if alone else kata
            job = make_job(f"{kata.name}/{entry.name}", files, [tested], known_good=others)
            name = f"{entry.name}, by {entry.caught_by} alone" if alone else entry.name
            yield Claim("wrong", kata.name, name, replace(job, expect_failure=alone), entry)
        if built_on_it:
            files = {name: content for name, content in solution.items() if name != file}
            job = make_job(f"without {kata.name}", files, built_on_it, known_good=others)
            yield Claim("fallback", kata.name, f"without {kata.name}", job)


def make_job(
    name: str, files: dict[str, bytes], katas: Sequence[Kata], seed: int = 0, known_good: frozenset[str] = frozenset()
) -> Job:
    """Return a job that grades the files as a single submission."""
    return Job(Submission(name, files), tuple(katas), seed, known_good, limits=extend_limits(course().limits))


def extend_limits(limits: Limits) -> Limits:
    """Return longer time limits. The limit of a call is only doubled, because endless loops use all of it."""
    return replace(
        limits,
        call_seconds=2 * limits.call_seconds,
        test_seconds=PATIENCE * limits.test_seconds,
        kata_seconds=PATIENCE * limits.kata_seconds,
    )


def find_others(status: str, results: Sequence[KataResult]) -> str | None:
    """Describe the katas whose status differs from `status`, or return None if there are none."""
    return "; ".join(describe(result) for result in results if result.status != status) or None


def refute_wrong(entry: zoo.ZooEntry, results: Sequence[KataResult]) -> str | None:
    """Return why the tests do not catch a wrong entry as claimed, or None if they do.

    The kata must be started and not done. If the entry has `looks_like`, at least one test must report one of these
    diagnoses and no test may report a different one. The test listed in `caught_by.toml` must fail, with one of these
    diagnoses if there are any.
    """
    (result,), found = results, collect_diagnoses(results)
    if result.status == "done":
        return "no test catches it"
    if result.status in ("not_started", "inconclusive"):
        return describe(result)
    if entry.looks_like and not found:
        return f"no test gives its diagnosis{find_raised(entry, results)}"
    if entry.looks_like and (others := found - entry.looks_like):
        return f"wrong diagnosis: {'; '.join(sorted(others))}"
    return check_caught_by(entry, results)


def check_caught_by(entry: zoo.ZooEntry, results: Sequence[KataResult]) -> str | None:
    """Return what is wrong with the `caught_by` of an entry, or None if it is correct or missing."""
    if not entry.caught_by:
        return None
    fails_to = "give its diagnosis" if entry.looks_like else "contain its note" if entry.note else "catch it"
    return None if entry.caught_by in find_catching(entry, results) else f"its {entry.caught_by} does not {fails_to}"


def find_catching(entry: zoo.ZooEntry, results: Sequence[KataResult]) -> dict[str, float]:
    """Return the duration in seconds of each test that catches an entry with the expected diagnosis and note."""
    return {
        test.name: test.seconds
        for result in results
        for test in result.tests
        if test.outcome in FAILED
        and (not entry.looks_like or test.diagnosis in entry.looks_like)
        and entry.note in test.message
    }


def collect_diagnoses(results: Sequence[KataResult]) -> set[str]:
    """Return the mistakes that are the only known explanation of a failed test, not counting the notes of tests."""
    return {test.explained_by[0] for result in results for test in result.tests if len(test.explained_by) == 1}


def find_raised(entry: zoo.ZooEntry, results: Sequence[KataResult]) -> str:
    """Return the error that a variant for an entry's diagnosis raised in a test, or ""."""
    lines = [line for result in results for test in result.tests for line in test.message.splitlines()]
    known = tuple(map(begin_raised, entry.looks_like))
    return next((f"; {line}" for line in lines if line.startswith(known)), "") if known else ""


def describe(result: KataResult) -> str:
    """Describe an unexpected status, including the tests that caused it."""
    tests = ", ".join(test.name for test in result.tests if test.outcome != "passed")
    reason = "" if result.status in ("done", "not_started") else f" ({tests})"
    return f"{result.kata} is {result.status}{reason}"
