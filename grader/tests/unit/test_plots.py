"""Pictures of the speed: well-formed, the same every time, with nothing of a student's words; written by the report."""

from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib
import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grader.output import speed_pictures
from grader.output.pictures.bars import bars
from grader.output.pictures.roofline import Point, roofline
from grader.results import result as stored
from grader.results.result import PerformanceResult
from grader.tests.conftest import ask
from grader.tests.made import HOSTILE, OUTCOMES, rehearsed, result, result_with_speed, timed
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


def test_the_bar_chart_shows_share_points_and_outcome_of_each_workload() -> None:
    shown = texts(bars(timed(), "NVIDIA H200"))
    assert {"linear_forward", "0.74 of the peak · 5 of 5 points", "Speed on NVIDIA H200"} <= set(shown)
    assert "wrong · 0 of 4 points" in shown, "fast, and wrong"
    assert "0.60 of the baseline · 2 of 3 points" in shown
    assert "crashed · 0 of 3 points" in shown
    assert {"inconclusive", "not run"} <= set(shown)


def test_the_bar_chart_of_a_rehearsal_shows_no_points() -> None:
    shown = texts(bars(rehearsed(), "a CPU"))
    assert {"Speed on a CPU: a rehearsal, no points", "0.60 of the baseline", "wrong", "crashed"} <= set(shown)
    assert not [text for text in shown if "points" in text and "rehearsal" not in text]


def test_pictures_have_a_title_and_a_description_for_screen_readers() -> None:
    for svg in (
        bars(timed(), "a <b> & $c$"),
        roofline([Point("sgd_step", 1 / 6, 4e11)], 1e15, 4.8e12, "$\\x$"),
    ):
        root = ET.fromstring(svg)
        assert root.get("role") == "img"
        assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
        assert "_step" in (root[1].text or "")


def test_the_bar_chart_has_no_words_of_a_student() -> None:
    assert bars(timed(HOSTILE), "GPU") == bars(timed("other words"), "GPU")


def test_pictures_do_not_depend_on_the_matplotlib_settings_of_a_user() -> None:
    points = [Point("linear_forward", 4681.0, 7e14), Point("sgd_step", 1 / 6, 4e11)]
    before = bars(timed(), "GPU"), roofline(points, 1e15, 4.8e12, "GPU")
    with matplotlib.rc_context({"font.size": 20, "figure.facecolor": "red", "lines.linewidth": 9}):
        assert (bars(timed(), "GPU"), roofline(points, 1e15, 4.8e12, "GPU")) == before
        assert matplotlib.rcParams["font.size"] == 20, "what was set stays set"


shares_found = st.floats(0, 1e6)
shares = st.none() | shares_found


@settings(max_examples=25)
@example([PerformanceResult("linear_forward", "passed", ratio=2e-309, mfu=1.0, thresholds=(0.0, 0.0))])
@example([PerformanceResult("linear_forward", "passed", ratio=3e-309, mfu=0.25, thresholds=(0.0, 2.0))])
@given(
    st.lists(
        st.builds(
            PerformanceResult,
            st.sampled_from(WORKLOADS),
            st.sampled_from(OUTCOMES),
            ratio=shares,
            mfu=shares,
            interval=st.none() | st.tuples(shares_found, shares_found),
            thresholds=st.none() | st.tuples(shares_found, shares_found),
        ),
        max_size=8,
    ),
)
def test_every_result_can_be_drawn_as_a_bar_chart(results: list[PerformanceResult]) -> None:
    shown = texts(bars(results, "GPU"))
    assert all(result.workload in shown for result in results)


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
    shown = " ".join(texts(roofline(points, peak, bandwidth, "GPU")))
    assert all(f"{point.workload}, " in shown for point in points)


def test_a_roofline_shows_its_peak_and_its_bandwidth() -> None:
    shown = texts(
        roofline([Point("sgd_step", 1 / 6, 4e11), Point("linear_forward", 4681, 7e14)], 9.894e14, 4.8e12, "G")
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
    stored.write(result_with_speed("why"), tmp_path)
    stored.write(msgspec.structs.replace(result_with_speed("why", submission="cpu"), device="cpu"), tmp_path)
    stored.write(result("why", submission="ben"), tmp_path)
    (tmp_path / "ben/speed.svg").write_text("of an earlier run")
    done = ask("report", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert f"speed:     {tmp_path}/<submission>/speed.svg, roofline.svg" in done.out
    for name in ("ada", "cpu"):
        assert "linear_forward" in texts((tmp_path / name / "speed.svg").read_text())
    assert [path.name for path in (tmp_path / "ben").iterdir()] == ["result.json"]
    roof = texts((tmp_path / "ada/roofline.svg").read_text())
    assert {"linear_forward, 740 TFLOP/s", "sgd_step, 400 GFLOP/s"} <= set(roof)
    assert {"779 TFLOP/s", "4 TB/s"} <= set(roof), "the roof is what the grader's own code reached beside it"
    assert not [text for text in roof if "train_throughput" in text], "its result was wrong"


def test_a_machine_without_torch_draws_bars_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored.write(result_with_speed("why"), tmp_path)
    monkeypatch.setattr(speed_pictures, "find_spec", lambda _: None)
    speed_pictures.draw(tmp_path / "ada")
    assert sorted(path.name for path in (tmp_path / "ada").iterdir()) == ["result.json", "speed.svg"]


def test_a_report_without_workloads_draws_nothing(tmp_path: Path) -> None:
    stored.write(result("why"), tmp_path)
    done = ask("report", tmp_path)
    assert "speed:" not in done.out
    assert not list(tmp_path.rglob("*.svg"))


def test_report_draws_no_roofline_where_no_workload_has_an_intensity(tmp_path: Path) -> None:
    only = [one for one in timed("why") if one.workload == "no_hidden_sync"]
    stored.write(msgspec.structs.replace(result_with_speed("why"), performance=only), tmp_path)
    assert ask("report", tmp_path).code == 0
    assert sorted(path.name for path in (tmp_path / "ada").iterdir()) == ["result.json", "speed.svg"]
