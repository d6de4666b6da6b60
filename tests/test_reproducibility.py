"""Property tests for seed_everything: torch, NumPy and random are seeded together."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from reference.reproducibility import oracle
from tests.probes import reproducibility as probes
from tests.strategies import normal, rng_of
from torchkata import Student, Text, check, require

Demand: TypeAlias = Callable[..., None]  # check or require

LIBRARIES = ("torch", "NumPy", "random")
LARGEST = 2**32 - 1
NEXT = 1  # difference between two seeds, which still differ if their upper bits are lost
SEEDS = st.integers(1, 2**31 - 1 - NEXT)  # other tests cover 0 and larger seeds
UNCHANGED = {  # by library, why a call may leave its global generator as it was
    "torch": Text(
        "a call does not change torch's global generator on the CPU: torch.manual_seed(seed) does, unless the old "
        "state is restored afterwards; torch.cuda.manual_seed_all and a new torch.Generator do not"
    ),
    "NumPy": Text(
        "a call does not change NumPy's global generator: np.random.seed(seed) does, but a new "
        "np.random.default_rng(seed) does not"
    ),
    "random": Text(
        "a call does not change the global generator of Python's random module: random.seed(seed) does, but a new "
        "random.Random(seed) does not"
    ),
}
BETWEEN = st.integers(0, 3)
FURTHER = st.sampled_from([1, 2, 1000, 2**8, 2**16, 2**24, 2**31])


def repeat_seeds(seed: int, further: int = NEXT) -> list[int]:
    """Return two different seeds, followed by the same two seeds."""
    return [seed, (seed + further) % 2**32] * 2


def check_draws(
    student: Student, seeds: list[int], between: int, libraries: Sequence[str], apart: Demand = require
) -> None:
    """Check that equal seeds give equal draws. Use `apart` to check that different seeds give different draws."""
    drawn = student.call(probes.draws, seeds, between)
    for library in libraries:
        if library == "torch":
            check_torch_is_not_reseeded(seeds, drawn)
            check_torch_seeds_differ(seeds, drawn, apart)
        check(drawn[probes.CHANGED.format(library=library)] != [[0.0]], mistake=UNCHANGED[library])
        check_pairs(library, Text("draws"), seeds, drawn[library], apart)


def check_torch_is_not_reseeded(seeds: list[int], drawn: dict[str, list[list[float]]]) -> None:
    """Check that torch is not seeded with different large numbers, such as those of torch.seed(), for the same seed."""
    used = [numbers for (numbers,) in drawn[probes.INITIAL_SEEDS]]
    for i, j in combinations(range(len(seeds)), 2):
        if seeds[i] == seeds[j] and drawn["torch"][i] != drawn["torch"][j] and max(used[i], used[j]) > LARGEST:
            note = Text(
                "after two calls of seed_everything({seed}), torch.initial_seed() is {one} and {other}",
                seed=seeds[i],
                one=used[i],
                other=used[j],
            )
            mistake = Text(
                "torch is seeded with another number in each call: torch.seed() seeds it with a new random number "
                "(torch.initial_seed() only reads the number in use), torch.manual_seed(seed) with seed"
            )
            check(used[i] == used[j], note, mistake=mistake)


def check_torch_seeds_differ(seeds: list[int], drawn: dict[str, list[list[float]]], apart: Demand) -> None:
    """Check that torch is not seeded with different numbers that its generator on the CPU does not distinguish."""
    used = [int(number) for (number,) in drawn[probes.INITIAL_SEEDS]]
    for i, j in combinations(range(len(used)), 2):
        alike = used[i] != used[j] and used[i] % 2**32 == used[j] % 2**32 and drawn["torch"][i] == drawn["torch"][j]
        note = Text(
            "{calls} seed torch with {one} and {other}, but on the CPU, torch uses only the lowest 32 bits of these "
            "numbers, which are equal",
            calls=name_calls(seeds[i], seeds[j]),
            one=used[i],
            other=used[j],
        )
        apart(not alike, note)


def find_seeded(student: Student, seed: int) -> list[str]:
    """Return the libraries that are seeded with this seed. Separate tests check that all libraries are seeded."""
    drawn = student.call(probes.draws, repeat_seeds(seed), 0)
    seeded = [library for library in LIBRARIES if drawn[library][:2] == drawn[library][2:]]
    require(bool(seeded), Text("the seed does not determine the draws of any library"), yours=drawn)
    return seeded


def check_pairs(
    drawn_by: Text | str, what: Text, seeds: list[int], found: list[list[float]], apart: Demand = require
) -> None:
    """Check that equal origins give equal results. Use `apart` to check that different ones give different results."""
    origins = oracle.origins(str(drawn_by), seeds)
    for i, j in combinations(range(len(seeds)), 2):
        first, second, same = seeds[i], seeds[j], found[i] == found[j]
        if origins[i] == origins[j]:
            calls = Text("two calls of seed_everything({seed})", seed=first)
            if j == i + 1:
                calls = Text("two calls of seed_everything({seed}) in a row", seed=first)
            check(same, Text("{library}: {calls} give different {what}", library=drawn_by, calls=calls, what=what))
        else:
            calls = name_calls(first, second)
            apart(not same, Text("{library}: {calls} give the same {what}", library=drawn_by, calls=calls, what=what))


def name_calls(one: int, other: int) -> Text:
    """Return the calls with two seeds."""
    return Text("seed_everything({one}) and seed_everything({other})", one=one, other=other)


@given(SEEDS, BETWEEN)
def test_same_seed_reproduces_torch_draws(student: Student, seed: int, between: int) -> None:
    """With the same seed, torch produces the same numbers, regardless of what was drawn before."""
    check_draws(student, repeat_seeds(seed), between, ["torch"])


@given(SEEDS, BETWEEN)
def test_same_seed_reproduces_numpy_draws(student: Student, seed: int, between: int) -> None:
    """With the same seed, np.random produces the same numbers, regardless of what was drawn before."""
    check_draws(student, repeat_seeds(seed), between, ["NumPy"])


@given(SEEDS, BETWEEN)
def test_same_seed_reproduces_random_draws(student: Student, seed: int, between: int) -> None:
    """With the same seed, Python's random module produces the same numbers, regardless of what was drawn before."""
    check_draws(student, repeat_seeds(seed), between, ["random"])


@given(SEEDS, FURTHER)
def test_different_seeds_give_different_draws(student: Student, seed: int, further: int) -> None:
    """Different seeds give different draws in all three libraries; the same seed reproduces them."""
    check_draws(student, repeat_seeds(seed, further), 0, find_seeded(student, seed), check)


@given(SEEDS)
def test_other_process_draws_same_numbers(student: Student, seed: int) -> None:
    """The same seed gives the same draws in another process, where hash() of a string and the time differ."""
    seeded = find_seeded(student, seed)
    here, elsewhere = student.call(probes.draws_elsewhere, seed)
    for library in seeded:
        drawn = here[library]
        note = Text(
            "{library}: seed_everything({seed}) gives different draws in another process", library=library, seed=seed
        )
        seen = Text("the seed of {library} differs between processes, like hash() of a string", library=library)
        check(drawn == elsewhere[library], note, mistake=seen if drawn[0] == drawn[1] else "")


@given(st.permutations([0, LARGEST, 0, LARGEST, 1, 2**31 + 2]))
def test_smallest_and_largest_seeds_work(student: Student, seeds: list[int]) -> None:
    """0, 2**32 - 1 and all seeds in between work: equal seeds give equal draws, different seeds different ones."""
    check_draws(student, seeds, 1, find_seeded(student, 2), check)


@given(SEEDS)
def test_training_run_is_reproducible(student: Student, seed: int) -> None:
    """A run that uses torch for weights, NumPy for the order and random for noise is exactly reproducible."""
    rng = rng_of(seed)
    seeds = repeat_seeds(seed)
    ends = student.call(probes.runs, seeds, normal(rng, [6, 3]), normal(rng, [6]))
    check_pairs(Text("a training run"), Text("final weights"), seeds, [end.tolist() for end in ends])
