"""A class made by hand: who has come how far, who makes which mistake, and what each of them reads."""

import importlib
import inspect
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import msgspec

from grader.results.result import Finding, KataResult, PerformanceResult, Result
from grader.tests.support.sample_results import make_measured_result
from torchkata.course import Kata, course
from torchkata.diagnosis.mistakes import load_mistakes
from torchkata.result import Outcome, TestResult, get_status

FIRST = "ada amir ana bela ben chidi chloe dan dora emil esra eva finn gao gita hana hugo ida ines ivo jan jun kai kofi"
REST = (
    "lea lena liam luz maja mei milo nia nils noor olga omar pia quinn raj rosa sami søren tara theo uma vera wei zoë"
)
NAMES = f"{FIRST} {REST}".split()
VALUE = "  expected  float32[2, 3]  [[0.5, -1.25, 2], [0.1, 0, 4]]\n  yours     float32[2, 3]  {wrong}"
SHAPE = "  expected  float32[1]  [-0.0166]\n  yours     float32[]  -0.0166\n  note      expected shape [1]"
ERROR = (
    "  crashed   RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)\n  at        {kata}.py, line 9"
)
SLOW = "  timed out no answer within 5 seconds"
ENDS: tuple[tuple[Outcome, str], ...] = (
    ("failed", VALUE),
    ("failed", VALUE),
    ("failed", SHAPE),
    ("crashed", ERROR),
    ("timed_out", SLOW),
)
STREAMING = ("sgd_step", "adagrad_step")


def make_class(count: int, *, seed: int = 0, timed: bool = True, tracks: Sequence[str] = ("core",)) -> Iterator[Result]:
    """So many submissions of these tracks, for some of which there was no GPU; the same for the same seed."""
    katas = course().choose([], tracks)
    chance = random.Random(seed)
    for number in range(count):
        name = NAMES[number % len(NAMES)] + (f"_{number // len(NAMES) + 1}" if number >= len(NAMES) else "")
        yield make_submission(name, katas, chance, timed=timed and chance.random() < 0.95)


def make_submission(name: str, katas: Sequence[Kata], chance: random.Random, *, timed: bool) -> Result:
    """Somebody who is so good, has come so far, and has found a machine that mostly works."""
    skill, reach = chance.betavariate(5, 2), 1 + min(len(katas) - 1, int(11 / 8 * len(katas) * chance.random()))
    graded = [
        make_kata_result(kata, skill, chance) if number < reach else not_started(kata)
        for number, kata in enumerate(katas)
    ]
    findings = [Finding("sgd", 24, "torch.optim.SGD: the step may use torch's optimizer instead of the student's")]
    speed = list(speeds(skill, chance)) if timed else []
    return Result(
        submission=name,
        score=sum(kata.score for kata in graded) + sum(one.score for one in speed if one.counts),
        max_score=sum(kata.max_score for kata in graded) + sum(one.max_score for one in speed if one.counts),
        fingerprint="sha256:0",
        seed=0,
        examples=100,
        isolation="bwrap",
        seconds=9.0,
        environment={"device": "NVIDIA H100 80GB HBM3"} if timed else {},
        katas=graded,
        device="cuda" if timed else "none",
        performance=speed,
        findings=findings if chance.random() < 0.03 else [],
    )


def make_kata_result(kata: Kata, skill: float, chance: random.Random) -> KataResult:
    """Some tests fail, the first ones of a kata seldom, every fifth often; one test in a thousand is spoilt."""
    tests = []
    for number, test in enumerate(kata.points):
        hard = 0.45 if number % 5 == 2 else 0.12
        if chance.random() < 0.001:
            tests.append(
                make_test_result(kata, test, "inconclusive", "  machine   its memory was full; this is not your fault")
            )
        elif chance.random() < hard * 2 * (1 - skill):
            outcome, words = chance.choice(ENDS)
            wrong = f"[[0.5, {chance.choice((-1.25, 0.0, 3.5))}, 2], [0.1, {chance.randrange(9)}, 4]]"
            diagnosis = find_mistake(kata.name) if outcome == "failed" and chance.random() < 0.6 else None
            tests.append(make_test_result(kata, test, outcome, words.format(wrong=wrong, kata=kata.name), diagnosis))
        else:
            tests.append(make_test_result(kata, test, "passed"))
    return make_graded_kata(kata, tests)


def not_started(kata: Kata) -> KataResult:
    """Nobody has touched the stub."""
    words = f"  to do     {kata.name}.py, line 40, still raises NotImplementedError"
    return make_graded_kata(kata, [make_test_result(kata, test, "not_started", words) for test in kata.points])


def make_graded_kata(kata: Kata, tests: list[TestResult]) -> KataResult:
    """A kata of these tests."""
    score = sum(test.score for test in tests)
    return KataResult(kata.name, get_status([test.outcome for test in tests]), score, kata.max_score, tuple(tests))


def make_test_result(
    kata: Kata, test: str, outcome: Outcome, words: str = "", diagnosis: str | None = None
) -> TestResult:
    """A test, and its message as a student reads it."""
    lines = [f"{kata.name} · {read_claim(kata.name, test)}", "  input     x: float32[2, 3]", words]
    lines += [f"  looks like: {diagnosis}"] if diagnosis else []
    message = "\n".join([*lines, f"  again: pytest tests/test_{kata.name}.py::{test} --seed 0"])
    points = kata.points[test]
    return TestResult(
        test,
        outcome,
        points if outcome == "passed" else 0.0,
        points,
        message if words else "",
        diagnosis,
        seconds=0.1,
        file=f"{kata.name}.py" if outcome == "crashed" else "",
        line=9 if outcome == "crashed" else 0,
    )


@cache
def find_mistake(kata: str) -> str | None:
    """One that is known of it, if any is."""
    return next((one.message for one in load_mistakes(kata)), None)


@cache
def read_claim(kata: str, test: str) -> str:
    """What the test says of right code."""
    says = inspect.getdoc(getattr(importlib.import_module(f"tests.test_{kata}"), test)) or ""
    return says.partition("\n")[0].removesuffix(".")


def speeds(skill: float, chance: random.Random) -> Iterator[PerformanceResult]:
    """Every workload of the course on a GPU, the better the more skilled."""
    for name, workload in course().workloads.items():
        thresholds, most = workload.ratio["cuda"], workload.points.full
        if chance.random() < 0.06:
            yield PerformanceResult(name, "failed", 0, most, "the result is wrong: relative error 0.12, 0.003 allowed")
            continue
        ratio = min(1.02, max(0.04, chance.gauss(0.45 + 0.5 * skill, 0.16)))
        score = most if ratio >= thresholds.full else workload.points.passing if ratio >= thresholds.passing else 0.0
        yield make_measured_result(
            name,
            score,
            most,
            f"{ratio:.2f} of the baseline",
            ratio=ratio,
            thresholds=(thresholds.passing, thresholds.full),
            mfu=0.78 * ratio if workload.mfu else None,
            rate=ratio * (2.9e12 if name in STREAMING else 7.6e14),
            unit="B" if name in STREAMING else "FLOP",
        )


def replace_texts(result: Result, words: str) -> Result:
    """The same submission; every message, finding and diagnosis of it holds these words."""
    katas = [
        msgspec.structs.replace(kata, tests=tuple(replace(test, message=words, diagnosis=words) for test in kata.tests))
        for kata in result.katas
    ]
    return msgspec.structs.replace(result, katas=katas, findings=[Finding("linear", 3, words)])
