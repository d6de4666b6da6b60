"""Generates random results of a class for reports: students differ in skill, progress and mistakes."""

import importlib
import inspect
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import msgspec

from grader.results.result import Finding, KataResult, PerformanceResult, Result
from grader.tests.support.sample_results import assemble_result, make_kata_result, make_measured_result
from torchkata.course import Kata, course
from torchkata.diagnosis.mistakes import load_mistakes
from torchkata.result import Outcome, TestResult

NAMES = "ada amir bela ben chidi dan dora emil esra eva finn gao hana hugo ida ivo jan kai kofi lea luz søren tara zoë"
VALUE = "  expected  float32[2, 3]  [[0.5, -1.25, 2], [0.1, 0, 4]]\n  yours     float32[2, 3]  {wrong}"
FAILURES: tuple[tuple[Outcome, str], ...] = (
    ("failed", VALUE),
    ("failed", VALUE),
    ("failed", "  expected  float32[1]  [-0.0166]\n  yours     float32[]  -0.0166\n  note      expected shape [1]"),
    ("crashed", "  crashed   RuntimeError: mat1 and mat2 shapes cannot be multiplied\n  at        {kata}.py, line 9"),
    ("timed_out", "  timed out your code used more than 5 seconds of CPU time"),
)
STREAMING = ("sgd_step", "adagrad_step")  # workloads that are limited by memory


def make_class(count: int, *, seed: int = 0, timed: bool = True) -> Iterator[Result]:
    """Yield `count` results, determined by the seed. About one in twenty has no speed results."""
    katas, names = course().choose([], ["core"]), NAMES.split()
    chance = random.Random(seed)
    for number in range(count):
        name = names[number % len(names)] + (f"_{number // len(names) + 1}" if number >= len(names) else "")
        yield make_submission(name, katas, chance, timed=timed and chance.random() < 0.95)


def make_submission(name: str, katas: Sequence[Kata], chance: random.Random, *, timed: bool) -> Result:
    """Return the result of a student with random skill who has attempted the first few katas."""
    skill, reach = chance.betavariate(5, 2), 1 + min(len(katas) - 1, int(11 / 8 * len(katas) * chance.random()))
    findings = [Finding("sgd", 24, "torch.optim.SGD: the step may use torch's optimizer instead of the student's")]
    return assemble_result(
        name,
        [grade_kata(kata, skill, chance) if number < reach else skip_kata(kata) for number, kata in enumerate(katas)],
        list(time_workloads(skill, chance)) if timed else [],
        examples=100,
        environment={"device": "NVIDIA H100 80GB HBM3"} if timed else {},
        device="cuda" if timed else "none",
        findings=findings if chance.random() < 0.03 else [],
    )


def grade_kata(kata: Kata, skill: float, chance: random.Random) -> KataResult:
    """Return the result of a kata in which every fifth test is hard and one test in a thousand is inconclusive."""
    tests = []
    for number, test in enumerate(kata.points):
        difficulty = 0.45 if number % 5 == 2 else 0.12
        if chance.random() < 0.001:
            full = "  machine   its memory was full; this is not your fault"
            tests.append(make_test_result(kata, test, "inconclusive", full))
        elif chance.random() < difficulty * 2 * (1 - skill):
            outcome, words = chance.choice(FAILURES)
            wrong = f"[[0.5, {chance.choice((-1.25, 0.0, 3.5))}, 2], [0.1, {chance.randrange(9)}, 4]]"
            diagnosis = find_mistake(kata.name) if outcome == "failed" and chance.random() < 0.6 else None
            words = words.format(wrong=wrong, kata=kata.name)
            tests.append(make_test_result(kata, test, outcome, words, diagnosis))
        else:
            tests.append(TestResult(test, "passed", kata.points[test], kata.points[test], seconds=0.1))
    return make_kata_result(kata, tests)


def skip_kata(kata: Kata) -> KataResult:
    words = f"  to do     {kata.name}.py, line 40, still raises NotImplementedError"
    return make_kata_result(kata, [make_test_result(kata, test, "not_started", words) for test in kata.points])


def make_test_result(kata: Kata, test: str, outcome: Outcome, words: str, diagnosis: str | None = None) -> TestResult:
    """Return a test result other than "passed", with the message that a student would see."""
    function = getattr(importlib.import_module(f"tests.test_{kata.name}"), test)
    claim = (inspect.getdoc(function) or "").partition("\n")[0].removesuffix(".")
    lines = [f"{kata.name} · {claim}", "  input     x: float32[2, 3]", words]
    lines += [f"  looks like: {diagnosis}"] if diagnosis else []
    message = "\n".join([*lines, f"  again: pytest tests/test_{kata.name}.py::{test} --seed 0"])
    file, line = (f"{kata.name}.py", 9) if outcome == "crashed" else ("", 0)
    return TestResult(test, outcome, 0.0, kata.points[test], message, diagnosis, seconds=0.1, file=file, line=line)


@cache
def find_mistake(kata: str) -> str | None:
    """Return the message for the kata's first known mistake."""
    return next((mistake.message for mistake in load_mistakes(kata)), None)


def time_workloads(skill: float, chance: random.Random) -> Iterator[PerformanceResult]:
    """Yield the results of all workloads of the course on a GPU. Students with more skill are faster."""
    for name, workload in course().workloads.items():
        thresholds, most = workload.ratio["cuda"], workload.points.full
        if chance.random() < 0.06:
            yield PerformanceResult(name, "failed", 0, most, "the result is wrong: relative error 0.12, 0.003 allowed")
            continue
        ratio = min(1.02, max(0.04, chance.gauss(0.45 + 0.5 * skill, 0.16)))
        yield make_measured_result(
            name,
            most if ratio >= thresholds.full else workload.points.passing if ratio >= thresholds.passing else 0.0,
            most,
            f"{ratio:.2f} of the baseline",
            ratio=ratio,
            thresholds=(thresholds.passing, thresholds.full),
            mfu=0.78 * ratio if workload.mfu else None,
            rate=ratio * (2.9e12 if name in STREAMING else 7.6e14),
            unit="B" if name in STREAMING else "FLOP",
        )


def replace_texts(result: Result, text: str) -> Result:
    """Return the result with every message, diagnosis and finding replaced by the given text."""
    katas = [
        msgspec.structs.replace(kata, tests=tuple(replace(test, message=text, diagnosis=text) for test in kata.tests))
        for kata in result.katas
    ]
    return msgspec.structs.replace(result, katas=katas, findings=[Finding("linear", 3, text)])
