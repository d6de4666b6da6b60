"""Mistakes in activation checkpointing."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.misconceptions import instead_of
from reference.oracle import activation_checkpointing as oracle


@instead_of(oracle.kept, "segment is taken for the number of segments, not for the layers in each")
def segments_by_number(num_layers: int, segment: int) -> int:
    """As in `torch.utils.checkpoint.checkpoint_sequential`, in segments of as many layers as it takes."""
    layers_each = -(-num_layers // segment)
    return -(-num_layers // layers_each)


@instead_of(oracle.kept, "the output of every layer is kept, as without segments")
def all_kept(num_layers: int, segment: int) -> int:
    """A plain network, or one where every layer is a segment of its own."""
    return num_layers


@instead_of(oracle.kept, "the whole network is one segment")
def all_in_one(num_layers: int, segment: int) -> int:
    """`segment` is not used."""
    return min(1, num_layers)


@instead_of(oracle.kept, "the last segment is not checkpointed: its activations are kept")
def last_one_kept(num_layers: int, segment: int) -> int:
    """It is recomputed right away, so some leave it out."""
    others = oracle.segments(num_layers, segment) - 1
    return others + num_layers - others * segment


@instead_of(oracle.recomputed, "the last segment is not recomputed")
def last_not_again(num_layers: int, segment: int) -> tuple[int, int]:
    """The same, seen from the backward pass."""
    others = oracle.segments(num_layers, segment) - 1
    return others * segment - others, others * segment


@instead_of(oracle.recomputed, "nothing is recomputed: there is no checkpoint")
def nothing_again(num_layers: int, segment: int) -> tuple[int, int]:
    """A plain network."""
    return 0, 0


@instead_of(oracle.recomputed, "each segment is recomputed twice in a backward pass")
def twice(num_layers: int, segment: int) -> tuple[int, int]:
    """Checkpoints within checkpoints, or one recomputation for the weights and one for the input."""
    return 2 * (num_layers - oracle.segments(num_layers, segment)), 2 * num_layers


@instead_of(oracle.applied, "the layers after the last whole segment are left out")
def whole_segments(num_layers: int, segment: int) -> int:
    """`num_layers // segment` segments."""
    return num_layers // segment * segment


@instead_of(oracle.reached, "no weight gets a gradient when x needs none: that is how reentrant checkpoints work")
def only_through_x(num_layers: int, segment: int, asks: bool) -> list[bool]:
    """What a reentrant checkpoint returns needs a gradient only if its input does."""
    return [asks] * num_layers


@instead_of(oracle.reached, "the graph ends between segments: only the last one's weights get a gradient")
def last_segment_only(num_layers: int, segment: int, asks: bool) -> list[bool]:
    """A segment's input is detached, and the gradient with it."""
    return [i // segment == (num_layers - 1) // segment for i in range(num_layers)]


@instead_of(oracle.slope, "the backward pass forgets ReLU: the gradient goes on where its output is 0")
def no_slope(before_relu: Float[Array, "batch d"]) -> Float[Array, "batch d"]:
    """In an `autograd.Function` written by hand."""
    return np.ones_like(before_relu)
