"""Mistakes in activation checkpointing."""

from reference.misconceptions import instead_of
from reference.oracle import activation_checkpointing as oracle


@instead_of(oracle.segments, "segment is taken for the number of segments, not for the layers in each")
def segments_by_number(num_layers: int, segment: int) -> int:
    """As in `torch.utils.checkpoint.checkpoint_sequential`."""
    return min(num_layers, segment)


@instead_of(oracle.segments, "every layer is a segment of its own")
def one_layer_each(num_layers: int, segment: int) -> int:  # noqa: ARG001
    """`segment` is not used."""
    return num_layers


@instead_of(oracle.segments, "the whole network is one segment")
def all_in_one(num_layers: int, segment: int) -> int:  # noqa: ARG001
    """`segment` is not used."""
    return min(1, num_layers)


@instead_of(oracle.kept, "the last segment is not checkpointed: its activations are kept")
def last_one_kept(num_layers: int, segment: int) -> int:
    """The last segment is recomputed right away, so some leave it out."""
    whole = (oracle.segments(num_layers, segment) - 1) * segment
    return oracle.segments(num_layers, segment) - 1 + num_layers - whole


@instead_of(oracle.recomputed, "nothing is recomputed: the activations are all kept")
def nothing_again(num_layers: int, segment: int) -> tuple[int, int]:  # noqa: ARG001
    """A plain network."""
    return 0, 0


@instead_of(oracle.recomputed, "each segment is recomputed twice in a backward pass")
def twice(num_layers: int, segment: int) -> tuple[int, int]:
    """Checkpoints within checkpoints, or one recomputation for the weights and one for the input."""
    return 2 * (num_layers - oracle.segments(num_layers, segment)), 2 * num_layers
