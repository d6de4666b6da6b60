"""All code that uses undocumented parts of torch, each with the reason for its use."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

__all__ = [
    "DispatchMode",
    "ZeroedMemory",
    "fill_new_memory",
    "ignore_compile",
    "reduce_torch_overhead",
    "skip_dynamo_import",
    "skip_stack_traces",
    "tree_leaves",
    "tree_map",
]


def reduce_torch_overhead() -> None:
    """Disable parts of torch that take time in this process but are not needed by tests."""
    skip_dynamo_import()
    skip_stack_traces()
    torch.set_num_threads(1)  # for such small tensors, starting a second thread takes longer than it saves


def skip_dynamo_import() -> None:
    """Prevent the methods of `Optimizer` and each optimizer's `step` from importing `torch._dynamo`.

    torch wraps these methods so that `torch.compile` skips them, and the wrappers import `torch._dynamo`, which doubles
    the import time of torch. The wrapper in `torch/_compile.py` can be disabled by an attribute of the method, but the
    wrapper around `step` (`torch/optim/optimizer.py`) cannot. If `torch.compile` is not used, this does not affect any
    results.
    """
    for method in vars(torch.optim.Optimizer).values():
        written = getattr(method, "__wrapped__", None)
        if written is not None:
            setattr(written, "__dynamo_disable", written)
    optimizers: list[Any] = [kind for kind in vars(torch.optim).values() if isinstance(kind, type)]
    for optimizer in optimizers:
        step: Any = vars(optimizer).get("step")
        if getattr(getattr(step, "__code__", None), "co_name", "") == "_use_grad":
            optimizer.step = set_grad_if_differentiable(inspect.unwrap(step))


def set_grad_if_differentiable(step: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an optimizer's `step` so that autograd is enabled or disabled according to the `differentiable` option."""

    @functools.wraps(step)
    def stepped(self: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        with torch.set_grad_enabled(self.defaults["differentiable"]):
            return step(self, *args, **kwargs)

    return stepped


def ignore_compile() -> None:
    """Make `torch.compile` return its argument, as with `disable=True`.

    The sandbox has no compiler. Before torch notices that, it imports `torch._dynamo`, which can take longer than the
    limit of a call on a busy machine, so that the verdict would depend on the load.
    """

    def leave_as_it_is(model: Any = None, **_options: Any) -> Any:
        return model if model is not None else leave_as_it_is

    torch.compile = leave_as_it_is


def skip_stack_traces() -> None:
    """Make `torch.manual_seed` skip the stack traces that it records for devices that are not initialized yet.

    torch records three stack traces per call, which it shows if CUDA fails to initialize later. This takes a hundred
    times longer than seeding itself.
    """
    for backend in (torch.cuda, torch.xpu, torch.mtia):
        backend.traceback = SimpleNamespace(format_stack=list)  # type: ignore[attr-defined]


class DispatchMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A `TorchDispatchMode` that does not import torch's compiler. Subclasses override `__torch_dispatch__`."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    @staticmethod
    def tensors_in(values: Any) -> list[torch.Tensor]:
        """Return all tensors in nested lists, tuples and dicts, in order."""
        return [each for each in tree_leaves(values) if isinstance(each, torch.Tensor)]

    @staticmethod
    def is_in_backward() -> bool:
        """Return whether the current operation is part of a backward pass."""
        return torch._C._current_graph_task_id() != -1


class ZeroedMemory(DispatchMode):  # type: ignore[no-untyped-call]
    """Fills the memory of `torch.empty` and similar functions with zeros."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        result = func(*args, **(kwargs or {}))
        return result.zero_() if func.overloadpacket.__name__.startswith(("empty", "new_empty")) else result


@contextmanager
def fill_new_memory() -> Iterator[None]:
    """Fill memory that torch would leave uninitialized: floats with NaN, integers with the largest value of the dtype.

    `torch.use_deterministic_algorithms` does the same, but imports torch's compiler.
    """
    before, warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch._C._set_deterministic_algorithms(before, warn_only=warned)
