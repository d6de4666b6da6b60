"""Mistakes in checkpoints: values that are not restored."""

from collections.abc import Callable, Mapping, Sequence

from torch import Tensor

from reference.checkpoint import oracle
from reference.checkpoint.oracle import Run, Weights
from torchkata import Mistake, instead_of


@instead_of(oracle.after_loading, "loading does not change the model that was passed in")
def model_untouched(saved: Weights, before: Weights, later: Weights) -> Weights:
    return before


@instead_of(
    oracle.after_loading, "the saved weights change with the model, as if they were kept in memory without a copy"
)
def model_of_now(saved: Weights, before: Weights, later: Weights) -> Weights:
    return later


def change_each(change: Callable[[Tensor], Tensor], message: str) -> Mistake:
    """Return a mistake that changes every weight."""
    return instead_of(oracle.after_loading, message)(lambda saved, before, later: [change(weight) for weight in saved])


through_bfloat16 = change_each(lambda w: w.bfloat16().to(w.dtype), "the weights are rounded to bfloat16")
through_float16 = change_each(lambda w: w.half().to(w.dtype), "the weights are rounded to float16")
through_float32 = change_each(lambda w: w.float().to(w.dtype), "float64 weights are rounded to float32")
cleaned = change_each(lambda w: w.nan_to_num(), "NaN and infinities are replaced by finite numbers")
pruned = change_each(lambda w: w.masked_fill(w.abs() < 1e-30, 0), "very small numbers are restored as 0")
zero_without_sign = change_each(lambda w: w.masked_fill(w == 0, 0), "-0.0 is restored as 0.0")


@instead_of(
    oracle.buffer_after_loading,
    "buffers are not restored: state_dict() contains them, and load_state_dict() restores them",
)
def without_buffers(saved: Tensor, before: Tensor) -> Tensor:
    return before


@instead_of(oracle.continue_run, "the optimizer state is reset: the test does not find it in the file")
def optimizer_not_saved(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return {} if any(found["state"]) or not all(found["weights"]) else runs["a new optimizer"]


@instead_of(
    oracle.continue_run,
    "the optimizer state is reset: it is saved in the file, but the optimizer's parameters do not get it",
)
def optimizer_not_loaded(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return runs["a new optimizer"] if all(found["state"]) else runs["through"]


@instead_of(oracle.continue_run, "the lr is lost if the optimizer has taken no step yet, and has no state to restore")
def options_need_state(runs: Mapping[str, Run], found: Mapping[str, Sequence[bool]]) -> Run:
    return runs["through"] if found["state"] else runs["a new optimizer"]


def continue_as(run: str, message: str) -> Mistake:
    """Return a mistake in which the resumed run is the one with the given name."""
    return instead_of(oracle.continue_run, message)(lambda runs, found: runs[run])


rate_lost = continue_as("initial lr", "the optimizer continues with its initial lr: the changed lr is lost")
memory_lost = continue_as("empty state", "lr is restored, but the optimizer's state for each parameter is not")
nothing_moves = continue_as(
    "zero lr", "after loading, steps do not change the model, as if the optimizer held other parameters"
)
