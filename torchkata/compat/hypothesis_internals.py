"""The one place that reaches into Hypothesis: draws without its engine, and what it draws with.

Hypothesis 6.140 has all of it, 6.130 does not; `grader/tests/unit/test_inputs.py` says whether another does.
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

ATTEMPTS = 10  # draws of one input that a strategy may turn down
FEW_EXAMPLES = 10  # examples where none of many would tell more
SIMPLEST = (ChoiceTemplate("simplest", count=None),)


def ignore_local_constants() -> None:
    """Draw no constants from the source of the modules that happen to be imported.

    So inputs depend on strategy and seed alone: not on whether this project is installed or checked out, nor on what a
    failure before has imported; and no source is parsed.
    """
    constants = providers._local_constants
    providers._get_local_constants = lambda: constants


def register_random_generators() -> None:
    """Let Hypothesis note now which random generators there are, for which it collects garbage."""
    with deterministic_PRNG():
        pass


def get_strategies(test: Any) -> dict[str, SearchStrategy[Any]]:
    """What `@given` draws for this test, by argument."""
    found: dict[str, SearchStrategy[Any]] = test.hypothesis._given_kwargs
    return found


def has_explicit_examples(test: Any) -> bool:
    """Whether the test has an `@example`."""
    return bool(getattr(test, "hypothesis_explicit_examples", ()))


def get_settings(test: Any) -> settings:
    """The settings that this test runs with."""
    found: settings = test._hypothesis_internal_use_settings
    return found


@contextmanager
def limit_examples(test: Any) -> Iterator[None]:
    """Limit this test to a few examples while the context is active."""
    found = get_settings(test)
    test._hypothesis_internal_use_settings = settings(found, max_examples=min(found.max_examples, FEW_EXAMPLES))
    try:
        yield
    finally:
        test._hypothesis_internal_use_settings = found


def draw_without_engine(test: Any, seed: int, count: int) -> Iterator[tuple[dict[str, Any], ConjectureData]]:
    """The simplest input and `count - 1` random ones, each with the data that it was drawn from.

    Until the next one is asked for, whoever draws more (`st.data()`), draws from that, too. No search, no mutation, no
    shrinking: a strategy that turns down most of what it draws yields fewer.
    """
    random, strategies = Random(seed), get_strategies(test)
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
    """Whether the database of examples has inputs on which this test failed."""
    database = get_settings(test).database
    if database is None or is_empty(database):
        return False
    return any(True for _ in database.fetch(function_digest(test.hypothesis.inner_test)))


def is_empty(database: ExampleDatabase) -> bool:
    """Whether it is known to hold nothing: a test's key takes as long to make as a simple test to run."""
    return isinstance(database, DirectoryBasedExampleDatabase) and not any(database.path.glob("*"))


def save_failure(test: Any, data: ConjectureData) -> None:
    """Have Hypothesis begin with what was drawn here when it next runs this test."""
    database = get_settings(test).database
    if database is not None:
        database.save(function_digest(test.hypothesis.inner_test), choices_to_bytes(data.choices))
