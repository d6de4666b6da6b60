"""Mistakes in how the layers of a deep linear model start."""

from reference import instead_of
from reference.cruncher import oracle

SEEDED = "the generator is seeded in the model"
SEEDED_EACH = "the generator is seeded for every layer"


@instead_of(oracle.initial_stds, "the final weight starts at zero")
def final_at_zero(dim: int, num_layers: int) -> list[float]:
    """It should start as any Linear."""
    return [*oracle.initial_stds(dim, num_layers)[:-1], 0.0]


@instead_of(oracle.initial_stds, "layers start the smaller the deeper they lie")
def smaller_with_depth(dim: int, num_layers: int) -> list[float]:
    """The i-th divided by i."""
    *layers, final = oracle.initial_stds(dim, num_layers)
    return [*(std / (i + 1) for i, std in enumerate(layers)), final]


@instead_of(oracle.equal_starts, "the layers start as copies of one")
def copies(num_layers: int) -> list[list[int]]:
    """Those of one model; the models differ."""
    return [[j + m, i + m] for m in (0, num_layers + 1) for i in range(num_layers) for j in range(i)]


@instead_of(oracle.equal_starts, "the last layer starts as a copy of the one before it")
def last_copied(num_layers: int) -> list[list[int]]:
    """In both models."""
    return [[num_layers - 2 + m, num_layers - 1 + m] for m in (0, num_layers + 1)]


@instead_of(oracle.equal_starts, SEEDED)
def seeded(num_layers: int) -> list[list[int]]:
    """Each weight equals its like in the other model."""
    return [[i, i + num_layers + 1] for i in range(num_layers + 1)]


@instead_of(oracle.seed_afterwards, SEEDED)
def seeded_with_zero(seed: int) -> int:
    """As most do."""
    return 0


@instead_of(oracle.equal_starts, SEEDED_EACH)
def seeded_each(num_layers: int) -> list[list[int]]:
    """All layers of both models are equal, and so are the final weights."""
    return [*all_layers(num_layers), [num_layers, 2 * num_layers + 1]]


@instead_of(oracle.seed_afterwards, SEEDED_EACH)
def seeded_each_with_zero(seed: int) -> int:
    """As most do."""
    return 0


@instead_of(oracle.equal_starts, "all layers start alike, in every model: they are set, not drawn")
def constant(num_layers: int) -> list[list[int]]:
    """As the identity, for one."""
    return all_layers(num_layers)


def all_layers(num_layers: int) -> list[list[int]]:
    """All pairs of layers of both models."""
    layers = [i + m for m in (0, num_layers + 1) for i in range(num_layers)]
    return [[j, i] for i in layers for j in layers if j < i]
