"""What is claimed of the tests, each claim as something to grade and a judgement of what came of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from grader.certify import zoo
from grader.certify.zoo import Animal
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


def claims(katas: Sequence[Kata], seeds: int) -> Iterator[Claim]:
    """Everything to be proven of these katas."""
    stubs, solution = zoo.package(ROOT / "assignment"), zoo.package(ROOT / "reference/solution")
    yield Claim("stubs", "", "stubs", order_of("stubs", stubs, katas), all_are("not_started"))
    for seed in range(seeds):
        name = f"solution, seed {seed}"
        yield Claim("solution", "", name, order_of(name, solution, katas, seed), all_are("done"))
    for kata in katas:
        for animal in zoo.right(kata):
            yield Claim("right", kata.name, animal.name, order_for(animal, solution, katas), all_are("done"))
        for animal in zoo.wrong(kata):
            yield Claim("wrong", kata.name, animal.name, order_for(animal, solution, katas), only_fails(kata.name))


def order_of(name: str, files: dict[str, bytes], katas: Sequence[Kata], seed: int = 0) -> Order:
    """Grade these files as one submission."""
    return Order(Submission(name, files), tuple(katas), seed)


def order_for(animal: Animal, solution: dict[str, bytes], katas: Sequence[Kata]) -> Order:
    """Grade the solution with one file exchanged: the kata itself, and what builds on it."""
    files = {**solution, f"{animal.kata}.py": animal.source.encode()}
    touched = {animal.kata, *catalog().dependents(animal.kata)}
    sound = frozenset(catalog().katas) - touched
    graded = tuple(kata for kata in katas if kata.name in touched)
    return Order(Submission(f"{animal.kata}/{animal.name}", files), graded, 0, sound)


def all_are(status: str) -> Callable[[Sequence[KataResult]], str | None]:
    """Every kata has this status."""

    def refute(results: Sequence[KataResult]) -> str | None:
        others = [describe(result) for result in results if result.status != status]
        return "; ".join(others) or None

    return refute


def only_fails(kata: str) -> Callable[[Sequence[KataResult]], str | None]:
    """This kata is not done, and every other one is."""

    def refute(results: Sequence[KataResult]) -> str | None:
        unfit = [
            r
            for r in results
            if (r.status == "done") == (r.kata == kata) or r.status in ("not_started", "inconclusive")
        ]
        return (
            "; ".join("no test catches it" if r.kata == kata and r.status == "done" else describe(r) for r in unfit)
            or None
        )

    return refute


def describe(result: KataResult) -> str:
    """A kata that is not what it should be, with the tests that made it so."""
    tests = [test.name for test in result.tests if test.outcome != "passed"]
    return f"{result.kata} is {result.status}" + (
        f" ({', '.join(tests)})" if result.status not in ("done", "not_started") else ""
    )
