"""Tests of the options of commands: each is declared once, sets one field, and is passed to Slurm tasks."""

import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias
from unittest.mock import Mock

import pytest
import typer

from grader import cli
from grader.cluster import chunk
from grader.cluster.plan import create_plan
from grader.cluster.task import PlannedChunk
from grader.commands import grade as command
from grader.options import GradeOptions
from grader.pipeline.executor import RunOutcome
from grader.pipeline.machine import count_jobs
from grader.pipeline.startup import Startup
from grader.tests.conftest import call_grader
from grader.tests.support.submissions import make_slurm_options
from torchkata.course import course

Settle: TypeAlias = Callable[..., GradeOptions]
COMMANDS: dict[str, Any] = vars(typer.main.get_command(cli.app))["commands"]
FIELDS = {"kata": "katas", "json": "as_json"}  # options whose name differs from that of the field
TYPED: dict[str, tuple[str, ...]] = {
    **{"out": ("elsewhere",), "layout": ("moodle",), "kata": ("linear,optimizers",), "jobs": ("3",)},
    **{"device": ("cpu",), "slurm": ("mem=1G",), "again": (), "keep": ("better",), "examples": ("7",)},
    **{"seed": ("9",), "isolation": ("none",), "json": ()},
}


@pytest.fixture
def settle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Settle:
    """Return a function that returns the options of a call of `grader grade` in `tmp_path`."""
    run_grade = Mock(return_value=0)
    monkeypatch.setattr(command, "run_grade", run_grade)
    monkeypatch.setattr(Startup, "launch_ahead", lambda *_: None)
    monkeypatch.chdir(tmp_path)

    def call(*typed: str) -> GradeOptions:
        assert call_grader("grade", tmp_path, *typed).code == 0, typed
        options: GradeOptions = run_grade.call_args.args[1]
        return options

    return call


def test_options_have_defaults_of_machine_and_directory(settle: Settle, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results/.seed").write_text("17\n")
    chosen = settle("--isolation", "auto")
    assert (chosen.out, chosen.seed, chosen.jobs) == (Path("results"), 17, count_jobs())
    assert chosen.katas == tuple(kata.name for kata in course().choose(course().graded))
    assert settle("--slurm", "default").isolation == "bwrap"
    listed = [option.opts[0] for option in COMMANDS["grade"].params if option.opts[0].startswith("--")]
    assert listed == [f"--{name}" for name in TYPED], "a new option needs a value above that is not its default"
    assert len(listed) <= 12


@pytest.mark.parametrize("name", TYPED)
def test_option_sets_one_field_also_on_slurm(
    name: str, settle: Settle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def start(line: list[str]) -> SimpleNamespace:
        monkeypatch.setattr(sys, "argv", line[line.index("grader.cluster.chunk") :])
        return SimpleNamespace(returncode=chunk.main())

    usual = ("--seed", "0", "--jobs", "2", "--isolation", "bwrap")
    before, options = settle(*usual), settle(*usual, f"--{name}", *TYPED[name])
    changed = {field for field, value in asdict(options).items() if asdict(before)[field] != value}
    assert changed == {FIELDS.get(name, name)}
    grade_tests = Mock(return_value=RunOutcome())
    monkeypatch.setattr("grader.cluster.task.subprocess", SimpleNamespace(run=start))  # Python itself uses the real one
    monkeypatch.setattr(chunk, "end_with_parent", lambda _: None)
    monkeypatch.setattr(chunk, "grade_tests", grade_tests)
    (tmp_path / "plan.json").write_bytes(create_plan("tests", {"ada": tmp_path}, options, 1).encode())
    assert PlannedChunk(str(tmp_path / "plan.json"), 0)() == 0
    received = grade_tests.call_args.args[0].options
    assert received == replace(options, out=options.out.absolute(), jobs=1, again=False), "jobs is its number of cores"


def test_plan_of_another_version_is_rejected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.json"
    monkeypatch.setattr(chunk, "end_with_parent", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["chunk", str(plan), "0", "1"])
    known = create_plan("tests", {"ada": tmp_path}, make_slurm_options(tmp_path / "out"), 1).encode()
    for other in (b'{"phase":"tests","grading":{}}', known.replace(b'"again"', b'"newer":1,"again"')):
        plan.write_bytes(other)
        assert chunk.main() == 2
        line = f"{plan}: was written by another version of the grader; cancel its jobs and run the command again\n"
        assert capsys.readouterr().err == line


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"doctor", "marks", "new"}))
def test_command_writes_to_out(name: str) -> None:
    assert "--out" in {option.opts[0] for option in COMMANDS[name].params}
