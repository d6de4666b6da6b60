"""Mistakes in seed_everything."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from reference.reproducibility import oracle
from torchkata import instead_of


def distinct_origins(seeds: Sequence[int]) -> list[object]:
    """Return a different value for each call, so that no two calls lead to the same draws."""
    return [*range(len(seeds))]


@instead_of(
    oracle.origins,
    "the same seed gives different numbers in NumPy: does every call seed its global generator, with a number that "
    "depends only on seed?",
)
def without_numpy(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return distinct_origins(seeds) if drawn_by == "NumPy" else oracle.origins(drawn_by, seeds)


@instead_of(
    oracle.origins,
    "the same seed gives different numbers in Python's random module: does every call seed it, with a number that "
    "depends only on seed?",
)
def without_random(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return distinct_origins(seeds) if drawn_by == "random" else oracle.origins(drawn_by, seeds)


@instead_of(
    oracle.origins,
    "the same seed gives different numbers in torch: does every call seed its global generator, "
    "without changing or restoring it afterwards?",
)
def without_torch(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return distinct_origins(seeds) if drawn_by == "torch" else oracle.origins(drawn_by, seeds)


@instead_of(oracle.origins, "all seeds give the same numbers: is the argument ignored?")
def constant(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return [42 for _ in seeds]


@instead_of(oracle.origins, "seed 0 is treated as no seed")
def zero_is_none(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    found: list[object] = ["before"]
    for seed in seeds:
        found.append(seed or ("after", found[-1]))
    return found[1:]


@instead_of(oracle.origins, "seed 0 does not seed NumPy: it is treated as if no seed were given")
def numpys_zero_is_none(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    found: list[object] = [seed or f"system {i}" for i, seed in enumerate(seeds)]
    return found if drawn_by in ("NumPy", "a training run") else oracle.origins(drawn_by, seeds)


@instead_of(oracle.origins, "the numbers depend on how many calls came before, not only on the seed")
def counted(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return [(seed + i) % 2**32 for i, seed in enumerate(seeds)]


@instead_of(oracle.origins, "torch seeds above 2**24 are rounded, as in float32")
def torchs_in_float32(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    rounded = [float(np.float32(seed)) for seed in seeds]
    return [*rounded] if drawn_by == "torch" else oracle.origins(drawn_by, seeds)


@instead_of(oracle.origins, "seeds that differ by 2**31 give the same numbers, as if the highest bit were lost")
def thirty_one_bits(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return [seed % 2**31 for seed in seeds]


@instead_of(oracle.origins, "seeds that differ by 2**31 give the same numbers in NumPy")
def numpys_thirty_one_bits(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return [seed % 2**31 if drawn_by == "NumPy" else seed for seed in seeds]


@instead_of(oracle.origins, "seeds that differ by 2**16 give the same numbers, as if only the lowest bits were used")
def sixteen_bits(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return [seed % 2**16 for seed in seeds]


@instead_of(oracle.origins, "seeds that differ by 1000 give the same numbers in NumPy")
def two_digits(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    return [seed % 100 if drawn_by == "NumPy" else seed for seed in seeds]


@instead_of(
    oracle.origins,
    "torch's random numbers depend on the calls before: is the seed passed to torch itself random?",
)
def torch_from_numpy(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    before = list(pairwise([None, *seeds]))
    return [*before] if drawn_by in ("torch", "a training run") else oracle.origins(drawn_by, seeds)


@instead_of(
    oracle.origins,
    "NumPy's random numbers depend on the calls before: is the seed passed to NumPy itself random?",
)
def numpy_from_random(drawn_by: str, seeds: Sequence[int]) -> list[object]:
    before = list(pairwise([None, *seeds]))
    return [*before] if drawn_by in ("NumPy", "a training run") else oracle.origins(drawn_by, seeds)
