"""Tests of the options of `grader grade`: each sets one field, and grading options are passed to Slurm tasks."""

import dataclasses
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
import typer

from grader import cli
from grader.cluster import chunk
from grader.cluster.plan import create_plan
from grader.cluster.task import PlannedChunk
from grader.commands import grade as command
from grader.pipeline.executor import RunOutcome
from grader.pipeline.queue import GradingOptions, Options
from grader.pipeline.startup import Startup
from grader.tests.conftest import call_grader
from grader.tests.support.submissions import LINEAR, make_slurm_options, write_submissions

FIELDS = {"kata": "katas", "track": "katas", "json": "as_json"}  # options whose name on the command line differs
TYPED: dict[str, tuple[str, ...]] = {
    **{"out": ("elsewhere",), "jobs": ("3",), "seed": ("9",), "examples": ("7",), "isolation": ("none",)},
    **{"track": ("optimizers",), "kata": ("linear",), "keep": ("better",), "device": ("cpu",)},
    **{"layout": ("moodle",), "executor": ("slurm",), "slurm": ("mem=1G",), "force": (), "quiet": (), "json": ()},
}
SENT: dict[str, Any] = {
    **{"seed": 9, "examples": 7, "isolation": "none", "katas": ("sgd", "linear")},
    **{"device": "cpu", "keep": "better"},
}


def flatten(options: Options) -> dict[str, object]:
    process = {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}
    return {**msgspec.structs.asdict(process.pop("grading")), **process}


def test_each_command_line_option_sets_one_field(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    grade_into = Mock(return_value=0)
    monkeypatch.setattr(command, "grade_into", grade_into)
    monkeypatch.setattr(Startup, "launch_ahead", lambda *_: None)
    call = ("grade", tmp_path, "--out", tmp_path, "--seed", 0)
    assert call_grader(*call).code == 0
    before = flatten(grade_into.call_args.args[1])
    group: Any = typer.main.get_command(cli.app)
    parameters = {found.name: found for found in group.commands["grade"].params if found.name != "submissions"}
    assert parameters.keys() == TYPED.keys(), "a new option needs a value here that is not its default"
    for name, values in TYPED.items():
        typed = [*parameters[name].opts, *parameters[name].secondary_opts][-1]
        assert call_grader(*call, typed, *values).code == 0, name
        after = flatten(grade_into.call_args.args[1])
        assert {field for field in before if before[field] != after[field]} == {FIELDS.get(name, name)}


@pytest.mark.parametrize("name", GradingOptions.__struct_fields__)
def test_grading_option_is_passed_to_slurm_task(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def start(line: list[str]) -> SimpleNamespace:
        monkeypatch.setattr(sys, "argv", line[line.index("grader.cluster.chunk") :])
        return SimpleNamespace(returncode=chunk.main())

    grade_tests = Mock(return_value=RunOutcome())
    monkeypatch.setattr("grader.cluster.task.subprocess.run", start)
    monkeypatch.setattr(chunk, "end_with_parent", lambda _: None)
    monkeypatch.setattr(chunk, "grade_tests", grade_tests)
    options = make_slurm_options(tmp_path / "out", **{name: SENT[name]})
    made = create_plan("tests", {"ada": write_submissions(tmp_path, LINEAR, "ada")[0]}, options, 1)
    (tmp_path / "plan.json").write_bytes(msgspec.json.encode(made))
    assert PlannedChunk(str(tmp_path / "plan.json"), 0)() == 0
    received = grade_tests.call_args.args[0].options.grading
    assert getattr(make_slurm_options(tmp_path).grading, name) != getattr(received, name) == SENT[name]
    assert received == options.grading
