"""All code that uses undocumented parts of Hypothesis, mainly to draw inputs without the Hypothesis engine.

Hypothesis 6.140 works and 6.130 does not. Run `grader/tests/unit/test_inputs.py` to find out whether another version
works.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

from hypothesis import settings
from hypothesis.control import BuildContext
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase, choices_to_bytes
from hypothesis.errors import StopTest, UnsatisfiedAssumption
from hypothesis.internal.conjecture import providers
from hypothesis.internal.conjecture.choice import ChoiceTemplate
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.internal.entropy import deterministic_PRNG
from hypothesis.internal.reflection import function_digest
from hypothesis.strategies import SearchStrategy
from hypothesis.strategies._internal.lazy import unwrap_strategies
from hypothesis.strategies._internal.strategies import SampledFromStrategy

ATTEMPTS = 10  # maximum number of draws of an input that a strategy may reject
FEW_EXAMPLES = 10
SIMPLEST = (ChoiceTemplate("simplest", count=None),)


def ignore_local_constants() -> None:
    """Prevent Hypothesis from using constants found in the source of imported modules.

    Inputs then depend only on the strategy and the seed, and not on how this project is installed or which modules were
    imported because of an earlier failure. It also avoids the time needed to parse the source.
    """
    constants = providers._local_constants
    providers._get_local_constants = lambda: constants


def register_random_generators() -> None:
    """Make Hypothesis register the random generators in advance, because doing so triggers a garbage collection."""
    with deterministic_PRNG():
        pass


def has_explicit_examples(test: Any) -> bool:
    """Return whether the test has an `@example` decorator."""
    return bool(getattr(test, "hypothesis_explicit_examples", ()))


def get_settings(test: Any) -> settings:
    """Return the Hypothesis settings of the test."""
    found: settings = test._hypothesis_internal_use_settings
    return found


@contextmanager
def limit_examples(test: Any) -> Iterator[None]:
    """Limit this test to at most `FEW_EXAMPLES` examples within this context."""
    found = get_settings(test)
    test._hypothesis_internal_use_settings = settings(found, max_examples=min(found.max_examples, FEW_EXAMPLES))
    try:
        yield
    finally:
        test._hypothesis_internal_use_settings = found


def draw_without_engine(test: Any, seed: int, count: int) -> Iterator[tuple[dict[str, Any], ConjectureData]]:
    """Yield the simplest input and `count - 1` random inputs, each together with its `ConjectureData`.

    If the body of a test draws more values (`st.data()`), they are drawn from the same data. Because there is no
    search, mutation or shrinking, a strategy that rejects most draws yields fewer inputs. No element of an argument
    `st.sampled_from(elements)` repeats before all have occurred, so a short list is tried completely.
    """
    random = Random(seed)
    strategies: dict[str, SearchStrategy[Any]] = test.hypothesis._given_kwargs
    indices = {name: draw_indices(strategy, count, random) for name, strategy in strategies.items()}
    for number in range(count):
        for attempt in range(ATTEMPTS):
            data = ConjectureData(random=random, prefix=() if number or attempt else SIMPLEST)
            with BuildContext(data, wrapped_test=test):
                try:
                    given = {}
                    for name, strategy in strategies.items():
                        if number and indices[name]:  # the first choice of `sampled_from` is the index
                            data.prefix, data.index = (indices[name][number - 1],), 0
                        given[name] = data.draw(strategy)
                except (StopTest, UnsatisfiedAssumption):
                    continue
                yield given, data
            break


def draw_indices(strategy: SearchStrategy[Any], count: int, random: Random) -> list[int]:
    """Return at least `count` indices of the elements of `st.sampled_from(elements)`, or [] for another strategy."""
    found = unwrap_strategies(strategy)  # type: ignore[no-untyped-call]
    length = len(found.elements) if isinstance(found, SampledFromStrategy) else 0
    rounds = range(0, count, length) if length else ()
    return [index for _ in rounds for index in random.sample(range(length), min(length, count))]


def has_saved_failures(test: Any) -> bool:
    """Return whether the example database contains failing inputs for this test."""
    database = get_settings(test).database
    if database is None or is_empty(database):
        return False
    return any(True for _ in database.fetch(function_digest(test.hypothesis.inner_test)))


def is_empty(database: ExampleDatabase) -> bool:
    """Return whether the folder is empty.

    If the folder is empty, the key of the test, which is slow to compute, is not needed.
    """
    return isinstance(database, DirectoryBasedExampleDatabase) and not any(database.path.glob("*"))


def save_failure(test: Any, data: ConjectureData) -> None:
    """Save a drawn input, so that Hypothesis tries it first in the next run of this test."""
    database = get_settings(test).database
    if database is not None:
        database.save(function_digest(test.hypothesis.inner_test), choices_to_bytes(data.choices))
