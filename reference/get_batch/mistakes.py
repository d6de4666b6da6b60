"""Mistakes in where windows begin."""

from reference import instead_of
from reference.get_batch import oracle


@instead_of(oracle.starts, "the last token is not kept back: the last window has no target after it")
def without_target(tokens: int, sequence_length: int) -> range:
    """One start too many."""
    return range(tokens - sequence_length + 1)


@instead_of(oracle.starts, "the last start never comes: one token too many is kept back")
def last_missing(tokens: int, sequence_length: int) -> range:
    """The upper end of randint is left out already."""
    return range(max(1, tokens - sequence_length - 1))


@instead_of(oracle.starts, "the first start never comes: starts are counted from 1")
def first_missing(tokens: int, sequence_length: int) -> range:
    """They are counted from 0."""
    return range(min(1, tokens - sequence_length - 1), tokens - sequence_length)


@instead_of(oracle.starts, "the rows are the targets, one token later")
def targets(tokens: int, sequence_length: int) -> range:
    """The inputs are asked for."""
    return range(1, tokens - sequence_length + 1)


@instead_of(oracle.starts, "windows begin at multiples of sequence_length only")
def on_a_grid(tokens: int, sequence_length: int) -> range:
    """Any token can begin one."""
    return range(0, tokens - sequence_length, sequence_length)
