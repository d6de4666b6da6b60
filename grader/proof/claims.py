"""The claims about the zoo: each is a submission to grade, and a judgement of its results."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.pipeline.job import Job
from grader.pipeline.submission import Submission
from grader.proof import zoo
from grader.results.result import KataResult
from torchkata.course import Kata, course
from torchkata.result import FAILED


@dataclass(frozen=True)
class Claim:
    """What is claimed of one submission; `refute` judges its results."""

    group: str  # "stubs", "solution", "right", "wrong" or "fallback"
    kata: str  # the kata it is about, "" for all
    name: str
    job: Job
    entry: zoo.ZooEntry | None = None  # of a wrong one: what it looks like, and what catches it

    def refute(self, results: Sequence[KataResult]) -> str | None:
        """Return in what way these results contradict the claim, None if it holds."""
        if self.entry is not None:
            return refute_wrong(self.entry, results)
        return find_others("not_started" if self.group == "stubs" else "done", results)


def claims(katas: Sequence[Kata], seeds: int, *, quick: bool = False) -> Iterator[Claim]:
    """Yield all claims about these katas; of a wrong entry, `quick` asks only the test that is known to catch it.

    If `caught_by.toml` names none, all tests are asked. A quick proof tries right entries on a few inputs: the whole
    proof shows that none of many is rejected.

    A wrong kata is graded alone: while others are graded, a fallback has its place, so its file is not even there. That
    the others are done without it is one claim for each kata. A quick proof leaves this out, and the katas that build
    on a right entry.
    """
    stubs, solution = zoo.package(course().assignment), course().solutions()
    yield Claim("stubs", "", "stubs", job("stubs", stubs, katas))
    for kata in katas:
        file, others = f"{kata.name}.py", frozenset(course().katas) - {kata.name}
        dependents = course().dependents(kata.name)
        built_on_it = [other for other in katas if other.name in dependents and not quick]
        for seed in range(seeds):
            found = replace(job(f"{kata.name}, seed {seed}", solution, [kata], seed, others), few_examples=quick)
            yield Claim("solution", kata.name, f"seed {seed}", found)
        for entry in zoo.right(kata):
            files = {**solution, file: entry.source.encode()}
            found = job(f"{kata.name}/{entry.name}", files, [kata, *built_on_it], known_good=others)
            found = replace(found, few_examples=quick)
            yield Claim("right", kata.name, entry.name, found)
        for entry in zoo.wrong(kata):
            files = {**solution, file: entry.source.encode()}
            alone = quick and bool(entry.caught_by)
            asked = only(kata, entry.caught_by) if alone else kata
            found = replace(job(f"{kata.name}/{entry.name}", files, [asked], known_good=others), expect_failure=alone)
            name = f"{entry.name}, by {entry.caught_by} alone" if alone else entry.name
            yield Claim("wrong", kata.name, name, found, entry)
        if built_on_it:
            files = {name: content for name, content in solution.items() if name != file}
            found = job(f"without {kata.name}", files, built_on_it, known_good=others)
            yield Claim("fallback", kata.name, f"without {kata.name}", found)


def only(kata: Kata, test: str) -> Kata:
    """Return a kata that asks for this test alone."""
    return replace(kata, points={test: kata.points[test]})


def job(
    name: str, files: dict[str, bytes], katas: Sequence[Kata], seed: int = 0, known_good: frozenset[str] = frozenset()
) -> Job:
    """Return the job that grades these files as one submission."""
    return Job(Submission(name, files), tuple(katas), seed, known_good)


def find_others(status: str, results: Sequence[KataResult]) -> str | None:
    """Return the katas that do not have this status, None if all have it."""
    return "; ".join(describe(result) for result in results if result.status != status) or None


def refute_wrong(entry: zoo.ZooEntry, results: Sequence[KataResult]) -> str | None:
    """Return why a wrong entry does not count as caught, None if it does.

    Its kata must be started and not done. If it is known what the entry looks like, a test must say so, and none may
    say something else. The test that is known to catch it must do so, and say what it looks like.
    """
    (result,), said = results, diagnoses(results)
    if result.status == "done":
        return "no test catches it"
    if result.status in ("not_started", "inconclusive"):
        return describe(result)
    if entry.looks_like and not said:
        return "no test says what it looks like"
    if entry.looks_like and said - entry.looks_like:
        return f"it looks like: {'; '.join(sorted(said - entry.looks_like))}"
    return misremembered(entry, results)


def misremembered(entry: zoo.ZooEntry, results: Sequence[KataResult]) -> str | None:
    """Return what is wrong with an entry's `caught_by`; None where it is right or unknown."""
    if not entry.caught_by:
        return None
    fails_to = "say what it looks like" if entry.looks_like else "note what is wrong" if entry.note else "catch it"
    return None if entry.caught_by in catching(entry, results) else f"its {entry.caught_by} does not {fails_to}"


def catching(entry: zoo.ZooEntry, results: Sequence[KataResult]) -> dict[str, float]:
    """Return the seconds of each test that catches an entry and says what it looks like, or its note if it has one."""
    return {
        test.name: test.seconds
        for result in results
        for test in result.tests
        if test.outcome in FAILED
        and (not entry.looks_like or test.diagnosis in entry.looks_like)
        and entry.note in test.message
    }


def diagnoses(results: Sequence[KataResult]) -> set[str]:
    """Return the known mistakes that the tests say it looks like, without what a test has seen for itself."""
    return {test.explained_by[0] for result in results for test in result.tests if len(test.explained_by) == 1}


def describe(result: KataResult) -> str:
    """Return the status of a kata that is not what it should be, with the tests that made it so."""
    tests = [test.name for test in result.tests if test.outcome != "passed"]
    return f"{result.kata} is {result.status}" + (
        f" ({', '.join(tests)})" if result.status not in ("done", "not_started") else ""
    )
