"""Tests of `kata rates`, which draws the losses at several learning rates as text and as an image."""

from pathlib import Path

import pytest

from grader.tests.support.solution import SOLUTION
from reference import plots
from reference.train import command
from torchkata.cli import plugins
from torchkata.course import course
from torchkata.seam.assignment import Assignment

KATA = course().katas["train"]
OWN = Assignment(SOLUTION, "exemplary")


def test_drawing_places_losses_on_logarithmic_axis() -> None:
    steps = command.STEPS
    curves = {0.1: [1e2] * steps, 0.01: [1e-3] * steps, 0.001: [0.0] * steps, 1.0: [float("nan")] * steps}
    *rows, _, _ = [line.partition("|")[2].strip() for line in command.draw(curves)][1:]
    assert rows[0] == "x" * plots.COLUMNS
    assert rows[-1] == "o" * plots.COLUMNS
    assert not any(rows[1:-1])


@pytest.mark.usefixtures("needs_matplotlib")
def test_larger_learning_rate_converges_faster_until_divergence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert plugins.find_commands()["rates"] == KATA
    lines = [*command.run(OWN, KATA.command)]
    ends = {line.split()[3]: line.split(": ")[1] for line in lines if "lr = " in line}
    assert float(ends["0.01"]) < float(ends["0.001"]) / 10
    assert float(ends["0.1"]) < float(ends["0.001"]) / 10
    assert ends["1"] == "the loss is infinite or NaN"
    assert lines[-1] == "picture: rates.png"
    assert command.PICTURE.read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    assert [*command.run(OWN, KATA.command)][-1] == "for a plot, run: pip install matplotlib"
