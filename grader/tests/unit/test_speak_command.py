"""Tests of `kata speak`, which trains a student's language model, with a tiny model and a tiny corpus."""

import json
import math
import re
import shutil
import signal
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.tests.support.solution import SOLUTION
from reference.generate_text import command, report, training_run, trial, writing
from torchkata.course import course
from torchkata.inside.assignment import Assignment

TEXTS = course().katas["generate_text"].command
TINY = {"dim": 8, "num_layers": 1, "context": 8, "batch_size": 4, "peak_lr": 1e-2}
LIBRARY = b"def follow(word):\n    return word + word\n\n" * 100


@pytest.fixture
def assignment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return the solution in its own folder, and replace the model and the standard library with tiny ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "CPU", TINY)
    monkeypatch.setattr(command, "LEAST_SOURCE", len(LIBRARY))
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"stdlib": str(tmp_path / "lib")})
    for name in ("word.py", "site-packages/other.py", "test/test_word.py"):
        (tmp_path / "lib" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib" / name).write_bytes(LIBRARY)
    return Assignment(Path(shutil.copytree(SOLUTION, tmp_path / "assignment")), "speaker")


def call(assignment: Any, **options: str) -> str:
    """Run the command and return its output."""
    return "\n".join(command.run(assignment, TEXTS, **{"minutes": "0.02", "device": "cpu", **options}))


def refuse(assignment: Any, kind: type[BaseException], **options: str) -> str:
    """Run the command, assert that it raises this exception with a one-line message, and return the message."""
    with pytest.raises(kind) as raised:
        call(assignment, **options)
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.usefixtures("needs_matplotlib")
def test_cost_is_predicted_measured_and_explained(
    assignment: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "measure_steps", lambda *_: 60.0)
    text = call(assignment, minutes="20")
    assert "1 source files, 4,200 bytes" in text, "other folders must be left out"
    assert text.index("Before training") < text.index("Prediction") < text.index("Training from step 0")
    ((predicted, measured),) = re.findall(r"memory, MB +(\S+) +(\S+)\n", text)
    assert abs(float(predicted) / float(measured) - 1) < 0.2, "the formula must count almost all tensors"
    assert all(key in text for key in ("minutes, at best", "MFU", "as long as", "log(256) = 5.55"))
    assert text.endswith(f"The run is complete. To begin a new one, delete {command.FOLDER}.")
    assert re.search(r"█{20} step (\d+)/\1   loss", capsys.readouterr().out)
    assert command.PICTURE.read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "matplotlib" else find_spec(name))
    again = call(assignment, minutes="20")
    assert "Training from" not in again
    assert again.splitlines()[-2:] == ["for a plot, run: pip install matplotlib", text.splitlines()[-1]]


def test_resumed_run_gives_same_result_as_uninterrupted_run(assignment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "measure_steps", lambda *_: 100.0)
    monkeypatch.setattr(command, "CHECKPOINT_SECONDS", 300)
    call(assignment, minutes="20")
    whole = load_run(assignment)
    shutil.rmtree(command.FOLDER)
    monkeypatch.setattr(report.Report, "show", press_ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        call(assignment, minutes="20")
    part = load_run(assignment)
    assert len(part[0]) == 2, "the run must stop at the first checkpoint"
    monkeypatch.setattr(report.Report, "show", lambda *_: None)
    assert "Training from step 2 to step 11" in call(assignment, minutes="20")
    assert load_run(assignment) == whole


def press_ctrl_c(_report: report.Report, step: int, _total: int) -> None:
    """Press Ctrl-C after the first step."""
    if step == 1:
        signal.raise_signal(signal.SIGINT)


def load_run(assignment: Any) -> tuple[list[float], Any]:
    """Return the losses of the stored run and a parameter of its checkpoint."""
    folder = command.FOLDER
    losses = [loss for _, loss, _ in json.loads((folder / "run.json").read_text())["steps"]]
    speaker = training_run.Speaker(assignment, TEXTS, folder, math.inf)
    model, _, _ = speaker.load(command.read_run(speaker))
    return losses, model.output.weight.tolist()


def test_run_stops_when_its_time_is_up(assignment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "measure_steps", lambda *_: 1e-5)
    monkeypatch.setattr(command, "CHECKPOINT_SECONDS", 1e-4)
    for name in ("LETTERS", "FEWER_LETTERS"):  # on a busy machine, the texts would take all of the time
        monkeypatch.setattr(command, name, 3)
    text = call(assignment, minutes="0.2")
    assert "context 4;" in text, "a short run must train on windows of half the length"
    assert re.search(r"The time is up at step \d+0 of \d{5,}\. To continue: kata speak$", text)


def test_same_prompt_is_continued_during_training(
    assignment: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "measure_steps", lambda *_: 60.0)
    monkeypatch.setattr(report, "SHOWN_AT", (4, 8))
    monkeypatch.setattr(report, "FEWER_LETTERS", 3)
    monkeypatch.setattr(command, "CHECKPOINT_SECONDS", 120)
    begun = load_texts(call(assignment, minutes="20"), capsys.readouterr().out)
    assert begun[:3] == ["Before training", "After 4 steps", "After 8 steps"]


def load_texts(yielded: str, printed: str) -> list[str]:
    """Return the beginning of each line that announces a text."""
    lines = [line for text in (yielded, printed) for line in text.splitlines() if "continues `def ` like this" in line]
    return sorted((line.partition(", ")[0] for line in lines), key=lambda line: [*map(int, re.findall(r"\d+", line))])


def test_letters_are_printed_one_by_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A letter appears before the next one is drawn, and the text ends at the deadline."""
    said, seen = [*b"ab\n", 0xC3, 0xA9, 7, *b"x" * 99], []

    def generate(_model: object, tokens: torch.Tensor, n: int, *_: object) -> torch.Tensor:
        seen.append(capsys.readouterr().out)
        return torch.cat([tokens, torch.tensor([said[len(seen) - 1]])]) if n == 1 else tokens

    speaking = SimpleNamespace(generate_text=SimpleNamespace(generate=generate))
    speaker = training_run.Speaker(speaking, TEXTS, Path(), math.inf)
    writing.write(speaker, "cpu", None, 20)
    assert seen[:7] == ["  │ def ", "a", "b", "\n  │ ", "", "é", "·"]
    speaker.deadline = -math.inf
    writing.write(speaker, "cpu", None, 20)
    assert capsys.readouterr().out.endswith("  │ def  …\n")


@pytest.mark.parametrize(("seconds", "chosen"), [({1: 0.1, 4: 3.0}, 1), ({1: 0.3, 4: 0.1}, 4)])
def test_faster_number_of_threads_is_kept_and_told(
    assignment: Any, monkeypatch: pytest.MonkeyPatch, seconds: dict[int, float], chosen: int
) -> None:
    before = torch.get_num_threads()
    with trial.using_threads(4):
        monkeypatch.setattr(trial, "measure_steps", lambda *_: seconds[torch.get_num_threads()])
        text = call(assignment)
    assert json.loads((command.FOLDER / "run.json").read_text())["threads"] == chosen
    assert f"seconds with one thread and {seconds[4]:.2g} with 4" in text
    assert torch.get_num_threads() == before


def test_checkpoints_meet_step_100() -> None:
    assert [command.choose_interval(steps) for steps in (0.2, 1, 7, 33, 99, 100, 160, 500)] == [
        *(1, 1, 5, 25, 50, 100, 200, 500),
    ]


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf", "ten", "", "1441"])
def test_minutes_must_be_a_number_in_range(assignment: Any, minutes: str) -> None:
    line = refuse(assignment, SystemExit, minutes=minutes)
    assert line == f"--minutes is {minutes!r}; it must be a number above 0 and at most 1440"
    assert not command.FOLDER.exists()


def test_damaged_run_file_is_reported_and_kept(assignment: Any) -> None:
    call(assignment)
    for name in ("checkpoint.pt", "run.json", "tokens.bin"):
        file = command.FOLDER / name
        whole = file.read_bytes()
        file.write_bytes(whole[:50])
        assert refuse(assignment, SystemExit).startswith(f"{file} cannot be read (")
        assert file.read_bytes() == whole[:50]
        file.write_bytes(whole)


def test_unusable_results_of_student_functions_are_reported(assignment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(assignment.time_matmul, "time_matmul", lambda *_: 0.0)
        assert refuse(assignment, SystemExit).startswith("your time_matmul returned 0.0")
    with monkeypatch.context() as patch:
        patch.setattr(assignment.train_language_model, "training_step", lambda *_: math.nan)
        assert refuse(assignment, SystemExit).startswith("the loss in step 1 is nan")
    monkeypatch.setattr(assignment.train_language_model, "train_lm", lambda *_: None)
    assert refuse(assignment, SystemExit).startswith("your train_lm did not call `report`")
