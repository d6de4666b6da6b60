"""The code that a failure report shows for its input can be run, and the solution passes with this input."""

import ast
import copy
import importlib.util
import inspect
import os
import pickle
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from grader.tests.support.solution import SOLUTION
from tests.probes.checkpoint_code import write_events
from torchkata.compare.repro_code import literal, render_call, render_probe
from torchkata.course import course
from torchkata.inside.assignment import Assignment
from torchkata.inside.hypothesis_internals import draw_without_engine
from torchkata.seam.student import Call, InProcess, Student

EXAMPLES = 2
COLUMNS = 86
REFUSED = {
    "split_badly",
    "too_short",
    "truncated",
    "load_mismatch",
    "call_without_value",
    "corrupt",
}  # right code raises
MODULES = {"copy": copy, "nn": nn, "np": np, "os": os, "pickle": pickle, "random": random, "sys": sys, "torch": torch}
NAMES = {**MODULES, "Path": Path}
OF_PROGRAMS = {"judge", "judge_hidden"}  # its input is a program; the message names it, but does not show its code
SIMULATED = {"measure_device"}  # the code does not include the simulation
ON_LINUX = {"bytes_read", "bytes_in_memory", "failing_save"}  # probes that need Linux


class RecordingStudent(Student):
    """A student that records every call of a test."""

    def __init__(self, folder: Path) -> None:
        super().__init__(InProcess(folder, replace(course().limits, call_seconds=60.0)))
        self.calls: list[Call] = []

    def call(self, probe: Callable[..., object] | str, *args: object) -> Any:
        answer = super().call(probe, *args)
        assert self.last is not None
        self.calls.append(self.last)
        return answer


def record_calls(kata: str) -> Iterator[Call]:
    """Yield the last call of each probe in each test of a kata, for a few inputs."""
    file = course().tests / f"test_{kata}.py"
    spec = importlib.util.spec_from_file_location(f"tests.test_{kata}", file)
    assert spec is not None
    assert spec.loader is not None
    tests = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tests)
    for name in course().katas[kata].points:
        test = getattr(tests, name)
        body = test.hypothesis.inner_test if hasattr(test, "hypothesis") else test
        fixtures = {"seed": 1, "kata_key": bytes(32)}
        inputs: Any = [{name: fixtures[name] for name in inspect.signature(body).parameters if name in fixtures}]
        if hasattr(test, "hypothesis"):
            inputs = (given for given, _ in draw_without_engine(test, 1, EXAMPLES))
        for given in inputs:
            student = RecordingStudent(SOLUTION)
            student.reset(kata)
            body(student=student, **given)
            yield from {call.probe: call for call in student.calls}.values()


@pytest.mark.parametrize("kata", course().katas)
def test_input_shown_as_code_runs_with_solution(kata: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, call in enumerate(record_calls(kata)):
        lines = render_call(call)
        assert max(map(len, lines)) <= COLUMNS, "\n".join(lines)
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        if call.probe.__name__ in OF_PROGRAMS:
            continue
        assert render_probe(call, literal), f"{call.probe.__name__} has no code, so only its arguments are shown"
        if call.probe.__name__ in SIMULATED:
            continue
        if call.probe.__name__ in ON_LINUX and sys.platform != "linux":
            continue
        if call.probe.__name__ in REFUSED:
            with pytest.raises((RuntimeError, ValueError, EOFError)):
                execute(lines, kata)
        else:
            assert execute(lines, kata) != [], "\n".join(["the input shows no result:", *lines])


def test_code_shows_that_solution_moves_its_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown: Any = execute(write_events().splitlines(), "checkpoint")
    [[[event, source, target]]] = shown
    assert (event, target) == ("os.rename", "run.pt")
    assert source != target


def execute(lines: list[str], kata: str) -> list[object]:
    """Execute the given lines with torch and the names defined by the kata and its prerequisites.

    Return what an interactive Python shows: what they print, and the value of the last expression.
    """
    assignment = Assignment(SOLUTION)
    shown: list[object] = []
    names: dict[str, Any] = {**NAMES, "print": lambda *values: shown.extend(values)}
    for module in dict.fromkeys(["sgd", "adagrad", "cruncher", *course().prerequisites(kata), kata]):
        names |= {name: value for name, value in vars(getattr(assignment, module)).items() if name[0] != "_"}
    if sys.platform == "linux":
        import resource

        names["resource"] = resource
    *before, last = ast.parse("\n".join(lines)).body
    try:
        exec(compile(ast.Module(before, []), "input", "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(ast.unparse(last), names))
        else:
            exec(ast.unparse(last), names)
    except BaseException as error:
        error.add_note("\n".join(lines))
        raise
    return [value for value in shown if value is not None]
