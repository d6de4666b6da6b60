"""Tests of `grader calibrate`: benchmarking a device, storing the results and comparing later runs with them."""

import sys
from pathlib import Path
from socket import socketpair

import msgspec
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.base.errors import MachineError
from grader.commands import calibrate
from grader.speed import ceilings, rates, setup
from grader.speed.calibration import TOLERATED, Calibration, calibration_path, compare_with_calibration, load, store
from grader.speed.timed_worker import Task
from grader.tests.conftest import call_grader
from torchkata.speed.datasheets import devices
from torchkata.speed.sizes import Kind, Size
from torchkata.speed.workload import work_of

H200 = Calibration(
    device="NVIDIA H200",
    kind="cuda",
    date="2026-01-31",
    torch="2.13.0",
    flops={"bf16": 790e12, "fp32": 50e12, "tf32": 400e12},
    bandwidth={"copy": 4.0e12, "triad": 4.2e12},
    driver="570.1",
)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use an empty cache directory."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_table_compares_device_with_its_datasheet() -> None:
    rows = {row[0]: row[1:] for row in calibrate.make_rows(H200)}
    assert rows["bf16"] == ("790 TFLOP/s", "989.4", "0.80", "790")
    assert rows["tf32"] == ("400 TFLOP/s", "494.7", "0.81", "–")
    assert rows["triad"] == ("4200 GB/s", "4800", "0.88", "–")


def test_calibrate_reports_crash_of_measuring_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ceilings, "measure_device", lambda _kind: sys.exit())
    with pytest.raises(MachineError, match="the measuring process exited unexpectedly"):
        calibrate.measure("cpu")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--device", "none"], "grader: --device none: choose cpu or cuda"),
        (["--to", "/"], "grader: --to /: must be a file in an existing directory"),
        (["--to", "/nowhere/at/all.json"], "grader: --to /nowhere/at/all.json: must be a file"),
    ],
)
def test_calibrate_reports_bad_option_in_one_line(options: list[str], line: str) -> None:
    done = call_grader("calibrate", *options)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(line)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_calibrate_without_gpu_exits_with_code_3() -> None:
    done = call_grader("calibrate", "--device", "cuda")
    assert (done.code, done.err) == (3, "grader: there is no CUDA device here\n")


@given(st.text())
def test_any_device_name_yields_an_ascii_file_name(name: str) -> None:
    assert calibration_path(name).parent == calibration_path("NVIDIA H200").parent
    assert calibration_path(name).name.isascii()


def test_calibration_loads_only_for_its_device() -> None:
    assert load("NVIDIA H200", "cuda") is None
    store(H200, calibration_path("NVIDIA H200"))
    assert load("NVIDIA H200", "cuda") == H200
    assert load("NVIDIA H200", "cpu") is None
    assert load("NVIDIA/H200", "cuda") is None, "another device's name gives the same file"
    calibration_path("NVIDIA H200").write_bytes(b'{"device": 7}')
    assert load("NVIDIA H200", "cuda") is None


@given(st.sampled_from(["cpu", "cuda"]), st.floats(0.01, 2))
def test_device_slower_than_tolerated_is_reported(kind: Kind, share: float) -> None:
    calibration = msgspec.structs.replace(H200, kind=kind)
    report = compare_with_calibration(calibration, "bf16", share * 790e12)
    assert bool(report) == ("2026-01-31" in report) == (share * 790e12 < (1 - TOLERATED[kind]) * 790e12)
    assert compare_with_calibration(calibration, "fp64", share) == ""
    assert compare_with_calibration(None, "bf16", share) == ""


def test_grading_uses_calibration_of_its_device() -> None:
    one, other = socketpair()
    with one, other:
        machine = setup.open_machine("cpu", one, other)
        assert machine.calibration is None
        here = msgspec.structs.replace(H200, device=machine.name, kind="cpu")
        store(here, calibration_path(machine.name))
        machine = setup.open_machine("cpu", one, other)
        assert machine.calibration == here
        product, steps = (
            Task(name, "cpu", work_of(name).sizes["cpu"], 1) for name in ("linear_forward", "train_throughput")
        )
        assert rates.check_calibration(machine, product, 0.1 * 50e12).startswith(
            "this device reaches only 0.1 times its calibrated speed"
        )
        assert rates.check_calibration(machine, product, 0.9 * 50e12) == ""
        assert rates.check_calibration(machine, steps, 1.0) == "", "only a plain matmul is compared"


@given(st.integers(1, 2**14), st.integers(1, 2**15), st.integers(1, 2**13), st.sampled_from([2, 4, 8]))
def test_calibration_halves_rows_to_fit_memory(batch: int, width: int, outputs: int, itemsize: int) -> None:
    whole = Size(batch=batch, width=width, outputs=outputs)
    needed = itemsize * ceilings.count_elements(whole)
    assert ceilings.shrink_to_fit(whole, itemsize, 2 * needed) == whole
    less = ceilings.shrink_to_fit(whole, itemsize, 2 * needed - 1)
    assert less.batch == max(1, batch // 2) or batch == 1
    assert ceilings.shrink_to_fit(whole, itemsize, 0).batch == 1


def test_datasheet_lists_every_calibrated_dtype() -> None:
    assert set(ceilings.DTYPES["cuda"]) <= set(devices()["NVIDIA H200"].tflops)
