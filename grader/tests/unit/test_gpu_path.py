"""What only a GPU would run, with a pretended one: calls to CUDA, what is watched, what is copied, what is bound."""
# ruff: noqa: N802  (the names of CUDA's functions)

import ctypes
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.sandbox import cuda, launch
from grader.speed import figures, setup
from grader.speed.figures import STEPS, WrongResult
from grader.speed.rates import peak_of, thresholds_on
from grader.speed.side import Done, Side, Task
from grader.speed.state import DeviceState, StateUnknown
from torchkata.course import course
from torchkata.reply import Reply
from torchkata.speed.devices import device
from torchkata.speed.sizes import Size
from torchkata.speed.workload import work_of

PATIENCE = 60.0  # seconds that a thread may take to have its turn


class Runtime:
    """CUDA's runtime with the signatures of its C functions; memory is this process' own."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.blocks: dict[int, Any] = {}
        self.handles: dict[bytes, int] = {}

    def cudaMalloc(self, address: Any, size: ctypes.c_size_t) -> int:
        block = ctypes.create_string_buffer(size.value)
        address._obj.value = ctypes.addressof(block)
        self.blocks[address._obj.value] = block
        return self.code("cudaMalloc")

    def cudaIpcGetMemHandle(self, handle: Any, address: ctypes.c_void_p) -> int:
        name = f"handle {len(self.handles)}".encode().ljust(cuda.HANDLE_BYTES, b"\1")
        ctypes.memmove(ctypes.addressof(handle._obj), name, cuda.HANDLE_BYTES)
        self.handles[name] = address.value or 0
        return self.code("cudaIpcGetMemHandle")

    def cudaIpcOpenMemHandle(self, address: Any, handle: cuda.Handle, flags: int) -> int:
        assert flags == cuda.LAZY_PEER_ACCESS
        address._obj.value = self.handles[ctypes.string_at(ctypes.addressof(handle), cuda.HANDLE_BYTES)]
        return self.code("cudaIpcOpenMemHandle")

    def cudaFree(self, address: ctypes.c_void_p) -> int:
        del self.blocks[address.value or 0]
        return self.code("cudaFree")

    def code(self, name: str) -> int:
        return 2 if name == self.fails else 0


def at_address(address: int, size: int) -> Tensor:
    """What torch would make of it on a GPU."""
    return torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=torch.uint8)


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Runtime]:
    """Put a pretended runtime in the place of CUDA's."""

    def put(fails: str = "") -> Runtime:
        made = Runtime(fails)
        monkeypatch.setattr(cuda, "runtime", lambda: made)
        monkeypatch.setattr(cuda, "as_tensor", at_address)
        monkeypatch.setattr(torch.cuda, "init", lambda: None)
        monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
        return made

    return put


def test_memory_is_shared_by_its_handle_and_given_back(pretend: Callable[..., Runtime]) -> None:
    made = pretend()
    ours, handle = cuda.allocated(4096)
    assert (len(handle), ours.numel(), ours.dtype) == (cuda.HANDLE_BYTES, 4096, torch.uint8)
    theirs = cuda.opened(handle, 4096)
    theirs[7] = 42
    assert int(ours[7]) == 42
    cuda.released(ours)
    assert not made.blocks


@pytest.mark.parametrize("call", ["cudaMalloc", "cudaIpcGetMemHandle", "cudaIpcOpenMemHandle", "cudaFree"])
def test_a_call_that_fails_says_which(pretend: Callable[..., Runtime], call: str) -> None:
    pretend(call)

    def share() -> None:
        memory, handle = cuda.allocated(64)
        cuda.opened(handle, 64)
        cuda.released(memory)

    with pytest.raises(cuda.CudaError, match=f"{call} failed with error 2"):
        share()


def test_memory_of_a_device_is_described_as_torch_reads_it() -> None:
    described = cuda.Allocation(0x7F00, 12).__cuda_array_interface__
    assert described == {"shape": (12,), "typestr": "|u1", "data": (0x7F00, False), "version": 3}


class PretendedWorker:
    """A worker that goes on writing after it has answered, as a queue on a GPU does."""

    def __init__(self, *_: object) -> None:
        self.late: Callable[[], None] = lambda: None

    def start(self, _files: object) -> Tensor:
        return torch.zeros(2**16, dtype=torch.uint8)

    def lay_out(self, _order: object) -> Reply:
        return Reply("returned")

    def begin(self) -> Reply:
        return Reply("returned")

    def memory(self) -> None:
        pass

    def still(self) -> None:
        pass

    def block(self, _request: object, _seconds: float, settle: Callable[[], None]) -> Any:
        settle()
        self.late()
        return SimpleNamespace(reply=Reply("returned"), wall=1.0, own=0.25)

    def end(self) -> None:
        pass


def test_results_are_copied_before_the_clock_stops(
    pretend: Callable[..., Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = pretend()
    monkeypatch.setattr("grader.speed.side.TimedWorker", PretendedWorker)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (0, 0))
    task = Task("linear_forward", "cuda", Size(batch=4, width=8, outputs=2), calls=2)
    side = Side(None, setup.limits(), task, {})  # type: ignore[arg-type]
    worker: Any = side.worker
    worker.late = lambda: [y.copy_(x @ side.memory["weight"]) for x, y in zip(side.memory["x"], side.memory["y"])]  # noqa: B905
    done = side.block(1.0)
    assert done.error == float("inf"), "what comes after the answer comes too late"
    assert done.seconds == 1.0, "a device's time is the clock's, not the process' own"
    assert not side.memory["y"].isnan().any()
    side.close()
    assert not made.blocks


STATE = DeviceState("NVIDIA H200", 132, "580", 700.0, 1980, 3201, 40, (), frozenset())


def test_a_device_is_watched_from_the_start_to_the_end() -> None:
    states = [STATE, replace(STATE, slowdowns=("too hot (driver)",)), STATE, STATE]
    watch = setup.Watch(lambda: states.pop(0))
    found = [watch.trouble() for _ in range(4)]
    assert found[0] == found[3] == ""
    assert all("the device slowed itself down: too hot (driver)" in words for words in found[1:3])
    assert "another process" in setup.Watch(lambda: replace(STATE, processes=frozenset({1}))).trouble()


def test_a_device_that_tells_nothing_is_trouble() -> None:
    def read() -> DeviceState:
        raise StateUnknown("nvidia-ml-py is not installed")

    assert setup.Watch(read).trouble() == "nvidia-ml-py is not installed"


def pretended_side(error: float = 0.0, block: Callable[[Any], None] = lambda _: None) -> Any:
    """A side whose block does this to its memory."""
    task = Task("no_hidden_sync", "cuda", work_of("no_hidden_sync").sizes["cuda"], calls=STEPS)
    side = SimpleNamespace(
        task=task,
        memory={"asked": torch.zeros(1, dtype=torch.int64)},
        check=SimpleNamespace(floor=0.1),
        free_before=2**33,
    )

    def run(_seconds: float) -> Done:
        block(side)
        return Done(1.0, error, Reply("returned"))

    side.block = run
    return side


@pytest.mark.parametrize(("first", "second", "ratio"), [(0.1, 0.3, 1.0), (0.3, 0.0, 0.0)])
def test_a_host_that_asks_for_its_last_batch_early_is_ahead(
    first: float, second: float, ratio: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, looked = [0.0], threading.Event()

    def clock() -> float:
        found = now[0]
        if threading.current_thread() is not threading.main_thread():
            looked.set()
        return found

    def block(side: Any) -> None:
        looked.clear()
        now[0] += first
        side.memory["asked"][0] = STEPS
        assert looked.wait(PATIENCE)
        now[0] += second

    monkeypatch.setattr(figures, "time", SimpleNamespace(perf_counter=clock))
    found = figures.lead_of_the_host(pretended_side(block=block))
    assert found.ratio == ratio
    assert bool(found.note) == (ratio == 0)
    with pytest.raises(WrongResult):
        figures.lead_of_the_host(pretended_side(error=1.0, block=block))


def test_the_peak_of_a_device_is_seen_even_if_it_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:

    free, looked = [2**33], threading.Event()

    def look() -> tuple[int, int]:
        found = free[0]
        if found < 2**33:
            looked.set()
        return found, 2**34

    monkeypatch.setattr(torch.cuda, "mem_get_info", look)

    def block(_side: Any) -> None:
        free[0] -= 2**32
        assert looked.wait(PATIENCE)
        free[0] += 2**32

    side = pretended_side(block=block)
    side.task = replace(side.task, workload="peak_memory", size=work_of("peak_memory").sizes["cuda"])
    found = figures.peak_of_the_device(side)
    assert "4096 MiB held at most" in found.note
    assert 0 < found.ratio < 2


def test_advertised_thresholds_hold_where_they_were_measured() -> None:
    workload = course().workloads["linear_forward"]
    task = Task("linear_forward", "cuda", work_of("linear_forward").sizes["cuda"], 1)
    for name, expected in (
        ("NVIDIA H100 80GB HBM3", (workload.mfu, 989.4e12)),
        ("NVIDIA A100-SXM4-80GB", (workload.ratio["cuda"], None)),
        ("something new", (workload.ratio["cuda"], None)),
    ):
        machine: Any = SimpleNamespace(kind="cuda", device=device(name))
        assert thresholds_on(machine, workload, task) == expected
    assert peak_of(SimpleNamespace(device=device("NVIDIA A100-SXM4-80GB")), task) == 312e12  # type: ignore[arg-type]
    assert peak_of(SimpleNamespace(device=None), task) is None  # type: ignore[arg-type]


def test_a_sandbox_with_a_gpu_holds_its_devices_and_an_address_space_without_end(tmp_path: Path) -> None:
    command = launch.bubblewrap(tmp_path, ["/dev/nvidia0", "/dev/nvidiactl"])
    text = " ".join(command)
    assert "--dev-bind-try /dev/nvidia0 /dev/nvidia0" in text
    assert text.index("--dev /dev") < text.index("/dev/nvidia0") < text.index("--remount-ro /dev")
    assert "nvidia" not in " ".join(launch.bubblewrap(tmp_path, []))
    assert setup.timing("cuda").gpu
    assert setup.timing("cuda").core is None
