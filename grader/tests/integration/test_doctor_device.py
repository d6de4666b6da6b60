"""`grader doctor --device` measures a device and compares it with its datasheet."""

import json
import sys
from collections.abc import Callable
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch

from benchmarks.prove_gpu import torch_only
from grader.base.errors import MachineError
from grader.commands import doctor
from grader.commands.doctor import device
from grader.commands.doctor.device import DTYPES, DeviceSpeed, make_rows, measure_in_child
from grader.tests.conftest import call_grader, run_python
from torchkata.speed.datasheets import devices

H200 = DeviceSpeed(
    name="NVIDIA H200",
    kind="cuda",
    driver="570.1",
    torch="2.13.0",
    flops={"bf16": 790e12, "fp32": 50e12, "tf32": 400e12},
    bandwidth={"copy": 4.0e12, "triad": 4.2e12},
)
QUICK = """
import dataclasses, sys
from grader.commands import doctor
from grader.commands.doctor import device

doctor.examine = lambda: iter(())
device.SIDES, device.ELEMENTS, device.BLOCK_SECONDS = {"cpu": 8}, {"cpu": 1000}, {"cpu": 1e-4}
device.DEMANDS = {"cpu": dataclasses.replace(device.DEMANDS["cpu"], warm_up_seconds=1e-4)}
sys.exit(doctor.run_doctor("cpu", as_json=True))
"""


def test_table_compares_device_with_its_datasheet() -> None:
    rows = {row[0]: row[1:] for row in make_rows(H200)}
    assert rows["bf16"] == ("790 TFLOP/s", "989.4", "0.80", "790")
    assert rows["tf32"] == ("400 TFLOP/s", "494.7", "0.81", "–")
    assert rows["triad"] == ("4200 GB/s", "4800", "0.88", "–")


def test_doctor_measures_cpu_speed() -> None:
    done = run_python("-c", QUICK)
    assert done.code == 0, done.err
    found = json.loads(done.out)["device"]
    assert (found["kind"], found["torch"]) == ("cpu", torch.__version__)
    assert list(found["flops"]) == ["bf16", "fp16", "fp32"]
    assert list(found["bandwidth"]) == ["copy", "triad"]
    assert all(0 < rate < float("inf") for rate in [*found["flops"].values(), *found["bandwidth"].values()])
    for words in ("one core", "not in the table of devices", *(f" {name} " for name in found["flops"])):
        assert words in done.err


@pytest.mark.parametrize("allow_tf32", [device.allow_tf32, torch_only.allow_tf32])
@pytest.mark.parametrize(("allowed", "new", "old"), [(True, "tf32", "high"), (False, "ieee", "highest")])
def test_tf32_setting_fits_the_version_of_torch(
    monkeypatch: pytest.MonkeyPatch, allow_tf32: Callable[[bool], None], allowed: bool, new: str, old: str
) -> None:
    since_2_9, older = SimpleNamespace(fp32_precision="none"), Mock()
    monkeypatch.setattr(torch, "set_float32_matmul_precision", older)
    monkeypatch.setattr(torch.backends.cuda, "matmul", since_2_9)
    allow_tf32(allowed)
    assert (since_2_9.fp32_precision, older.call_count) == (new, 0)
    monkeypatch.setattr(torch.backends.cuda, "matmul", object())
    allow_tf32(allowed)
    older.assert_called_once_with(old)


def test_doctor_reports_crash_of_measuring_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "measure_device", lambda _kind: sys.exit())
    with pytest.raises(MachineError, match="the process that measures the device exited unexpectedly"):
        measure_in_child("cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_doctor_cannot_measure_missing_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "examine", lambda: iter(()))
    done = call_grader("doctor", "--device", "cuda")
    assert (done.code, done.err) == (3, "grader: there is no CUDA device here\n")


def test_datasheet_lists_every_measured_dtype() -> None:
    assert set(DTYPES) <= set(devices()["NVIDIA H200"].tflops)
