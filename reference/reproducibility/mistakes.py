"""Mistakes in seeding."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from reference.reproducibility import oracle
from torchkata import instead_of


def nothing_again(seeds: Sequence[int]) -> list[object]:
    """No two draws are the same."""
    return [*range(len(seeds))]


@instead_of(oracle.origins, "NumPy's global generator is not seeded with seed by each call")
def without_numpy(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return nothing_again(seeds) if drawn_by == "NumPy" else oracle.origins(drawn_by, seeds)


@instead_of(oracle.origins, "Python's own random is not seeded with seed by each call")
def without_random(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return nothing_again(seeds) if drawn_by == "random" else oracle.origins(drawn_by, seeds)


@instead_of(oracle.origins, "torch's global generator is not seeded with seed by each call, or is moved on or put back")
def without_torch(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return nothing_again(seeds) if drawn_by == "torch" else oracle.origins(drawn_by, seeds)


@instead_of(oracle.origins, "the seed is always the same number: the argument is not used")
def constant(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return [42 for _ in seeds]


@instead_of(oracle.origins, "seed 0 is taken for no seed")
def zero_is_none(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    found: list[object] = ["before"]
    for seed in seeds:
        found.append(seed or ("after", found[-1]))
    return found[1:]


@instead_of(oracle.origins, "NumPy takes seed 0 for no seed")
def numpys_zero_is_none(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    found: list[object] = [seed or f"system {i}" for i, seed in enumerate(seeds)]
    return found if drawn_by in ("NumPy", "a whole run") else oracle.origins(drawn_by, seeds)


@instead_of(oracle.origins, "the number of the call is added to the seed")
def counted(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return [(seed + i) % 2**32 for i, seed in enumerate(seeds)]


@instead_of(oracle.origins, "torch's seed passes through float32, which rounds those above 2**24")
def torchs_in_float32(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    rounded = [float(np.float32(seed)) for seed in seeds]
    return [*rounded] if drawn_by == "torch" else oracle.origins(drawn_by, seeds)


@instead_of(oracle.origins, "only the lower 31 bits of the seed are used")
def thirty_one_bits(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return [seed % 2**31 for seed in seeds]


@instead_of(oracle.origins, "only the lower 16 bits of the seed are used")
def sixteen_bits(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return [seed % 2**16 for seed in seeds]


@instead_of(oracle.origins, "NumPy is given only the last two digits of the seed")
def two_digits(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return [seed % 100 if drawn_by == "NumPy" else seed for seed in seeds]


@instead_of(
    oracle.origins,
    "what came before the call decides torch's draws, too, as where its seed is drawn itself",
)
def torch_from_numpy(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    before = list(pairwise([None, *seeds]))
    return [*before] if drawn_by in ("torch", "a whole run") else oracle.origins(drawn_by, seeds)


@instead_of(
    oracle.origins,
    "what came before the call decides NumPy's draws, too, as where its seed is drawn itself",
)
def numpy_from_random(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    before = list(pairwise([None, *seeds]))
    return [*before] if drawn_by in ("NumPy", "a whole run") else oracle.origins(drawn_by, seeds)
