"""Mistakes in seeding."""

from reference.misconceptions import instead_of
from reference.oracle import reproducibility as oracle


@instead_of(oracle.repeats, "NumPy's global generator is not seeded")
def without_numpy(drawn_by: str, first: int, second: int) -> bool:
    """A generator from `default_rng` draws for itself alone."""
    return drawn_by != "NumPy" and first == second


@instead_of(oracle.repeats, "Python's own random is not seeded")
def without_random(drawn_by: str, first: int, second: int) -> bool:
    """The one that is forgotten most easily: nothing has to be installed for it."""
    return drawn_by != "random" and first == second


@instead_of(oracle.repeats, "torch's global generator is not seeded")
def without_torch(drawn_by: str, first: int, second: int) -> bool:
    """A `torch.Generator` of its own was seeded, or CUDA's only."""
    return drawn_by != "torch" and first == second


@instead_of(oracle.repeats, "the seed is always the same number: the argument is not used")
def constant(drawn_by: str, first: int, second: int) -> bool:
    """42, whatever was asked for."""
    return True


@instead_of(oracle.repeats, "seed 0 is taken for no seed")
def zero_is_none(drawn_by: str, first: int, second: int) -> bool:
    """`if seed:` is false for 0."""
    return first == second != 0


@instead_of(oracle.repeats, "only the lower 16 bits of the seed are used")
def sixteen_bits(drawn_by: str, first: int, second: int) -> bool:
    """Cut down to a smaller range than there is."""
    return first % 2**16 == second % 2**16
