"""Tests of the remarks on speed: one line with a cause and advice, or nothing at full speed."""

import math
import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchkata.course import course
from torchkata.i18n import translate
from torchkata.inside.speed.sizes import Kind
from torchkata.pytest_plugin.gpu import get_claim
from torchkata.speed.datasheets import device
from torchkata.speed.remarks import choose_lesson

WORKLOADS = list(course().workloads)
kinds = st.sampled_from(get_args(Kind))


@given(
    workload=st.sampled_from(WORKLOADS),
    kind=kinds,
    ratio=st.floats(0, 3) | st.sampled_from([0.0, 1e-12]),
    mfu=st.none() | st.floats(0, 1.2),
    model=st.sampled_from([None, "NVIDIA L4", "Tesla T4", "NVIDIA H200"]),
)
def test_speed_remark_is_one_line(
    workload: str, kind: Kind, ratio: float, mfu: float | None, model: str | None
) -> None:
    remark = choose_lesson(workload, kind, ratio, mfu, device(model) if model else None)
    assert "\n" not in remark
    assert remark == "" or remark[-1] in ".?"
    assert "inf" not in remark
    assert "nan" not in remark


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("kind", get_args(Kind))
def test_remark_is_omitted_at_full_or_unmeasured_speed(workload: str, kind: Kind) -> None:
    assert choose_lesson(workload, kind, course().workloads[workload].ratio[kind].full, None) == ""
    assert choose_lesson(workload, kind, None, None) == choose_lesson(workload, kind, math.nan, None) == ""
    assert choose_lesson(workload, kind, 0.09, None) != ""


@pytest.mark.parametrize("workload", ["linear_forward", "cruncher_step"])
def test_remark_uses_mfu_only_if_its_thresholds_apply(workload: str) -> None:
    l4 = device("NVIDIA L4")
    for other, at_full_speed, slow in ((None, (0.7, 0.65), (0.8, 0.52)), (l4, (0.8, 0.45), (0.5, 0.65))):
        assert choose_lesson(workload, "cuda", *at_full_speed, other) == ""
        assert choose_lesson(workload, "cuda", *slow, other) != ""


@pytest.mark.parametrize(
    ("mfu", "words"),
    [
        (0.025, "is less than float32 reaches: is there a loop over rows"),
        (0.03, "is about what float32 reaches: keep everything in bfloat16"),
        (0.07, "is about what float32 reaches: keep everything in bfloat16"),
        (0.41, "is about what TF32 reaches: keep everything in bfloat16"),
        *((mfu, "part of the time is not spent in the matmul") for mfu in (0.2, 0.55)),
    ],
)
def test_remark_infers_precision_from_mfu(mfu: float, words: str) -> None:
    remark = choose_lesson("linear_forward", "cuda", mfu / 0.8, mfu)
    assert remark.startswith(f"MFU {mfu:.2f}")
    assert words in remark
    l4 = device("NVIDIA L4")  # float32 reaches a quarter of the bfloat16 peak; on an H100, a fifteenth
    assert "about what float32 reaches" in choose_lesson("linear_forward", "cuda", 0.3, 0.2, l4)
    assert "is less than float32 reaches" in choose_lesson("linear_forward", "cuda", 0.1, 0.05, l4)


@pytest.mark.parametrize(
    ("workload", "kind", "ratio", "mfu", "words"),
    [
        ("linear_forward", "cpu", 0.02, None, "0.02 times the speed of a plain matmul: is there a Python loop?"),
        ("linear_forward", "cpu", 0.48, None, "0.48 times the speed of a plain matmul is about what float64 reaches"),
        ("sgd_step", "cuda", 0.6, None, "The time is that of 5 reads and writes per parameter; 3 are needed"),
        ("adagrad_step", "cuda", 0.2941, None, "The time is that of 17 reads and writes per parameter; 5 are needed"),
        ("cruncher_step", "cuda", 0.5, 0.4, "TF32"),
        ("cruncher_step", "cpu", 0.6, None, "three matmuls per layer"),
        ("train_throughput", "cuda", 0.3, None, "Build the model and the optimizer once"),
        ("train_throughput", "cpu", 0.3, None, "Build the model and the optimizer once"),
        ("sgd_step", "cpu", 0.001, None, "loop over rows or elements"),
        ("get_batch_throughput", "cuda", 0.05, None, "Index all of them at once"),
        ("get_batch_throughput", "cuda", 0.5, None, "Index all of them at once"),
        ("get_batch_throughput", "cuda", 0.88, None, "`pin_memory()`"),
    ],
)
def test_remark_names_the_likely_cause(workload: str, kind: Kind, ratio: float, mfu: float | None, words: str) -> None:
    assert words in choose_lesson(workload, kind, ratio, mfu)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_remarks_and_claims_are_translated_to_chinese(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    told = [translate(get_claim(workload))]
    figures = [None, 0.001, 0.01, 0.03, 0.05, 0.36, 0.45]
    for kind in get_args(Kind):
        told += [choose_lesson(workload, kind, ratio, mfu) for ratio in (1e-3, 0.05, 0.48, 0.55) for mfu in figures]
    assert [one for one in told if one and not re.search("[\u4e00-\u9fff]", one)] == []
