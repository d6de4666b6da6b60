"""Tests of the table of device datasheets, and of the thresholds that depend on it."""

import pytest
import torch

from torchkata.course import course
from torchkata.inside.speed.device import Device
from torchkata.speed.datasheets import device, devices
from torchkata.speed.decision import peak_on, thresholds_on


@pytest.mark.parametrize(
    "name",
    ["", "NVIDIA", "H100", "NVIDIA H100", "NVIDIA L40", "nvidia l4", "NVIDIA L4 ", "NVIDIA H200 NVL", "NVIDIA A10"],
)
def test_only_exact_device_names_have_a_datasheet(name: str) -> None:
    assert device(name) is None


def test_only_h100_and_h200_have_mfu_thresholds() -> None:
    assert [name for name, entry in devices().items() if entry.mfu] == ["NVIDIA H100 80GB HBM3", "NVIDIA H200"]


def test_mfu_thresholds_apply_only_to_measured_devices() -> None:
    workload = course().workloads["linear_forward"]
    h100, a100 = device("NVIDIA H100 80GB HBM3"), device("NVIDIA A100-SXM4-80GB")
    assert thresholds_on(h100, "cuda", workload, torch.bfloat16) == (workload.mfu, 989.4e12)
    for other in (a100, device("something new")):
        assert thresholds_on(other, "cuda", workload, torch.bfloat16) == (workload.ratio["cuda"], None)
    assert (peak_on(a100, torch.bfloat16), peak_on(None, torch.bfloat16)) == (312e12, None)


@pytest.mark.parametrize(
    ("name", "dtype", "tf32", "peak"),
    [
        ("NVIDIA L40S", torch.bfloat16, False, 362e12),
        ("NVIDIA H100 80GB HBM3", torch.bfloat16, False, 989.4e12),
        ("NVIDIA H200", torch.float32, False, 67e12),
        ("NVIDIA H200", torch.float32, True, 494.7e12),
        ("NVIDIA H200", torch.bfloat16, True, 989.4e12),
        ("NVIDIA B200", torch.float32, False, 75e12),
        ("NVIDIA B200", torch.float32, True, 1125e12),
        ("NVIDIA H200", torch.float8_e4m3fn, False, 1979e12),
        ("NVIDIA H200", torch.float64, False, None),
        ("Tesla V100-SXM2-16GB", torch.bfloat16, False, None),
        ("Tesla V100-SXM2-16GB", torch.float32, True, None),
    ],
)
def test_peak_depends_on_device_and_dtype(name: str, dtype: torch.dtype, peak: float | None, *, tf32: bool) -> None:
    assert devices()[name].peak(dtype, tf32=tf32) == peak


@pytest.mark.parametrize("entry", devices().values(), ids=lambda entry: entry.name)
def test_datasheet_has_plausible_dense_peaks(entry: Device) -> None:
    assert entry.tflops.keys() <= {"bf16", "fp16", "tf32", "fp32", "fp8"}
    assert entry.bandwidth == entry.gb_s * 1e9
    assert 300 <= entry.gb_s <= 8000
    half = entry.tflops["fp16"]
    assert entry.tflops.get("bf16", half) == half
    assert entry.tflops["fp32"] <= 0.51 * half
    # A value with 2:4 sparsity would be twice as large as its dense neighbours.
    assert entry.tflops.get("tf32", half / 2) == pytest.approx(half / 2, rel=0.02)
    assert entry.tflops.get("fp8", 2 * half) == pytest.approx(2 * half, rel=0.02)
    assert all(best <= 1.2 * entry.tflops[name] for name, best in entry.achieved.items())
