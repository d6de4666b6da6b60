"""The table of devices answers to exact names and never guesses."""

import pytest
import torch

from torchkata.speed.datasheets import Device, device, devices


def known(name: str) -> Device:
    found = device(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "name",
    ["", "NVIDIA", "H100", "NVIDIA H100", "NVIDIA L40", "nvidia l4", "NVIDIA L4 ", "NVIDIA H200 NVL", "NVIDIA A10"],
)
def test_a_device_that_is_not_in_the_table_is_unknown(name: str) -> None:
    assert device(name) is None


def test_devices_whose_names_begin_alike_are_told_apart() -> None:
    assert known("NVIDIA L40S").peak(torch.bfloat16) == 362e12
    assert known("NVIDIA L4").peak(torch.bfloat16) == 121e12
    assert known("NVIDIA H100 PCIe").peak(torch.bfloat16) == 756e12
    assert known("NVIDIA H100 NVL").peak(torch.bfloat16) == 835.5e12
    assert known("NVIDIA H100 80GB HBM3").peak(torch.bfloat16) == 989.4e12


def test_mfu_thresholds_apply_to_two_devices_alone() -> None:
    assert [name for name, entry in devices().items() if entry.mfu] == ["NVIDIA H100 80GB HBM3", "NVIDIA H200"]


def test_a_peak_goes_by_the_dtype_of_the_operands() -> None:
    h200 = known("NVIDIA H200")
    assert h200.peak(torch.float32) == 67e12
    assert h200.peak(torch.float32, tf32=True) == 494.7e12
    assert h200.peak(torch.bfloat16, tf32=True) == 989.4e12
    assert h200.peak(torch.float8_e4m3fn) == h200.peak(torch.float8_e5m2) == 1979e12
    assert h200.bandwidth == 4.8e12


def test_a_peak_that_the_datasheet_does_not_promise_is_none() -> None:
    v100 = known("Tesla V100-SXM2-16GB")
    assert v100.peak(torch.bfloat16) is None
    assert v100.peak(torch.float32, tf32=True) is None
    assert known("NVIDIA A100-SXM4-80GB").peak(torch.float8_e4m3fn) is None
    assert known("NVIDIA H200").peak(torch.float64) is None
    assert known("NVIDIA H200").peak(torch.int8) is None


@pytest.mark.parametrize("entry", devices().values(), ids=lambda entry: entry.name)
def test_the_device_table_has_dense_peaks_in_its_units(entry: Device) -> None:
    assert entry.tflops.keys() <= {"bf16", "fp16", "tf32", "fp32", "fp8"}
    assert 300 <= entry.gb_s <= 8000
    half = entry.tflops["fp16"]
    assert entry.tflops.get("bf16", half) == half
    assert entry.tflops["fp32"] <= 0.51 * half
    # A figure with 2:4 sparsity among dense ones would be off by 2 against its neighbours.
    assert entry.tflops.get("tf32", half / 2) == pytest.approx(half / 2, rel=0.02)
    assert entry.tflops.get("fp8", 2 * half) == pytest.approx(2 * half, rel=0.02)
    assert all(best <= 1.2 * entry.tflops[name] for name, best in entry.achieved.items())
