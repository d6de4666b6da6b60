"""Oracle for transformer_accounting that lists the tensors and the matrix multiplications of a Transformer by name."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

Sizes = tuple[int, ...]
ATTENTION = ("scores", "mixture")  # the multiplications without a parameter
LARGEST = 2**62


@dataclass(frozen=True)
class Config:
    """The sizes of a model."""

    layers: int
    width: int
    heads: int
    hidden: int
    vocab: int
    context: int
    tied: bool


def list_matrices(c: Config) -> dict[str, Sizes]:
    """Return how often each matrix of the layers occurs, followed by its shape."""
    square: dict[str, Sizes] = dict.fromkeys(("queries", "keys", "values", "merge"), (c.layers, c.width, c.width))
    return square | {"up": (c.layers, c.width, c.hidden), "down": (c.layers, c.hidden, c.width)}


def list_weights(c: Config) -> dict[str, Sizes]:
    """Return how often each parameter occurs, followed by its shape."""
    norms = {"attention's norm": (c.layers, c.width), "MLP's norm": (c.layers, c.width), "last norm": (1, c.width)}
    embeddings = {"tokens": (1, c.vocab, c.width), "positions": (1, c.context, c.width)}
    return embeddings | list_matrices(c) | norms | ({} if c.tied else {"output": (1, c.width, c.vocab)})


def list_products(c: Config) -> dict[str, Sizes]:
    """Return how often each matrix multiplication of a sequence occurs, followed by its three sizes."""
    matrices, heads, each = list_matrices(c) | {"output": (1, c.width, c.vocab)}, c.layers * c.heads, c.width // c.heads
    products: dict[str, Sizes] = {name: (n, c.context, k, m) for name, (n, k, m) in matrices.items()}
    products["scores"] = (heads, c.context, each, c.context)
    products["mixture"] = (heads, c.context, c.context, each)
    return products


def list_kept(c: Config) -> dict[str, Sizes]:
    """Return how often each tensor that is the input of a multiplication occurs, followed by its shape."""
    rows = c.layers, c.context
    by_width = ("attention's input", "queries", "keys", "values", "mixture", "MLP's input")
    kept: dict[str, Sizes] = dict.fromkeys(by_width, (*rows, c.width))
    return kept | {"softmax": (*rows, c.heads, c.context), "hidden": (*rows, c.hidden), "last": (1, c.context, c.width)}


def add_up(listed: Mapping[str, Sizes]) -> int:
    """Multiply the sizes of each entry, and add up the results."""
    return sum(prod(sizes) for sizes in listed.values())


def num_parameters(c: Config) -> int:
    """Return the number of elements of all parameters."""
    return add_up(list_weights(c))


def training_flops(products: Mapping[str, Sizes]) -> int:
    """Count a multiplication and an addition: once in the forward pass, and once for the gradient of each input."""
    return sum(2 * add_up(products) for _ in ("result", "first input", "second input"))


def flops_per_token(c: Config) -> int:
    """Divide the FLOPs of a sequence by its tokens."""
    return training_flops(list_products(c)) // c.context


def step_flops(flops: int, c: Config, batch: int) -> int:
    """Add up the FLOPs of all tokens of a step."""
    return flops * c.context * batch


def half_context(c: Config) -> int:
    """Search for the smallest context at which the multiplications without a parameter are more than half of all."""

    def passes_half(context: int) -> bool:
        """Compare twice their FLOPs with all FLOPs."""
        products = list_products(replace(c, context=context))
        return 2 * add_up({name: products.get(name, (0,)) for name in ATTENTION}) > add_up(products)

    return bisect_left(range(LARGEST), True, lo=1, key=passes_half)


def activations(c: Config, batch: int) -> int:
    """Return the number of activations of a batch."""
    return batch * add_up(list_kept(c))


def training_bytes(parameters: int, kept: int) -> int:
    """Add the bytes of a parameter, its gradient and its two averages, and those of an activation."""
    return parameters * (4 + 4 + 4 + 4) + kept * 4


def max_batch(fixed: int, sequence: int, device_bytes: float) -> int:
    """Search for the largest batch that fits, if a batch takes `fixed` bytes and each sequence `sequence` more."""
    batches = range(int(device_bytes) // sequence + 2)
    return max(0, bisect_right(batches, device_bytes, key=lambda batch: fixed + batch * sequence) - 1)
