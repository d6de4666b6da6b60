"""Tests of `kata measure`, which draws the roofline of a device and a step as text and as an image."""

import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from grader.tests.support.solution import SOLUTION
from reference import plots
from reference.measure_step import command
from reference.measure_step.command import OTHER, PRODUCT, STEP, Point, Roofline, draw
from torchkata.cli import plugins
from torchkata.course import CourseError, course
from torchkata.seam.assignment import Assignment

OWN = Assignment(SOLUTION, "exemplary")
DEVICE = Roofline(1e12, 1e11, OWN.roofline)
KATA = course().katas["measure_step"]


@pytest.fixture
def assignment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return the reference solution with small sizes, on a device with known rates."""
    monkeypatch.chdir(tmp_path)
    for name, size in (("B", 32), ("D", 32), ("L", 2)):
        monkeypatch.setattr(command, name, size)
    measure_step = SimpleNamespace(**vars(OWN.measure_step) | {"measure_device": lambda *_: (1e9, 1e9)})
    return SimpleNamespace(
        measure_step=measure_step,
        roofline=OWN.roofline,
        promised_flops=OWN.promised_flops,
        deep_network=OWN.deep_network,
    )


def test_operation_is_plotted_on_roof_at_its_intensity() -> None:
    assert DEVICE.ridge == 10
    assert DEVICE.place(400, 4) == Point(100, 1e12, PRODUCT)
    assert DEVICE.place(8, 4) == Point(2, 2e11, PRODUCT)
    assert DEVICE.place(1, 4) == Point(0.25, 2.5e10, OTHER)


def test_roofline_drawing_shows_roof_and_operations() -> None:
    rows = [*draw(DEVICE, [Point(100, 1e12, PRODUCT), Point(0.1, 1e10, OTHER), Point(10, 1e11, STEP)])]
    assert max(map(len, rows)) <= 80
    assert "\n".join(rows).isascii(), "a terminal without Unicode must show it"
    *rows, arrow, axis = rows
    cells = [row.partition("|")[2] for row in rows]
    heights = {mark: next(i for i, row in enumerate(cells) if mark in row) for mark in (PRODUCT, OTHER, STEP)}
    columns = {mark: cells[heights[mark]].index(mark) for mark in heights}
    assert heights[PRODUCT] < heights[STEP] < heights[OTHER]
    assert columns[OTHER] < columns[STEP] < columns[PRODUCT]
    assert cells[heights[PRODUCT]].count(".") > plots.COLUMNS / 4, "the roof must have a flat part"
    first = [row.find(".") for row in cells if "." in row]
    assert first == sorted(first, reverse=True), "the slope must rise to the right"
    assert arrow.endswith("(FLOP/byte)")
    assert axis.split()[1] == "0.05"


@pytest.mark.usefixtures("needs_matplotlib")
def test_training_step_is_predicted_measured_and_drawn(assignment: Any) -> None:
    text = "\n".join(command.run(assignment, KATA.command))
    assert "device: 1e+09 FLOP/s, 1e+09 bytes/s; operations below 1 FLOP/byte are memory-bound" in text
    assert "predicted: " in text
    assert "measured: " in text
    assert "3 runs: " in text
    for kind in ("matrix multiplications, forward", "ReLU, forward", "backward pass", "SGD"):
        assert re.search(rf"[\d.]+e-\d+ +[\d.]+e-\d+ +[\d.]+   {kind}$", text, re.MULTILINE), text
    assert "Which of them is furthest from its roof, and why?" in text
    assert text.endswith("picture: roofline.png")
    assert command.PICTURE.read_bytes().startswith(b"\x89PNG")


def test_missing_matplotlib_message_suggests_installing_it(assignment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    *drawing, last = command.run(assignment, KATA.command)
    assert last == "for a plot, run: pip install matplotlib"
    assert any(STEP in line for line in drawing)
    assert not command.PICTURE.exists()


@pytest.mark.usefixtures("needs_matplotlib")
def test_unwritable_picture_is_reported_in_one_line(assignment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PICTURE", Path("absent/roofline.png"))
    *_, last = command.run(assignment, KATA.command)
    assert last == "absent/roofline.png can't be written: No such file or directory"


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf, None, "fast"])
def test_measured_value_must_be_positive_number(assignment: Any, wrong: Any) -> None:
    assignment.measure_step.measure_step = lambda *_: {"seconds": wrong, "mfu": 0.5}
    with pytest.raises(ValueError, match=r"your measure_step returned .*; expected a positive number"):
        list(command.run(assignment, KATA.command))


def test_times_of_operations_add_up_to_the_step() -> None:
    least = command.predict_kinds(DEVICE, 7.0)
    assert least.keys() == {"matmul", "relu", "backward", "sgd"}
    assert sum(least.values()) == pytest.approx(7.0)


def test_course_defines_additional_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plugins.find_commands()["measure"] == KATA
    assert plugins.find_commands().keys().isdisjoint(course().katas), "a command must not hide a kata"
    monkeypatch.setattr(plugins, "course", Mock(side_effect=CourseError("there is no course here")))
    assert plugins.find_commands() == {}
