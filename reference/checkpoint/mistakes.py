"""Mistakes in what a checkpoint gives back."""

import struct

from reference import instead_of
from reference.checkpoint import oracle


@instead_of(oracle.loaded_step, "load_checkpoint returns nothing")
def nothing(step: int) -> None:
    """The step is lost."""
    return


@instead_of(oracle.loaded_step, "the step after the one that was saved is returned")
def next_step(step: int) -> int:
    """The caller adds the 1, if anybody does."""
    return step + 1


@instead_of(oracle.loaded_step, "the step comes back as a float")
def as_float(step: int) -> float:
    """It is an int."""
    return float(step)


@instead_of(oracle.loaded_step, "the step comes back as text")
def as_text(step: int) -> str:
    """It is an int."""
    return str(step)


@instead_of(oracle.loaded_step, "the step went through float32, which has 24 bits")
def through_float32(step: int) -> int:
    """Large ones are rounded."""
    (rounded,) = struct.unpack("f", struct.pack("f", step))
    return int(rounded)


@instead_of(oracle.loaded_step, "a step of 0 is taken for none")
def zero_is_none(step: int) -> int | None:
    """As `step or None` does."""
    return step or None
