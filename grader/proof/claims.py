"""What is claimed of the tests, each claim as something to grade and a judgement of what came of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from grader.pipeline.session import Job
from grader.pipeline.submission import Submission
from grader.proof import zoo
from grader.results.result import KataResult
from torchkata.course import Kata, course
from torchkata.result import FAILED


@dataclass(frozen=True)
class Claim:
    """`refute` says in what way a result contradicts the claim; None when it holds."""

    group: str  # "stubs", "solution", "right", "wrong" or "fallback"
    kata: str  # the kata it is about, "" for all
    name: str
    job: Job
    refute: Callable[[Sequence[KataResult]], str | None]
    entry: zoo.ZooEntry | None = None  # of a wrong one: what it looks like, and what catches it


def claims(katas: Sequence[Kata], seeds: int, *, quick: bool = False) -> Iterator[Claim]:
    """Everything to be proven of these katas; of a wrong one, `quick` asks just the test that is known to catch it.

    Where `caught_by.toml` names none, all tests are asked.

    It proves right ones with a few of the inputs: that none of many is turned down is what the whole proof is for.

    A wrong kata is graded alone: while others are graded, a fallback has its place, so its file is not even there.
    That the others are done on such ground is one claim for each kata, and no quick one; nor is what builds on a right
    one.
    """
    stubs, solution = zoo.package(course().assignment), course().solutions()
    yield Claim("stubs", "", "stubs", job("stubs", stubs, katas), all_are("not_started"))
    for kata in katas:
        file, others = f"{kata.name}.py", frozenset(course().katas) - {kata.name}
        dependents = course().dependents(kata.name)
        built_on_it = [other for other in katas if other.name in dependents and not quick]
        for seed in range(seeds):
            found = replace(job(f"{kata.name}, seed {seed}", solution, [kata], seed, others), few=quick)
            yield Claim("solution", kata.name, f"seed {seed}", found, all_are("done"))
        for entry in zoo.right(kata):
            files = {**solution, file: entry.source.encode()}
            found = job(f"{kata.name}/{entry.name}", files, [kata, *built_on_it], known_good=others)
            found = replace(found, few=quick)
            yield Claim("right", kata.name, entry.name, found, all_are("done"))
        for entry in zoo.wrong(kata):
            files = {**solution, file: entry.source.encode()}
            alone = quick and bool(entry.caught_by)
            asked = only(kata, entry.caught_by) if alone else kata
            found = replace(job(f"{kata.name}/{entry.name}", files, [asked], known_good=others), fails=alone)
            name = f"{entry.name}, by {entry.caught_by} alone" if alone else entry.name
            yield Claim("wrong", kata.name, name, found, is_caught_as(entry), entry)
        if built_on_it:
            files = {name: content for name, content in solution.items() if name != file}
            found = job(f"without {kata.name}", files, built_on_it, known_good=others)
            yield Claim("fallback", kata.name, f"without {kata.name}", found, all_are("done"))


def only(kata: Kata, test: str) -> Kata:
    """A kata that asks for this test alone."""
    return replace(kata, points={test: kata.points[test]})


def job(
    name: str, files: dict[str, bytes], katas: Sequence[Kata], seed: int = 0, known_good: frozenset[str] = frozenset()
) -> Job:
    """Grade these files as one submission."""
    return Job(Submission(name, files), tuple(katas), seed, known_good)


def all_are(status: str) -> Callable[[Sequence[KataResult]], str | None]:
    """Every kata has this status."""

    def refute(results: Sequence[KataResult]) -> str | None:
        others = [describe(result) for result in results if result.status != status]
        return "; ".join(others) or None

    return refute


def is_caught(results: Sequence[KataResult]) -> str | None:
    """The kata is started and not done."""
    (result,) = results
    if result.status == "done":
        return "no test catches it"
    return describe(result) if result.status in ("not_started", "inconclusive") else None


def is_caught_as(entry: zoo.ZooEntry) -> Callable[[Sequence[KataResult]], str | None]:
    """The kata is started and not done, and where it is known what it looks like, a test says so, and none another.

    The test that is known to catch it does so, and says what it looks like.
    """

    def refute(results: Sequence[KataResult]) -> str | None:
        problem, said = is_caught(results), diagnoses(results)
        if problem is None and entry.looks_like:
            others = said - entry.looks_like
            silent = None if said else "no test says what it looks like"
            problem = f"it looks like: {'; '.join(sorted(others))}" if others else silent
        return problem or misremembered(entry, results)

    return refute


def misremembered(entry: zoo.ZooEntry, results: Sequence[KataResult]) -> str | None:
    """Return what is wrong with an entry's `caught_by`; None where it is right or unknown."""
    if not entry.caught_by:
        return None
    fails_to = "say what it looks like" if entry.looks_like else "note what is wrong" if entry.note else "catch it"
    return None if entry.caught_by in catching(entry, results) else f"its {entry.caught_by} does not {fails_to}"


def catching(entry: zoo.ZooEntry, results: Sequence[KataResult]) -> dict[str, float]:
    """The tests that catch an entry and say what it looks like, or its note, if there is one: the seconds of each."""
    return {
        test.name: test.seconds
        for result in results
        for test in result.tests
        if test.outcome in FAILED
        and (not entry.looks_like or test.diagnosis in entry.looks_like)
        and entry.note in test.message
    }


def diagnoses(results: Sequence[KataResult]) -> set[str]:
    """The known mistakes that the tests say it looks like; what a test has seen for itself is no matter of likeness."""
    return {test.explained_by[0] for result in results for test in result.tests if len(test.explained_by) == 1}


def describe(result: KataResult) -> str:
    """A kata that is not what it should be, with the tests that made it so."""
    tests = [test.name for test in result.tests if test.outcome != "passed"]
    return f"{result.kata} is {result.status}" + (
        f" ({', '.join(tests)})" if result.status not in ("done", "not_started") else ""
    )
