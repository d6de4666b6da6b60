"""seed_everything: torch, NumPy and random from one number."""

from collections.abc import Callable
from itertools import combinations
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from reference.reproducibility import oracle
from tests.probes import reproducibility as probes
from tests.strategies import normal, rng_of
from torchkata import Student, check, require

Demand: TypeAlias = Callable[..., None]  # check or require

LARGEST = 2**32 - 1
SEEDS = st.integers(1, LARGEST)  # 0 has a test of its own
BETWEEN = st.integers(0, 3)
FURTHER = st.sampled_from([1, 2, 1000, 2**8, 2**16, 2**24, 2**31])


def there_and_back(seed: int, further: int) -> list[int]:
    """A seed, another one, and both once more."""
    return [seed, (seed + further) % 2**32] * 2


def check_draws(
    student: Student, seeds: list[int], between: int, libraries: list[str], apart: Demand = require
) -> None:
    """Each two seedings draw the same exactly where the seeds are the same."""
    drawn = student.call(probes.draws, seeds, between)
    for library in libraries:
        check_pairs(library, "draws", seeds, drawn[library], apart)


def check_pairs(drawn_by: str, what: str, seeds: list[int], found: list[list[float]], apart: Demand = require) -> None:
    """What follows two seedings is the same exactly where what decides it is; `apart` demands that others differ."""
    origins = oracle.origins(drawn_by, seeds)
    for i, j in combinations(range(len(seeds)), 2):
        first, second, same = seeds[i], seeds[j], found[i] == found[j]
        if origins[i] == origins[j]:
            check(same, f"{drawn_by}: two calls of seed_everything({first}) are followed by different {what}")
        else:
            calls = f"seed_everything({first}) and seed_everything({second})"
            apart(not same, f"{drawn_by}: {calls} are followed by the same {what}")


@given(SEEDS, FURTHER, BETWEEN)
def test_torch_repeats_its_draws(student: Student, seed: int, further: int, between: int) -> None:
    """After seed_everything with the same seed, torch draws the same numbers again, whatever came between."""
    check_draws(student, there_and_back(seed, further), between, ["torch"])


@given(SEEDS, FURTHER, BETWEEN)
def test_numpy_repeats_its_draws(student: Student, seed: int, further: int, between: int) -> None:
    """After seed_everything with the same seed, np.random draws the same numbers again, whatever came between."""
    check_draws(student, there_and_back(seed, further), between, ["NumPy"])


@given(SEEDS, FURTHER, BETWEEN)
def test_random_repeats_its_draws(student: Student, seed: int, further: int, between: int) -> None:
    """After seed_everything with the same seed, random draws the same numbers again, whatever came between."""
    check_draws(student, there_and_back(seed, further), between, ["random"])


@given(SEEDS, FURTHER)
def test_another_seed_gives_other_draws(student: Student, seed: int, further: int) -> None:
    """Two different seeds give different draws in all three libraries, and the first seed repeats its own."""
    check_draws(student, there_and_back(seed, further), 0, ["torch", "NumPy", "random"], check)


@given(SEEDS)
def test_another_process_draws_the_same(student: Student, seed: int) -> None:
    """Another process draws the same after the same seed: there hash() of a text is another, and so is the time."""
    here, elsewhere = student.call(probes.draws_elsewhere, seed)
    for library, drawn in here.items():
        note = f"{library}: in another process seed_everything({seed}) is followed by other draws"
        seen = f"the seed of {library} is another in each process, as hash() of a text is"
        check(drawn == elsewhere[library], note, mistake=seen if drawn[0] == drawn[1] else "")


@given(st.permutations([0, LARGEST, 0, LARGEST, 1]))
def test_zero_and_the_largest_are_seeds_like_others(student: Student, seeds: list[int]) -> None:
    """0 and 2**32 - 1 are seeds like all between them."""
    check_draws(student, seeds, 1, ["torch", "NumPy", "random"], check)


@given(SEEDS, FURTHER)
def test_a_whole_run_repeats(student: Student, seed: int, further: int) -> None:
    """A run that draws its start from torch, its order from NumPy and its noise from random ends the same again."""
    rng = rng_of(seed)
    seeds = there_and_back(seed, further)
    ends = student.call(probes.runs, seeds, normal(rng, [6, 3]), normal(rng, [6]))
    check_pairs("a whole run", "weights at its end", seeds, [end.tolist() for end in ends])
