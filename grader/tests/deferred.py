"""A device for tests that does everything late: memory of the host, and a queue with a thread in each process.

It stands in for CUDA on both sides of the seam: the grader is handed `DEFERRED`, and a worker has this file in the
place of `grader/sandbox/cuda.py`. As on a GPU, an operation on a tensor of the device returns at once; it is done when
somebody waits, and no earlier. A read of the host waits; so does the first use of an operation, which a driver has to
load. What `torch.cuda._sleep` puts on the device goes on while its process stands still, and meanwhile others' work
takes SHARED times as long.

    memory of the device   | header | memory 0: header, bytes | memory 1: header, bytes | …     one file without a name
"""

import contextlib
import mmap
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from torchkata.compat.torch_internals import DispatchMode, tree_leaves, tree_map
from torchkata.speed.layout import whole_pages

NAME = "late"  # as torch calls it
BYTES = 2**34  # of the device; none is taken before it is used
PAGE = mmap.PAGESIZE
SHARED = 50
CYCLES = 5e7  # a second: `torch.cuda._sleep` counts them
SELF_MADE = torch.Tag.nondeterministic_seeded
aten = torch.ops.aten

Job = Callable[[], object] | None  # None: there is no more


class Queue:
    """What is to be done, in order."""

    def __init__(self, done: Callable[[float], None]) -> None:
        self.jobs: deque[Job] = deque()
        self.changed = threading.Condition()
        self.waiting = 0
        self.failed: Exception | None = None
        self.done = done  # is told how long a job took
        threading.Thread(target=self.work, daemon=True).start()

    def put(self, job: Job) -> None:
        """Do this later."""
        with self.changed:
            self.jobs.append(job)
            self.changed.notify_all()

    def wait(self) -> None:
        """Until all is done. Raises what a job has raised."""
        with self.changed:
            self.waiting += 1
            self.changed.notify_all()
            self.changed.wait_for(lambda: not self.jobs)
            self.waiting -= 1
            failed, self.failed = self.failed, None
        if failed is not None:
            raise failed

    def next(self) -> Job:
        """The first job, once somebody waits for it."""
        with self.changed:
            self.changed.wait_for(lambda: self.jobs and (self.waiting or self.jobs[0] is None))
            return self.jobs[0]

    def work(self) -> None:
        """The thread."""
        while True:
            job, began = self.next(), time.monotonic()
            if job is None:
                return
            try:
                job()
                self.done(time.monotonic() - began)
            except Exception as error:
                self.failed = error
            with self.changed:
                self.jobs.popleft()
                self.changed.notify_all()


class Counted:
    """Bytes that a tensor and its views hold on the device."""

    def __init__(self, size: int) -> None:
        self.size = size
        DEFERRED.count(size)

    def __del__(self) -> None:
        DEFERRED.count(-self.size)


class Late(Tensor):
    """A tensor of the device. What it holds is in `host` when all that is queued has been done."""

    host: Tensor
    held: object
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, host: Tensor, held: object = None) -> "Late":
        """Over this memory."""
        made: Late = torch.Tensor._make_wrapper_subclass(
            cls,
            host.shape,
            strides=host.stride(),
            storage_offset=host.storage_offset(),
            dtype=host.dtype,
            device=torch.device(NAME, 0),
        )
        made.host, made.held = host, held or Counted(host.nbytes)
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        return DEFERRED.operation(func, args, kwargs or {})


class OnDevice(DispatchMode):  # type: ignore[no-untyped-call]
    """Tells the device of operations that name it."""

    def __torch_dispatch__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return DEFERRED.operation(func, args, kwargs or {})


class NotCuda(TorchFunctionMode):
    """Whoever asks for CUDA gets this device."""

    def __torch_function__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is Tensor.pin_memory:
            return args[0].clone()
        if func in READS and isinstance(args[0], Late):
            args = (args[0].cpu(), *args[1:])
        args, kwargs = tree_map(lambda leaf: NAME if named_cuda(leaf) else leaf, (args, kwargs or {}))
        return func(*args, **kwargs)


class Generator(torch.Generator):
    """For any device: what it draws, the host does."""

    def __new__(cls, _device: object = "cpu") -> "Generator":
        """On the host."""
        return super().__new__(cls)


class Memory:
    """Some memory of the device, mapped into this process."""

    def __init__(self, file: int, start: int, size: int) -> None:
        self.file, self.start, self.size = file, start, size
        self.map = mmap.mmap(file, PAGE + size, offset=start)
        self.header = memoryview(self.map).cast("q")  # [0]: what the worker's tensors hold
        self.tensor: Tensor = Late(torch.frombuffer(self.map, dtype=torch.uint8)[PAGE:], held="the grader's")

    def descriptor(self) -> int:
        """It stands where this memory begins."""
        found = os.open(f"/proc/self/fd/{self.file}", os.O_RDWR)
        os.lseek(found, self.start, os.SEEK_SET)
        return found

    def release(self) -> None:
        """What is still queued uses it."""
        DEFERRED.synchronize()
        DEFERRED.forget(self)
        del self.tensor
        self.map.madvise(mmap.MADV_REMOVE)


class Deferred:
    """The device, in one process."""

    def __init__(self) -> None:
        self.file, self.end = -1, PAGE
        self.memories: list[Memory] = []
        self.own = 0  # the place of this process' memory, which it is known by; 0 is the grader
        self.loaded: set[Any] = set()

    def start(self, file: int) -> contextlib.ExitStack:
        """Let torch have this device, until the stack is closed."""
        if not hasattr(torch, NAME):
            _setup_privateuseone_for_python_backend(NAME)  # which can't be undone: tests that follow must not see it
            vars(torch.accelerator)["is_available"] = lambda: False
        self.file, self.queue, self.end, self.memories = file, Queue(self.share), PAGE, []
        self.header = memoryview(mmap.mmap(file, PAGE)).cast("q")  # [0]: busy until, in nanoseconds; [1]: for whom
        undo = contextlib.ExitStack()
        for place, name, stand_in in (
            (torch.cuda, "is_available", lambda: True),
            (torch.cuda, "synchronize", lambda *_: self.synchronize()),
            (torch.cuda, "_sleep", lambda cycles: self.occupy(cycles / CYCLES)),
            (torch, "Generator", Generator),
        ):
            undo.callback(setattr, place, name, getattr(place, name))
            setattr(place, name, stand_in)
        torch._C._set_only_lift_cpu_tensors(True)  # `torch.tensor(…)` shows how its numbers get to the device
        undo.callback(torch._C._set_only_lift_cpu_tensors, False)
        undo.enter_context(OnDevice())
        undo.enter_context(NotCuda())
        undo.callback(self.queue.put, None)
        return undo

    def memory(self, size: int, descriptor: int | None = None) -> Memory:
        """New memory, or what a descriptor of another process' stands for."""
        if descriptor is not None:
            self.own = os.lseek(descriptor, 0, os.SEEK_CUR)
            self.undo = self.start(os.dup(descriptor))
            self.memories = [Memory(self.file, self.own, size)]
            return self.memories[0]
        self.memories.append(Memory(self.file, self.end, size))
        self.end += PAGE + whole_pages(size)
        return self.memories[-1]

    def forget(self, memory: Memory) -> None:
        """It can be given out again once there is none behind it."""
        self.memories.remove(memory)
        self.end = max([PAGE, *(each.start + PAGE + whole_pages(each.size) for each in self.memories)])

    def synchronize(self) -> None:
        """Wait until the device has done what this process has queued."""
        self.queue.wait()

    def free_bytes(self) -> int:
        """Beside what the grader's own tensors hold."""
        return BYTES - sum(memory.size + memory.header[0] for memory in self.memories)

    def count(self, size: int) -> None:
        """So many bytes more are held by this process."""
        if self.own:
            self.memories[0].header[0] += size

    def occupy(self, seconds: float) -> None:
        """Keep the device busy, whether or not this process goes on."""
        until = max(time.monotonic_ns(), self.header[0]) + int(seconds * 1e9)
        self.header[0], self.header[1] = until, self.own
        self.queue.put(lambda: time.sleep(max(0.0, (until - time.monotonic_ns()) / 1e9)))

    def share(self, seconds: float) -> None:
        """What took so long takes SHARED times as long while the device is another process', too."""
        busy = (self.header[0] - time.monotonic_ns()) / 1e9
        if busy > 0 and self.header[1] != self.own:
            time.sleep(min((SHARED - 1) * seconds, busy))

    def operation(self, func: Any, args: Any, kwargs: Any) -> Any:
        """One of torch's operations."""
        name = func.overloadpacket.__name__
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        late = [leaf for leaf in tensors if isinstance(leaf, Late)]
        device = kwargs.get("device")
        goes_there = device is not None and torch.device(device).type == NAME
        if goes_there:
            kwargs = {**kwargs, "device": torch.device("cpu")}
        plain_args, plain_kwargs = tree_map(lambda leaf: leaf.host if isinstance(leaf, Late) else leaf, (args, kwargs))

        def do() -> Any:
            return func(*plain_args, **plain_kwargs)

        if not late:
            if goes_there and name == "_to_copy":
                self.queue.wait()
            return tree_map(on_device, do()) if goes_there else do()
        if (name == "copy_" and not isinstance(args[0], Late)) or (device is not None and not goes_there):
            self.queue.wait()
            return args[0].copy_(plain_args[1]) if name == "copy_" else do()
        if func.is_view:
            return tree_map(lambda leaf: on_device(leaf, late[0].held), do())
        if name not in TAKES_BOTH and any(tensor.ndim and not isinstance(tensor, Late) for tensor in tensors):
            raise RuntimeError("Expected all tensors to be on the same device, and some are on the CPU")
        if func not in self.loaded or (
            name == "copy_" and not isinstance(args[1], Late) and not non_blocking(args, kwargs)
        ):
            self.loaded.add(func)
            self.queue.wait()
        if torch.Tag.inplace_view in func.tags:
            return in_another_shape(func, args, kwargs)
        if func._schema.is_mutable:
            if SELF_MADE in func.tags:
                plain_kwargs["generator"] = of_its_own(plain_kwargs.get("generator"))
            self.queue.put(do)
            return written(func, args, kwargs)
        return self.made(func, args, kwargs, do)

    def made(self, func: Any, args: Any, kwargs: Any, do: Callable[[], Any]) -> Any:
        """New tensors, whose numbers come later; what can't be told without the numbers waits for them."""
        shapes = None
        if SELF_MADE not in func.tags:
            with contextlib.suppress(RuntimeError, NotImplementedError):
                meta = {**kwargs, "device": torch.device("meta")} if "device" in kwargs else kwargs
                meta_args, meta = tree_map(shape_alone, (args, meta))
                shapes = func(*meta_args, **meta)
        if shapes is None:
            self.queue.wait()
            return tree_map(on_device, do())
        results = tree_map(
            lambda leaf: (
                torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype) if isinstance(leaf, Tensor) else leaf
            ),
            shapes,
        )

        def fill() -> None:
            for result, found in zip(tree_leaves(results), tree_leaves(do()), strict=True):
                if isinstance(result, Tensor):
                    result.copy_(found)

        self.queue.put(fill)
        return tree_map(on_device, results)


READS = (Tensor.tolist, Tensor.__repr__, Tensor.__format__)  # that torch refuses tensors like ours
DEFERRED = CUDA = Deferred()
TAKES_BOTH = ("copy_", "index", "index_put_", "_index_put_impl_")  # tensors of the host and of the device


def in_another_shape(func: Any, args: Any, kwargs: Any) -> Any:
    """The tensor itself, whose shape an operation changes: at once, and what is queued has the old one."""
    changed = args[0].host.detach()
    func(changed, *args[1:], **kwargs)
    args[0].host = changed
    with no_dispatch():
        return func(*args, **kwargs)


def named_cuda(leaf: Any) -> bool:
    """Whether this is CUDA's device, or its name."""
    return isinstance(leaf, str | torch.device) and str(leaf) in ("cuda", "cuda:0")


def non_blocking(args: Any, kwargs: Any) -> bool:
    """Whether a copy need not be there when the call is back."""
    return bool(kwargs.get("non_blocking", args[2] if len(args) > 2 else False))


def on_device(leaf: Any, held: object = None) -> Any:
    """A tensor, as one of the device's."""
    return Late(leaf, held) if isinstance(leaf, Tensor) else leaf


def shape_alone(leaf: Any) -> Any:
    """A tensor without its numbers."""
    if not isinstance(leaf, Tensor):
        return leaf
    return torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype, device="meta")


def of_its_own(generator: torch.Generator | None) -> torch.Generator:
    """A generator that gives the same numbers whenever it is asked, seeded by this one now."""
    seed = torch.empty((), dtype=torch.int64).random_(generator=generator)
    return torch._C.Generator().manual_seed(int(seed))


def written(func: Any, args: Any, kwargs: Any) -> Any:
    """What an operation that writes into its arguments returns: these."""
    schema = func._schema
    given = {argument.name: value for argument, value in zip(schema.arguments, args, strict=False)} | kwargs
    changed = [
        given[argument.name] for argument in schema.arguments if argument.alias_info and argument.alias_info.is_write
    ]
    if not schema.returns:
        return None
    return changed[0] if len(schema.returns) == 1 else tuple(changed)


@contextlib.contextmanager
def deferred_device() -> Iterator[Deferred]:
    """The device, for this process and the workers that it hands memory to."""
    file = os.memfd_create("device")
    os.ftruncate(file, BYTES)
    with DEFERRED.start(file):
        yield DEFERRED
    os.close(file)
