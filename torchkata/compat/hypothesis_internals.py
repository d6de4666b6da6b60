"""Contains everything that uses undocumented parts of Hypothesis, mainly to draw inputs without its engine.

Hypothesis 6.140 works, 6.130 does not. `grader/tests/unit/test_inputs.py` shows whether another version works.
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

ATTEMPTS = 10  # how many draws of an input a strategy may reject
FEW_EXAMPLES = 10
SIMPLEST = (ChoiceTemplate("simplest", count=None),)


def ignore_local_constants() -> None:
    """Do not draw constants found in the source of imported modules.

    Inputs then depend only on the strategy and the seed, not on how this project is installed or which modules an
    earlier failure imported. This also saves parsing the source.
    """
    constants = providers._local_constants
    providers._get_local_constants = lambda: constants


def register_random_generators() -> None:
    """Let Hypothesis register the random generators now, because the registration triggers a garbage collection."""
    with deterministic_PRNG():
        pass


def has_explicit_examples(test: Any) -> bool:
    """Return whether the test has an `@example`."""
    return bool(getattr(test, "hypothesis_explicit_examples", ()))


def get_settings(test: Any) -> settings:
    """Return the test's Hypothesis settings."""
    found: settings = test._hypothesis_internal_use_settings
    return found


@contextmanager
def limit_examples(test: Any) -> Iterator[None]:
    """Limit this test to `FEW_EXAMPLES` examples while the context is active."""
    found = get_settings(test)
    test._hypothesis_internal_use_settings = settings(found, max_examples=min(found.max_examples, FEW_EXAMPLES))
    try:
        yield
    finally:
        test._hypothesis_internal_use_settings = found


def draw_without_engine(test: Any, seed: int, count: int) -> Iterator[tuple[dict[str, Any], ConjectureData]]:
    """Yield the simplest input and `count - 1` random inputs, each with its `ConjectureData`.

    A test's body that draws more (`st.data()`) draws from the same data. There is no search, mutation or shrinking, so
    a strategy that rejects most draws yields fewer inputs.
    """
    random = Random(seed)
    strategies: dict[str, SearchStrategy[Any]] = test.hypothesis._given_kwargs
    for number in range(count):
        for attempt in range(ATTEMPTS):
            data = ConjectureData(random=random, prefix=() if number or attempt else SIMPLEST)
            with BuildContext(data, wrapped_test=test):
                try:
                    given = {name: data.draw(strategy) for name, strategy in strategies.items()}
                except (StopTest, UnsatisfiedAssumption):
                    continue
                yield given, data
            break


def has_saved_failures(test: Any) -> bool:
    """Return whether the example database has inputs on which this test failed."""
    database = get_settings(test).database
    if database is None or is_empty(database):
        return False
    return any(True for _ in database.fetch(function_digest(test.hypothesis.inner_test)))


def is_empty(database: ExampleDatabase) -> bool:
    """Return whether the folder is empty. If so, the test's key, which is slow to compute, is not needed."""
    return isinstance(database, DirectoryBasedExampleDatabase) and not any(database.path.glob("*"))


def save_failure(test: Any, data: ConjectureData) -> None:
    """Save a drawn input, so that Hypothesis tries it first in the next run of this test."""
    database = get_settings(test).database
    if database is not None:
        database.save(function_digest(test.hypothesis.inner_test), choices_to_bytes(data.choices))
