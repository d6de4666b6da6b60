"""Tests of selecting and isolating the GPU used for timing, with a fake driver."""

import os
import re
import socket
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest
import torch

from grader.sandbox import launch, mounts
from grader.sandbox.inside import self_test
from grader.sandbox.mounts import Gpu
from grader.speed import gpu, timed_submission
from grader.tests.support.fake_nvml import NO_MIG, FakeNvml


@pytest.fixture(autouse=True)
def _cuda_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that torch is built with CUDA and that no environment variable selects a device."""
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    for name in ("CUDA_VISIBLE_DEVICES", gpu.MPS):
        monkeypatch.delenv(name, raising=False)


def test_sandbox_sees_only_its_gpu(tmp_path: Path) -> None:
    text = " ".join(mounts.build_bwrap_command(tmp_path, Gpu("GPU-1", 3)))
    assert "--dev-bind-try /dev/nvidia3 /dev/nvidia3" in text
    assert "/dev/nvidia0" not in text
    for name in ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"):
        assert f"--dev-bind-try /dev/{name} /dev/{name} " in text
    assert text.index("--tmpfs /dev") < text.index("/dev/nvidia3") < text.index("--remount-ro /dev")
    assert "nvidia" not in " ".join(mounts.build_bwrap_command(tmp_path, None))
    assert launch.build_environment(Gpu("GPU-1", 3))["CUDA_VISIBLE_DEVICES"] == "GPU-1"
    # Otherwise torch would initialize CUDA in the process that forks.
    assert launch.build_environment(None)["CUDA_VISIBLE_DEVICES"] == ""


def test_timing_process_sees_only_its_workers_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setattr(timed_submission, "connect_zygote", lambda _: SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(timed_submission, "receive_messages", lambda work, _: iter([work(lambda _: None)]))
    sandbox: Any = SimpleNamespace(gpu=Gpu("GPU-1", 3))
    list(timed_submission.run_on_device(sandbox, lambda *_: seen.append(os.environ["CUDA_VISIBLE_DEVICES"]), 1.0))
    assert seen == ["GPU-1"]


def test_self_test_detects_socket_that_can_connect() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as unfiltered:
        assert self_test.may_connect(unfiltered), "the system call is allowed, although no process listens"


@pytest.mark.parametrize(("visible", "first"), [(None, 0), ("1,0", 1), ("GPU-1", 1), ("GPU-0,GPU-1", 0)])
def test_first_visible_gpu_is_timed(visible: str | None, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert gpu.choose_gpu(FakeNvml(devices=2)) == Gpu(f"GPU-{first}", 7 - first)


def test_first_gpu_is_that_of_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA puts the fastest device first, and NVML counts along the bus."""
    nvml = FakeNvml(devices=2, names=("NVIDIA L4", "NVIDIA H200"))
    assert gpu.choose_gpu(nvml, lambda: "GPU-1") == Gpu("GPU-1", 6)
    assert "set CUDA_DEVICE_ORDER=PCI_BUS_ID" in str(gpu.choose_gpu(nvml, lambda: ""))
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    assert gpu.choose_gpu(nvml, lambda: "GPU-1") == Gpu("GPU-0", 7)


def test_workers_share_the_cores_near_the_gpu() -> None:
    own = os.sched_getaffinity(0)
    found = gpu.choose_gpu(FakeNvml(near=1 << min(own) % 64))
    assert isinstance(found, Gpu)
    assert min(own) in found.cores <= own
    everywhere = gpu.choose_gpu(FakeNvml(fails={**NO_MIG, "nvmlDeviceGetCpuAffinity": pynvml.NVML_ERROR_NOT_SUPPORTED}))
    assert isinstance(everywhere, Gpu)
    assert everywhere.cores == frozenset()
    with launch.use_cores(frozenset({min(own)})):
        assert os.sched_getaffinity(0) == {min(own)}
    assert os.sched_getaffinity(0) == own


def test_gpus_of_other_users_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = FakeNvml(devices=3, forbidden=(0,))
    assert gpu.choose_gpu(nvml) == Gpu("GPU-1", 6)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")  # CUDA counts only those that it may use
    assert gpu.choose_gpu(nvml) == Gpu("GPU-2", 5)


def test_sandbox_sees_libraries_of_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, spack = tmp_path / "module", tmp_path / "spack with spaces"
    module.mkdir()
    spack.mkdir()
    maps = f"7f00 r-xp 0 0:0 0   {spack}/libffi.so.8\n7f01 r-xp 0 0:0 0   /usr/lib/libm.so.6\n7f02 rw-p 0 0:0 0 \n"
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=maps))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{module}::relative:{tmp_path}/missing:/usr/lib")
    assert mounts.find_library_folders(None) == [module, spack]
    command = mounts.build_bwrap_command(tmp_path, None)
    for folder in (str(module), str(spack)):
        assert command[command.index(folder, command.index("--ro-bind")) - 1] in ("--ro-bind", "--dir")
    monkeypatch.setenv("LD_LIBRARY_PATH", os.environ["HOME"])
    with pytest.raises(mounts.IsolationError, match="workers would see that whole folder"):
        mounts.build_bwrap_command(tmp_path, None)
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert mounts.find_library_folders(None) == [], "without modules, no process is started"


@pytest.mark.parametrize(
    ("nvml", "visible", "words"),
    [
        (FakeNvml(fails={**NO_MIG, "nvmlDeviceGetMinorNumber": pynvml.NVML_ERROR_NOT_SUPPORTED}), None, "this is WSL"),
        (FakeNvml(virtual=2), None, "grade on a whole device"),
        (FakeNvml(devices=2), "GPU-", "names several devices (GPU-)"),
        (FakeNvml(fails={"nvmlInit": pynvml.NVML_ERROR_DRIVER_NOT_LOADED}), None, "Driver Not Loaded"),
        (FakeNvml(devices=0), None, "there is no device"),
        (FakeNvml(), "", "hides all"),
        (FakeNvml(), "5", "names no device that is here (5)"),
        (FakeNvml(compute_mode=3), None, "nvidia-smi -c DEFAULT"),
        (FakeNvml(mig=1, fails={}), None, "nvidia-smi -mig 0"),
        (FakeNvml(), "MIG-7c6e", "nvidia-smi -mig 0"),
    ],
    ids=[
        "WSL",
        "vGPU",
        "ambiguous",
        "no driver",
        "no device",
        "hidden",
        "not there",
        "exclusive",
        "MIG",
        "an instance",
    ],
)
def test_unusable_gpu_is_reported_with_remedy(
    nvml: FakeNvml, visible: str | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    problem = gpu.choose_gpu(nvml)
    assert isinstance(problem, str)
    assert words in problem


def test_mps_and_torch_without_cuda_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(gpu.MPS, "/tmp/mps")
    assert "stop MPS" in str(gpu.choose_gpu(FakeNvml()))
    monkeypatch.setattr(torch.version, "cuda", None)
    assert "built without CUDA" in str(gpu.choose_gpu(FakeNvml()))
    monkeypatch.setattr(torch.version, "hip", "6.4.43482")
    assert re.search("built for ROCm.*CUDA", str(gpu.choose_gpu()))


def test_two_graders_cannot_reserve_the_same_device() -> None:
    first, second = (Gpu(f"GPU-{number} of {os.getpid()}", number) for number in range(2))  # apart from other runs
    with (
        gpu.reserve(first) as taken,
        gpu.reserve(None) as on_cpu,
        gpu.reserve(first) as again,
        gpu.reserve(second) as own,
    ):
        assert (taken, on_cpu, again, own) == ("", "", gpu.TAKEN, "")
    with gpu.reserve(first) as later:
        assert later == ""
