"""What is claimed of the tests, each claim as something to grade and a judgement of what came of it."""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

from grader.certify import zoo
from grader.result import KataResult
from grader.session import Order
from grader.submission import Submission
from kata.catalog import ROOT, Kata, catalog


@dataclass(frozen=True)
class Claim:
    """`refute` says in what way a result contradicts the claim; None when it holds."""

    group: str  # "stubs", "solution", "right" or "wrong"
    kata: str  # the kata it is about, "" for all
    name: str
    order: Order
    refute: Callable[[Sequence[KataResult]], str | None]
    looks_like: frozenset[str] = frozenset()  # of a wrong one: the sentences that a diagnosis may say


def claims(katas: Sequence[Kata], seeds: int) -> Iterator[Claim]:
    """Everything to be proven of these katas.

    A wrong kata is graded alone: while others are graded, a stand-in has its place, so its file is not even there.
    That the others are done on such ground is one claim for each kata.
    """
    stubs, solution = zoo.package(ROOT / "assignment"), zoo.package(ROOT / "reference/solution")
    yield Claim("stubs", "", "stubs", order("stubs", stubs, katas), all_are("not_started"))
    for seed in range(seeds):
        name = f"solution, seed {seed}"
        yield Claim("solution", "", name, order(name, solution, katas, seed), all_are("done"))
    for kata in katas:
        file, others = f"{kata.name}.py", frozenset(catalog().katas) - {kata.name}
        built_on_it = [other for other in katas if other.name in catalog().dependents(kata.name)]
        for animal in zoo.right(kata):
            files = {**solution, file: animal.source.encode()}
            found = order(f"{kata.name}/{animal.name}", files, [kata, *built_on_it], sound=others)
            yield Claim("right", kata.name, animal.name, found, all_are("done"))
        for animal in zoo.wrong(kata):
            files = {**solution, file: animal.source.encode()}
            found = order(f"{kata.name}/{animal.name}", files, [kata], sound=others)
            yield Claim("wrong", kata.name, animal.name, found, is_caught_as(animal.looks_like), animal.looks_like)
        if built_on_it:
            files = {name: content for name, content in solution.items() if name != file}
            found = order(f"without {kata.name}", files, built_on_it, sound=others)
            yield Claim("stand-in", kata.name, f"without {kata.name}", found, all_are("done"))


def order(
    name: str, files: dict[str, bytes], katas: Sequence[Kata], seed: int = 0, sound: frozenset[str] = frozenset()
) -> Order:
    """Grade these files as one submission."""
    return Order(Submission(name, files), tuple(katas), seed, sound)


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


def is_caught_as(looks_like: Set[str]) -> Callable[[Sequence[KataResult]], str | None]:
    """The kata is started and not done, and where it is known what it looks like, a test says so, and none another."""

    def refute(results: Sequence[KataResult]) -> str | None:
        problem, said = is_caught(results), diagnoses(results)
        if problem or not looks_like:
            return problem
        if others := said - looks_like:
            return f"it looks like: {'; '.join(sorted(others))}"
        return None if said else "no test says what it looks like"

    return refute


def diagnoses(results: Sequence[KataResult]) -> set[str]:
    """What the tests say that it looks like."""
    return {test.diagnosis for result in results for test in result.tests if test.diagnosis}


def describe(result: KataResult) -> str:
    """A kata that is not what it should be, with the tests that made it so."""
    tests = [test.name for test in result.tests if test.outcome != "passed"]
    return f"{result.kata} is {result.status}" + (
        f" ({', '.join(tests)})" if result.status not in ("done", "not_started") else ""
    )
