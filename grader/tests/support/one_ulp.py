"""A pytest plugin that changes each floating-point result that CPUs may round differently by one ulp.

An ulp is a unit in the last place. If a property test then rejects code that it usually accepts, it is too strict: its
tolerance must be derived from the dtype and the length of the sums.

Which results are changed:

- Every operation, forward or backward, whose rounding IEEE 754 does not prescribe: matrix products, sums,
  means, norms, `exp`, `log`, `pow`, `tanh` and all others that are not listed below.
- Multiply-add (`add` with `alpha`, `addcmul`, `lerp`): CPUs with a fused instruction round once, others twice.

Which results are not changed:

- Copies, views, indexing, comparisons, random numbers and selections of inputs (`EXACT`), which do not round.
- `+`, `-`, `*`, `/` and the square root (`ROUNDED`): IEEE 754 prescribes the last bit.
- Zero, infinity, NaN, and integer results of integer inputs, which are exact in any order of operations.

The direction is derived from a hash of the operation and the result, so that the same code gives the same results for
the same inputs, as tests of resumed runs require.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from torchkata.inside.reply import Probe, Reply
from torchkata.inside.values import Plain
from torchkata.seam.student import InProcess

NAMES = """
_local_scalar_dense _reshape_alias _unsafe_view abs alias amax amin argsort as_strided bernoulli cat ceil clamp
clamp_max clamp_min clone constant_pad_nd copysign cummax cummin detach diag_embed diagonal_scatter embedding empty
empty_like empty_permuted empty_strided eye fill flip floor fmod full full_like gather hardtanh heaviside index
index_put index_select kthvalue lift lift_fresh masked_fill masked_select max maximum median min minimum mode
nan_to_num neg new_empty new_empty_strided new_full new_ones new_zeros nextafter normal ones ones_like rand
rand_like randn randn_like random relu repeat repeat_interleave resize roll round scalar_tensor scatter
select_backward select_scatter set sgn sign slice_backward slice_scatter sort squeeze stack t threshold
threshold_backward topk transpose tril triu trunc unfold_backward uniform unsqueeze where zero zeros zeros_like
"""
EXACT = frozenset(NAMES.split())
ROUNDED = {"add", "div", "mul", "reciprocal", "rsub", "sqrt", "sub"}
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
FOREACH = "_foreach_"
CALL_SECONDS = 600.0  # every operation is much slower than usual


class OneUlp(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A dispatch mode that changes each result by one ulp if CPUs may round it differently."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operation, and change its results by one ulp if CPUs may round them differently."""
        whole = all(
            is_whole(value) for value in tensors_in((args, kwargs))
        )  # checked first because the operation may run in place
        results = func(*args, **(kwargs or {}))
        if may_differ(func, args, kwargs or {}):
            salt = zlib.crc32(func.overloadpacket.__name__.rstrip("_").encode())
            for result in tensors_in(results):
                move(result, salt, whole=whole)
        return results


def may_differ(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether two CPUs may round the result of an operation differently."""
    if any(value.alias_info and not value.alias_info.is_write for value in func._schema.returns):
        return False  # the result is a view
    name = func.overloadpacket.__name__.removeprefix(FOREACH).rstrip("_")
    if name in EXACT or name.endswith("copy"):
        return False
    scaled = kwargs.get("alpha", 1) != 1 or (name in ("add", "sub") and len(args) > 2 and args[2] != 1)
    return name not in ROUNDED or scaled


def tensors_in(value: object) -> Iterator[Tensor]:
    """Yield the floating-point CPU tensors in nested values."""
    if isinstance(value, Tensor):
        if value.dtype.is_floating_point and value.itemsize in BITS and value.device.type == "cpu":
            yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def is_whole(value: Tensor) -> bool:
    """Return whether all elements are integers."""
    return bool((value == value.trunc()).all())


def move(result: Tensor, salt: int, *, whole: bool) -> None:
    """Change each element by one ulp, in place. If `whole` is True, leave integers unchanged."""
    bits = result.contiguous().view(BITS[result.itemsize]).to(torch.int64)
    mixed = (bits ^ salt) * 0x9E3779B97F4A7C1
    up = (mixed >> 29 & 1).bool()
    moved = (bits + torch.where(up, 1, -1)).to(BITS[result.itemsize]).view(result.dtype)  # a neighbour's bits
    stays = (result == 0) | ~result.isfinite() | ~moved.isfinite()
    if whole:
        stays |= result == result.trunc()
    result.copy_(torch.where(stays, result, moved))


def pytest_configure() -> None:
    """Change the results of operations within probes, but not within the oracle or the comparison."""
    run_probe = InProcess.run_probe

    def run(self: InProcess, probe: Probe, args: Sequence[Plain]) -> Reply:
        self.limits = replace(self.limits, call_seconds=CALL_SECONDS)
        with OneUlp():
            return run_probe(self, probe, args)

    InProcess.run_probe = run  # type: ignore[method-assign]
