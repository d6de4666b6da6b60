"""The roofline: well-formed, the same every time; written by the report."""

from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.output import roofline
from grader.output.roofline import Point, draw_roofline
from grader.results import result as load
from grader.tests.conftest import ask
from grader.tests.support.made_results import result, result_with_speed, timed
from torchkata.course import course
from torchkata.speed.sizes import Kind, Size
from torchkata.speed.workload import Rate, work_of

SVG = "{http://www.w3.org/2000/svg}"
WORKLOADS = list(course().workloads)


def intensity(workload: str, size: Size) -> float | None:
    """Where a workload has its place on a roofline; None where it has none."""
    work = work_of(workload)
    return work.intensity(size) if isinstance(work, Rate) else None


def texts(svg: str) -> list[str]:
    """Everything that can be read in a picture, once it is known to be XML."""
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_roofline_has_title_and_description() -> None:
    root = ET.fromstring(draw_roofline([Point("sgd_step", 1 / 6, 4e11)], 1e15, 4.8e12, "a <b> & $c$"))
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert "sgd_step" in (root[1].text or "")


def test_roofline_ignores_matplotlib_settings() -> None:
    points = [Point("linear_forward", 4681.0, 7e14), Point("sgd_step", 1 / 6, 4e11)]
    before = draw_roofline(points, 1e15, 4.8e12, "GPU")
    with matplotlib.rc_context({"font.size": 20, "figure.facecolor": "red", "lines.linewidth": 9}):
        assert draw_roofline(points, 1e15, 4.8e12, "GPU") == before
        assert matplotlib.rcParams["font.size"] == 20, "what was set stays set"


positive = st.floats(1e-3, 1e18)


@settings(max_examples=25)
@given(
    st.lists(st.builds(Point, st.sampled_from(WORKLOADS), positive, positive), min_size=1, max_size=8),
    st.none() | positive,
    st.none() | positive,
)
def test_every_point_is_drawn_whatever_is_known_of_the_roofline(
    points: list[Point], peak: float | None, bandwidth: float | None
) -> None:
    shown = " ".join(texts(draw_roofline(points, peak, bandwidth, "GPU")))
    assert all(f"{point.workload}, " in shown for point in points)


def test_a_roofline_shows_its_peak_and_its_bandwidth() -> None:
    shown = texts(
        draw_roofline([Point("sgd_step", 1 / 6, 4e11), Point("linear_forward", 4681, 7e14)], 9.894e14, 4.8e12, "G")
    )
    assert {"989 TFLOP/s", "4.8 TB/s", "linear_forward, 700 TFLOP/s"} <= set(shown)


@given(st.integers(1, 2**14), st.integers(1, 2**14), st.integers(1, 2**14))
def test_the_intensity_of_a_product_is_a_harmonic_mean(batch: int, width: int, outputs: int) -> None:
    found = intensity("linear_forward", Size(batch=batch, width=width, outputs=outputs, dtype="bfloat16"))
    assert found == pytest.approx(1 / (1 / batch + 1 / width + 1 / outputs))


@given(st.integers(1, 2**14), st.integers(1, 2**14), st.integers(1, 64))
def test_a_training_step_is_less_intense_than_its_products(batch: int, width: int, layers: int) -> None:
    size = Size(batch=batch, width=width, layers=layers, outputs=width)
    step, product = intensity("cruncher_step", size), intensity("linear_forward", size)
    assert step is not None
    assert product is not None
    assert 0 < step < product
    assert intensity("train_throughput", size) == step


def test_the_intensity_of_an_optimizer_does_not_depend_on_its_number_of_parameters() -> None:
    for parameters in (1, 2**28):
        assert intensity("sgd_step", Size(parameters=parameters)) == 2 / 12
        assert intensity("adagrad_step", Size(parameters=parameters)) == 7 / 20


def test_workloads_that_neither_compute_nor_stream_have_no_intensity() -> None:
    kinds: tuple[Kind, ...] = ("cpu", "cuda")
    for kind in kinds:
        without = {name for name in WORKLOADS if intensity(name, work_of(name).sizes[kind]) is None}
        assert without == {"get_batch_throughput", "no_hidden_sync", "peak_memory"}


def test_report_draws_the_timed_submissions_and_removes_old_pictures(tmp_path: Path) -> None:
    load.write(result_with_speed("why"), tmp_path)
    load.write(msgspec.structs.replace(result_with_speed("why", submission="cpu"), device="cpu"), tmp_path)
    load.write(result("why", submission="ben"), tmp_path)
    (tmp_path / "ben/roofline.svg").write_text("of an earlier run")
    done = ask("report", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert f"speed:     {tmp_path}/<submission>/roofline.svg" in done.out
    assert "linear_forward" in (tmp_path / "cpu/roofline.svg").read_text()
    assert [path.name for path in (tmp_path / "ben").iterdir()] == ["result.json"]
    roof = texts((tmp_path / "ada/roofline.svg").read_text())
    assert {"linear_forward, 740 TFLOP/s", "sgd_step, 400 GFLOP/s"} <= set(roof)
    assert {"779 TFLOP/s", "4 TB/s"} <= set(roof), "the roof is what the grader's own code reached beside it"
    assert not [text for text in roof if "train_throughput" in text], "its result was wrong"


def test_a_machine_without_torch_draws_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load.write(result_with_speed("why"), tmp_path)
    monkeypatch.setattr(roofline, "find_spec", lambda _: None)
    roofline.draw_result(tmp_path / "ada")
    assert [path.name for path in (tmp_path / "ada").iterdir()] == ["result.json"]


def test_report_without_intensities_draws_nothing(tmp_path: Path) -> None:
    load.write(result("why", submission="ben"), tmp_path)
    assert "speed:" not in ask("report", tmp_path).out
    only = [one for one in timed("why") if one.workload == "no_hidden_sync"]
    load.write(msgspec.structs.replace(result_with_speed("why"), performance=only), tmp_path)
    assert ask("report", tmp_path).code == 0
    assert not list(tmp_path.rglob("*.svg"))
