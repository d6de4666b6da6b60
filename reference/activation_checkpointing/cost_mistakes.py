"""Mistakes in the memory and compute cost of a checkpointed network."""

from collections.abc import Sequence

from reference.activation_checkpointing import oracle
from torchkata import instead_of

SEQUENTIAL = (
    "the segments are as equal in length as possible, and the activations of the last one are kept, as in "
    "checkpoint_sequential"
)
REST_KEPT = "a shorter last segment is not checkpointed, so its activations are kept"
HALVES = "only the second half of each segment is checkpointed"
ALL_AGAIN = (
    "in the backward pass, all activations are in memory at the same time, as if all segments were recomputed first"
)


@instead_of(oracle.kept, "segment is used as the number of segments instead of the number of layers in each")
def segments_by_number(num_layers: int, segment: int, x_needs_grad: bool = True) -> int:
    layers_each = -(-num_layers // segment)
    return -(-num_layers // layers_each)


@instead_of(oracle.kept, "every layer's output is kept, as without checkpointing")
def all_kept(num_layers: int, segment: int, x_needs_grad: bool = True) -> int:
    return num_layers


@instead_of(oracle.kept, "only the output is kept after the forward pass, as if the whole network were one segment")
def all_in_one(num_layers: int, segment: int, x_needs_grad: bool = True) -> int:
    return min(1, num_layers)


@instead_of(oracle.kept, "the last segment is not checkpointed, so its activations are kept")
def last_one_kept(num_layers: int, segment: int, x_needs_grad: bool = True) -> int:
    others = oracle.segments(num_layers, segment) - 1
    return others + num_layers - others * segment


@instead_of(
    oracle.kept, "the first segment is not checkpointed if x does not require grad, so its activations are kept"
)
def first_one_kept(num_layers: int, segment: int, x_needs_grad: bool = True) -> int:
    first = 0 if x_needs_grad else min(segment, num_layers) - 1
    return oracle.kept(num_layers, segment, x_needs_grad) + first


@instead_of(oracle.kept, "nothing is checkpointed if x does not require grad, so all activations are kept")
def all_kept_unless_x_asks(num_layers: int, segment: int, x_needs_grad: bool = True) -> int:
    return oracle.kept(num_layers, segment, x_needs_grad) if x_needs_grad else num_layers


@instead_of(oracle.kept, "a shorter rest is added to the last full segment instead of being a segment of its own")
def rest_added(num_layers: int, segment: int, x_needs_grad: bool = True) -> int:
    return max(1, num_layers // segment) if num_layers else oracle.kept(num_layers, segment, x_needs_grad)


@instead_of(oracle.recomputed, "the last segment is not recomputed")
def last_not_recomputed(num_layers: int, segment: int) -> tuple[int, int]:
    others = oracle.segments(num_layers, segment) - 1
    return others * segment - others, others * segment


@instead_of(oracle.kept, SEQUENTIAL)
def sequential_kept(num_layers: int, segment: int, x_needs_grad: bool = True) -> int:
    segments, last = oracle.segments(num_layers, segment), count_last_of_sequential(num_layers, segment)
    return segments - 1 + last


@instead_of(oracle.recomputed, SEQUENTIAL)
def sequential_recomputed(num_layers: int, segment: int) -> tuple[int, int]:
    again = num_layers - count_last_of_sequential(num_layers, segment)
    return again - oracle.segments(num_layers, segment) + 1, again


@instead_of(oracle.kept, REST_KEPT)
def rest_kept(num_layers: int, segment: int, x_needs_grad: bool = True) -> int:
    return num_layers // segment + num_layers % segment


@instead_of(oracle.recomputed, REST_KEPT)
def rest_not_recomputed(num_layers: int, segment: int) -> tuple[int, int]:
    return num_layers // segment * (segment - 1), num_layers // segment * segment


@instead_of(oracle.kept, HALVES)
def first_halves_kept(num_layers: int, segment: int, x_needs_grad: bool = True) -> int:
    return sum(first + min(1, second) for first, second in split_halves(num_layers, segment))


@instead_of(oracle.recomputed, HALVES)
def second_halves_recomputed(num_layers: int, segment: int) -> tuple[int, int]:
    seconds = [second for _, second in split_halves(num_layers, segment)]
    return sum(max(0, second - 1) for second in seconds), sum(seconds)


@instead_of(oracle.recomputed, "the backward pass recomputes nothing, as without checkpointing")
def nothing_recomputed(num_layers: int, segment: int) -> tuple[int, int]:
    return 0, 0


@instead_of(oracle.recomputed, "each segment is recomputed twice in a backward pass")
def twice(num_layers: int, segment: int) -> tuple[int, int]:
    return 2 * (num_layers - oracle.segments(num_layers, segment)), 2 * num_layers


@instead_of(oracle.in_forward, "each segment runs twice in the forward pass")
def forward_twice(num_layers: int, segment: int) -> int:
    return 2 * num_layers


@instead_of(oracle.alive_in_backward, ALL_AGAIN)
def all_recomputed_at_once(num_layers: int, segment: int) -> tuple[int, int]:
    least = num_layers + oracle.segments(num_layers, segment) - 1
    return least, least + 8


def list_starts(num_layers: int, segment: int) -> Sequence[int]:
    """Return the index of each segment's first layer."""
    return range(0, num_layers, segment)


def split_halves(num_layers: int, segment: int) -> list[tuple[int, int]]:
    """Return the number of layers in the first half and in the second half of each segment."""
    lengths = [min(segment, num_layers - start) for start in list_starts(num_layers, segment)]
    return [(min(segment // 2, length), max(0, length - segment // 2)) for length in lengths]


def count_last_of_sequential(num_layers: int, segment: int) -> int:
    """Return the number of layers in checkpoint_sequential's last segment."""
    segments = oracle.segments(num_layers, segment)
    return num_layers - num_layers // segments * (segments - 1)
