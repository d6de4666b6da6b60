"""Mistakes in checkpoints: values that are not restored."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from reference.checkpoint import oracle
from reference.checkpoint.oracle import Run, Weights
from torchkata import instead_of


@instead_of(oracle.after_loading, "loading does not change the model that was passed in")
def model_untouched(saved: Weights, before: Weights, later: Weights) -> Weights:
    return before


@instead_of(oracle.after_loading, "the saved weights change with the model: they are kept in memory without a copy")
def model_of_now(saved: Weights, before: Weights, later: Weights) -> Weights:
    return later


@instead_of(oracle.after_loading, "the weights are rounded to bfloat16")
def through_bfloat16(saved: Weights, before: Weights, later: Weights) -> Weights:
    return [weight.bfloat16().to(weight.dtype) for weight in saved]


@instead_of(oracle.after_loading, "the weights are rounded to float16")
def through_float16(saved: Weights, before: Weights, later: Weights) -> Weights:
    return [weight.half().to(weight.dtype) for weight in saved]


@instead_of(oracle.after_loading, "float64 weights are rounded to float32")
def through_float32(saved: Weights, before: Weights, later: Weights) -> Weights:
    return [weight.float().to(weight.dtype) for weight in saved]


@instead_of(oracle.after_loading, "NaN and infinities are replaced by finite numbers")
def cleaned(saved: Weights, before: Weights, later: Weights) -> Weights:
    return [weight.nan_to_num() for weight in saved]


@instead_of(oracle.after_loading, "very small numbers are restored as 0")
def pruned(saved: Weights, before: Weights, later: Weights) -> Weights:
    return [weight.masked_fill(weight.abs() < 1e-30, 0) for weight in saved]


@instead_of(oracle.after_loading, "-0.0 is restored as 0.0")
def zero_without_sign(saved: Weights, before: Weights, later: Weights) -> Weights:
    return [weight.masked_fill(weight == 0, 0) for weight in saved]


@instead_of(
    oracle.buffer_after_loading,
    "buffers are not restored: save model.state_dict(), which contains both parameters and buffers",
)
def without_buffers(saved: Tensor, before: Tensor) -> Tensor:
    return before


@instead_of(oracle.continue_run, "the optimizer state is reset, because it is not saved in the file")
def optimizer_not_saved(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return runs["through"] if any(found["state"]) or not all(found["weights"]) else runs["a new optimizer"]


@instead_of(oracle.continue_run, "the optimizer state is reset: it is saved in the file, but not loaded")
def optimizer_not_loaded(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return runs["a new optimizer"] if all(found["state"]) else runs["through"]


@instead_of(oracle.continue_run, "the optimizer continues with its initial lr: the changed lr is lost")
def rate_lost(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return runs["initial lr"]


@instead_of(oracle.continue_run, "lr is restored, but the optimizer's state for each parameter is not")
def memory_lost(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return runs["empty state"]


@instead_of(
    oracle.continue_run, "after loading, steps do not change the model, as if the optimizer held other parameters"
)
def nothing_moves(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return runs["zero lr"]
