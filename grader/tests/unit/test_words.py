"""Remarks on speed are one line, name what was seen and what to do, and are silent where there is nothing to teach."""

import math
import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchkata.course import course
from torchkata.i18n.notes import translate
from torchkata.pytest_plugin.gpu import get_claim
from torchkata.speed.datasheets import device
from torchkata.speed.remarks import choose_lesson
from torchkata.speed.sizes import Kind
from torchkata.speed.workload import CRAWL, Measured, work_of

WORKLOADS = list(course().workloads)
kinds = st.sampled_from(get_args(Kind))


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_workload_of_the_course_has_its_lessons(workload: str) -> None:
    h100 = device("NVIDIA H100 80GB HBM3")
    assert h100 is not None
    assert work_of(workload).remark(Measured("cpu", CRAWL, None, h100))


@given(
    workload=st.sampled_from(WORKLOADS),
    kind=kinds,
    ratio=st.floats(0, 3) | st.sampled_from([0.0, 1e-12]),
    mfu=st.none() | st.floats(0, 1.2),
    model=st.sampled_from([None, "NVIDIA L4", "Tesla T4", "NVIDIA H200"]),
)
def test_a_lesson_on_speed_is_one_line(
    workload: str, kind: Kind, ratio: float, mfu: float | None, model: str | None
) -> None:
    remark = choose_lesson(workload, kind, ratio, mfu, device(model) if model else None)
    assert "\n" not in remark
    assert remark == "" or remark[-1] in ".?"
    assert "inf" not in remark
    assert "nan" not in remark


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_student_who_reached_full_speed_or_was_not_measured_gets_no_lesson(workload: str, kind: Kind) -> None:
    assert choose_lesson(workload, kind, course().workloads[workload].ratio[kind].full, None) == ""
    assert choose_lesson(workload, kind, None, None) == choose_lesson(workload, kind, math.nan, None) == ""
    assert choose_lesson(workload, kind, 0.09, None) != ""


@pytest.mark.parametrize("workload", ["linear_forward", "cruncher_step"])
def test_the_mfu_decides_on_an_h100_whether_a_lesson_is_given(workload: str) -> None:
    assert choose_lesson(workload, "cuda", 0.7, 0.65) == ""
    assert choose_lesson(workload, "cuda", 0.8, 0.52) != ""


def test_the_ratio_decides_whether_a_lesson_is_given_where_no_mfu_thresholds_apply() -> None:
    l4 = device("NVIDIA L4")
    assert choose_lesson("linear_forward", "cuda", 0.8, 0.45, l4) == ""
    assert choose_lesson("linear_forward", "cuda", 0.5, 0.65, l4) != ""


@pytest.mark.parametrize(
    ("mfu", "words"),
    [
        (0.01, "is less than float32 reaches: is there a loop over rows"),
        (0.025, "is less than float32 reaches"),
        (0.03, "is about what float32 reaches"),
        (0.04, "is about what float32 reaches: keep everything in bfloat16"),
        (0.05, "is about what float32 reaches"),
        (0.07, "is about what float32 reaches"),
        (0.2, "part of the time is not spent in the product"),
        (0.36, "is about what TF32 reaches: keep everything in bfloat16"),
        (0.41, "is about what TF32 reaches"),
        (0.45, "is about what TF32 reaches"),
        (0.55, "part of the time is not spent in the product"),
    ],
)
def test_the_lesson_on_an_h100_tells_the_precision_from_the_mfu(mfu: float, words: str) -> None:
    remark = choose_lesson("linear_forward", "cuda", mfu / 0.8, mfu)
    assert remark.startswith(f"MFU {mfu:.2f}")
    assert words in remark


def test_the_lesson_reads_the_precision_by_the_peaks_of_the_device() -> None:
    """An L4 does float32 at a quarter of bfloat16's peak, an H100 at a fifteenth."""
    assert "about what float32 reaches" in choose_lesson("linear_forward", "cuda", 0.3, 0.2, device("NVIDIA L4"))
    assert "is less than float32 reaches" in choose_lesson("linear_forward", "cuda", 0.1, 0.05, device("NVIDIA L4"))


@pytest.mark.parametrize(
    ("workload", "kind", "ratio", "mfu", "words"),
    [
        ("linear_forward", "cpu", 0.02, None, "0.02 of a plain product: is there a Python loop?"),
        ("linear_forward", "cpu", 0.48, None, "0.48 of a plain product is about what float64 reaches"),
        ("sgd_step", "cuda", 0.6, None, "The time is that of 5 reads and writes per parameter; 3 are needed"),
        ("adagrad_step", "cuda", 0.4545, None, "The time is that of 11 reads and writes per parameter; 5 are needed"),
        ("peak_memory", "cuda", 1 / 2.3, None, "Used 2.3 times the memory that is needed: are activations kept alive?"),
        ("cruncher_step", "cuda", 0.06, 0.05, "about what float32 reaches"),
        ("cruncher_step", "cuda", 0.5, 0.4, "TF32"),
        ("cruncher_step", "cuda", 0.02, 0.01, "Python loop"),
        ("cruncher_step", "cpu", 0.6, None, "three products per layer"),
        ("train_throughput", "cuda", 0.3, None, "`.item()`"),
        ("train_throughput", "cpu", 0.3, None, "Build the model and the optimizer once"),
        ("sgd_step", "cpu", 0.001, None, "loop over rows or elements"),
        ("get_batch_throughput", "cpu", 0.1, None, "Index all of them at once"),
        ("get_batch_throughput", "cuda", 0.05, None, "Index all of them at once"),
        ("get_batch_throughput", "cuda", 0.5, None, "`pin_memory()`"),
        ("no_hidden_sync", "cuda", 0.0, None, "The host waited"),
        ("peak_memory", "cuda", 0.7, None, "Update in place instead"),
    ],
)
def test_a_lesson_names_the_likely_cause(
    workload: str, kind: Kind, ratio: float, mfu: float | None, words: str
) -> None:
    assert words in choose_lesson(workload, kind, ratio, mfu)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_lesson_and_claim_has_its_chinese(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    told = [translate(get_claim(workload))]
    figures = [None, 0.001, 0.01, 0.03, 0.05, 0.36, 0.45]
    for kind in get_args(Kind):
        told += [choose_lesson(workload, kind, ratio, mfu) for ratio in (1e-3, 0.05, 0.48, 0.55) for mfu in figures]
    assert [one for one in told if one and not re.search("[\u4e00-\u9fff]", one)] == []


def test_an_unknown_workload_has_no_lesson() -> None:
    with pytest.raises(KeyError):
        choose_lesson("matmul", "cpu", 0.5, None)
