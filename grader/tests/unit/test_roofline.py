"""Tests of the roofline image that `grader report` writes: it must be valid SVG and reproducible."""

import itertools
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree as ET

import matplotlib
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.output import roofline
from grader.output.roofline import Point, draw_roofline
from grader.results import result as load
from grader.tests.conftest import call_grader
from grader.tests.support.sample_results import make_result, make_result_with_speed, make_timed_results
from torchkata.course import course
from torchkata.speed.sizes import Kind, Size
from torchkata.speed.workload import Rate, work_of

SVG = "{http://www.w3.org/2000/svg}"
WORKLOADS = list(course().workloads)


def compute_intensity(workload: str, size: Size) -> float | None:
    """Return a workload's arithmetic intensity, or None if it does not belong on a roofline."""
    work = work_of(workload)
    return work.intensity(size) if isinstance(work, Rate) else None


def read_texts(svg: str) -> list[str]:
    """Parse an image and return its texts."""
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_roofline_ignores_matplotlib_settings() -> None:
    points = [Point("linear_forward", 4681.0, 7e14), Point("sgd_step", 1 / 6, 4e11)]
    before = draw_roofline(points, 1e15, 4.8e12, "GPU")
    with matplotlib.rc_context({"font.size": 20, "figure.facecolor": "red", "lines.linewidth": 9}):
        assert draw_roofline(points, 1e15, 4.8e12, "GPU") == before
        assert matplotlib.rcParams["font.size"] == 20, "matplotlib's settings must be restored"


def test_roofline_shows_title_peak_and_bandwidth() -> None:
    points = [Point("sgd_step", 1 / 6, 4e11), Point("linear_forward", 4681, 7e14)]
    svg = draw_roofline(points, 9.894e14, 4.8e12, "a <b> & $c$")
    assert {"989 TFLOP/s", "4.8 TB/s", "linear_forward, 700 TFLOP/s"} <= set(read_texts(svg))
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert "sgd_step" in (root[1].text or "")
    for peak, bandwidth in itertools.product((None, 1e3, 1e18), repeat=2):
        shown = read_texts(draw_roofline(points, peak, bandwidth, "GPU"))
        assert {"linear_forward, 700 TFLOP/s", "sgd_step, 400 GFLOP/s"} <= set(shown)


@given(st.integers(1, 2**14), st.integers(1, 2**14), st.integers(1, 64))
def test_intensities_of_matmuls_and_steps_are_correct(batch: int, width: int, layers: int) -> None:
    product = compute_intensity("linear_forward", Size(batch=batch, width=width, outputs=layers, dtype="bfloat16"))
    assert product == pytest.approx(1 / (1 / batch + 1 / width + 1 / layers))
    size = Size(batch=batch, width=width, layers=layers, outputs=width)
    step, product = compute_intensity("cruncher_step", size), compute_intensity("linear_forward", size)
    assert 0 < (step or 0) < (product or 0)
    assert compute_intensity("train_throughput", size) == step


def test_optimizer_intensity_does_not_depend_on_size() -> None:
    for parameters in (1, 2**28):
        assert compute_intensity("sgd_step", Size(parameters=parameters)) == 2 / 12
        assert compute_intensity("adagrad_step", Size(parameters=parameters)) == 7 / 20
    for kind in get_args(Kind):
        without = {name for name in WORKLOADS if compute_intensity(name, work_of(name).sizes[kind]) is None}
        assert without == {"get_batch_throughput", "no_hidden_sync", "peak_memory"}


def test_report_draws_rooflines_and_removes_old_ones(tmp_path: Path) -> None:
    load.write(make_result_with_speed("why"), tmp_path)
    load.write(msgspec.structs.replace(make_result_with_speed("why", submission="cpu"), device="cpu"), tmp_path)
    load.write(make_result("why", submission="ben"), tmp_path)
    (tmp_path / "ben/roofline.svg").write_text("of an earlier run")
    done = call_grader("report", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert f"speed:     {tmp_path}/<submission>/roofline.svg" in done.out
    assert "linear_forward" in (tmp_path / "cpu/roofline.svg").read_text()
    assert [path.name for path in (tmp_path / "ben").iterdir()] == ["result.json"]
    roof = read_texts((tmp_path / "ada/roofline.svg").read_text())
    assert {"linear_forward, 740 TFLOP/s", "sgd_step, 400 GFLOP/s"} <= set(roof)
    assert {"779 TFLOP/s", "4 TB/s"} <= set(roof), "the roof must be the rate of the baseline"
    assert not [text for text in roof if "train_throughput" in text], "a workload with a wrong result must not be drawn"


def test_no_roofline_is_drawn_without_intensities_or_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load.write(make_result("why", submission="ben"), tmp_path)
    assert "speed:" not in call_grader("report", tmp_path).out
    only = [one for one in make_timed_results("why") if one.workload == "no_hidden_sync"]
    load.write(msgspec.structs.replace(make_result_with_speed("why"), performance=only), tmp_path)
    assert call_grader("report", tmp_path).code == 0
    load.write(make_result_with_speed("why"), tmp_path)
    monkeypatch.setattr(roofline, "find_spec", lambda _: None)
    roofline.draw_result(tmp_path / "ada")
    assert not list(tmp_path.rglob("*.svg"))
