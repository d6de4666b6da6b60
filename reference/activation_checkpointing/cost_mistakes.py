"""Mistakes in what a checkpointed network costs: activations that stay alive, and layers that run again."""

from collections.abc import Sequence

from reference.activation_checkpointing import oracle
from torchkata import instead_of

SEQUENTIAL = "checkpoint_sequential evens the segments out, and keeps the last one's activations"
REST_KEPT = "a shorter last segment is not checkpointed: its activations are kept"
HALVES = "only the second half of each segment is checkpointed"
ALL_AGAIN = "the backward pass recomputes all segments before it begins: all are in memory at once"


@instead_of(oracle.kept, "segment is taken for the number of segments, not for the layers in each")
def segments_by_number(num_layers: int, segment: int) -> int:
    layers_each = -(-num_layers // segment)
    return -(-num_layers // layers_each)


@instead_of(oracle.kept, "the output of every layer is kept, as without segments")
def all_kept(num_layers: int, segment: int) -> int:
    return num_layers


@instead_of(oracle.kept, "the whole network is one segment")
def all_in_one(num_layers: int, segment: int) -> int:
    return min(1, num_layers)


@instead_of(oracle.kept, "the last segment is not checkpointed: its activations are kept")
def last_one_kept(num_layers: int, segment: int) -> int:
    others = oracle.segments(num_layers, segment) - 1
    return others + num_layers - others * segment


@instead_of(oracle.recomputed, "the last segment is not recomputed")
def last_not_again(num_layers: int, segment: int) -> tuple[int, int]:
    others = oracle.segments(num_layers, segment) - 1
    return others * segment - others, others * segment


@instead_of(oracle.kept, SEQUENTIAL)
def sequential_kept(num_layers: int, segment: int) -> int:
    segments, last = oracle.segments(num_layers, segment), last_of_sequential(num_layers, segment)
    return segments - 1 + last


@instead_of(oracle.recomputed, SEQUENTIAL)
def sequential_again(num_layers: int, segment: int) -> tuple[int, int]:
    again = num_layers - last_of_sequential(num_layers, segment)
    return again - oracle.segments(num_layers, segment) + 1, again


@instead_of(oracle.kept, REST_KEPT)
def rest_kept(num_layers: int, segment: int) -> int:
    return num_layers // segment + num_layers % segment


@instead_of(oracle.recomputed, REST_KEPT)
def rest_not_again(num_layers: int, segment: int) -> tuple[int, int]:
    return num_layers // segment * (segment - 1), num_layers // segment * segment


@instead_of(oracle.kept, HALVES)
def first_halves_kept(num_layers: int, segment: int) -> int:
    return sum(first + min(1, second) for first, second in halves(num_layers, segment))


@instead_of(oracle.recomputed, HALVES)
def second_halves_again(num_layers: int, segment: int) -> tuple[int, int]:
    seconds = [second for _, second in halves(num_layers, segment)]
    return sum(max(0, second - 1) for second in seconds), sum(seconds)


@instead_of(oracle.recomputed, "nothing is recomputed: there is no checkpoint")
def nothing_again(num_layers: int, segment: int) -> tuple[int, int]:
    return 0, 0


@instead_of(oracle.recomputed, "each segment is recomputed twice in a backward pass")
def twice(num_layers: int, segment: int) -> tuple[int, int]:
    return 2 * (num_layers - oracle.segments(num_layers, segment)), 2 * num_layers


@instead_of(oracle.in_forward, "each segment runs twice in the forward pass")
def forward_twice(num_layers: int, segment: int) -> int:
    return 2 * num_layers


@instead_of(oracle.alive_in_backward, ALL_AGAIN)
def all_again_at_once(num_layers: int, segment: int) -> tuple[int, int]:
    least = num_layers + oracle.segments(num_layers, segment) - 1
    return least, least + 8


def starts(num_layers: int, segment: int) -> Sequence[int]:
    """The first layer of each segment."""
    return range(0, num_layers, segment)


def halves(num_layers: int, segment: int) -> list[tuple[int, int]]:
    """The layers in the first and the second half of each segment; a short one may lie in the first alone."""
    lengths = [min(segment, num_layers - start) for start in starts(num_layers, segment)]
    return [(min(segment // 2, length), max(0, length - segment // 2)) for length in lengths]


def last_of_sequential(num_layers: int, segment: int) -> int:
    """The layers in checkpoint_sequential's last segment."""
    segments = oracle.segments(num_layers, segment)
    return num_layers - num_layers // segments * (segments - 1)
