"""Tests of `kata measure` and `kata rates`, which draw what they measure as text and as an image."""

import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.tests.support.solution import SOLUTION
from reference import plots
from reference.measure_step import command as measure
from reference.measure_step.command import OTHER, PRODUCT, STEP, Point, Roofline, draw
from reference.train import command as rates
from torchkata.course import course
from torchkata.inside.assignment import Assignment

OWN = Assignment(SOLUTION, "exemplary")
DEVICE = Roofline(1e12, 1e11, OWN.roofline)
POINTS = [Point(100, 1e12, PRODUCT), Point(0.1, 1e10, OTHER), Point(10, 1e11, STEP)]
TEXTS = course().katas["measure_step"].command


@pytest.fixture
def assignment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return the reference solution with small sizes, on a device with known rates."""
    monkeypatch.chdir(tmp_path)
    for name, size in (("B", 32), ("D", 32), ("L", 2), ("WIDTH", 64)):
        monkeypatch.setattr(measure, name, size)
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
    rows = [*draw(DEVICE, POINTS)]
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
    text = "\n".join(measure.run(assignment, TEXTS))
    assert "device: 1e+09 FLOP/s, 1e+09 bytes/s; operations below 1 FLOP/byte are memory-bound" in text
    assert all(words in text for words in ("predicted: ", "measured: ", "(3 runs: "))
    for kind in ("matrix multiplications, forward", "ReLU, forward", "backward pass", "SGD"):
        assert re.search(rf"[\d.]+e-\d+ +[\d.]+e-\d+ +[\d.]+   {kind}$", text, re.MULTILINE), text
    assert text.endswith("picture: roofline.png")
    assert all(len(line) <= 80 for line in text[text.index("Decoding") :].splitlines())
    assert "Below a batch of 2, it is memory-bound" in text
    rows = re.findall(r"^ +(\S+) +\S+ +\S+   batch (\d+)(.*): \S+ tokens/s$", text, re.MULTILINE)
    least = [float(seconds) for seconds, *_ in rows]
    assert [batch for _, batch, _ in rows] == ["1", "4", "16", "64", "16"]
    assert least[:4] == [1.31e-4, 2.62e-4, 1.05e-3, 4.19e-3], "8 · 64 · 64 · 4 bytes, or 2 FLOPs per weight and row"
    assert measure.PICTURE.read_bytes().startswith(b"\x89PNG")


def test_impossible_ratios_are_explained() -> None:
    least = dict.fromkeys(("matmul", "relu"), 1.0)
    told = "\n".join(measure.compare(least, {"matmul": 2.0, "relu": 0.5}, TEXTS))
    assert TEXTS["below"] in told
    assert TEXTS["below"] not in "\n".join(measure.compare(least, {"matmul": 2.0, "relu": 1.0}, TEXTS))


@pytest.mark.parametrize(("load", "lines"), [(4.0, 0), (4.5, 1)])
def test_busy_machine_is_reported_before_measuring(monkeypatch: pytest.MonkeyPatch, load: float, lines: int) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0), raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert len([*measure.warn_if_busy(TEXTS)]) == lines


@pytest.mark.usefixtures("needs_matplotlib")
def test_picture_that_is_not_saved_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "PICTURE", Path("absent/roofline.png"))
    told = measure.save(DEVICE, POINTS, TEXTS)
    assert told == "absent/roofline.png can't be written: No such file or directory"
    monkeypatch.setattr(measure, "find_spec", lambda _: None)
    assert measure.save(DEVICE, POINTS, TEXTS) == "for a plot, run: pip install matplotlib"


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf, None, "fast"])
def test_measured_value_must_be_positive_number(assignment: Any, wrong: Any) -> None:
    assignment.measure_step.measure_step = lambda *_: {"seconds": wrong, "mfu": 0.5}
    with pytest.raises(ValueError, match=r"your measure_step returned .*; expected a positive number"):
        list(measure.run(assignment, TEXTS))


@pytest.mark.usefixtures("needs_matplotlib")
def test_larger_learning_rate_converges_faster_until_divergence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [*rates.run(OWN, course().katas["train"].command)]
    ends = {line.split()[3]: line.split(": ")[1] for line in lines if "lr = " in line}
    assert float(ends["0.01"]) < float(ends["0.001"]) / 10
    assert float(ends["0.1"]) < float(ends["0.001"]) / 10
    assert ends["1"] == "the loss is infinite or NaN"
    assert lines[-1] == "picture: rates.png"
    assert rates.PICTURE.read_bytes().startswith(b"\x89PNG")
