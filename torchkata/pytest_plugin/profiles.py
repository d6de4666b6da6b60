"""pytest plugin: how many random inputs, and which. `--seed`, `--examples`, and the Hypothesis profiles by name.

learn  the default: 25 examples, a new seed every run, failing inputs kept in `.hypothesis/` and tried first next time
grade  100 examples, a fixed seed, nothing kept
prove  as grade, but a failing input is not made small: for `grader certify`, where nobody reads it
"""

import gc
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from torchkata.compat.hypothesis_internals import leave_local_constants_out, meet_random_generators
from torchkata.course import course
from torchkata.i18n.notes import translate

from .run_state import get_state

PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
COMMON: dict[str, Any] = {
    "deadline": None,
    "report_multiple_bugs": False,
    "print_blob": False,
    "suppress_health_check": [HealthCheck.too_slow],
}


def register_profiles(database: Path) -> None:
    """Make the profiles known, and load `learn`, which keeps failing inputs in this folder."""
    settings.register_profile("grade", max_examples=100, phases=PHASES, database=None, **COMMON)
    settings.register_profile("prove", settings.get_profile("grade"), phases=(Phase.explicit, Phase.generate))
    settings.register_profile(
        "learn",
        max_examples=25,
        phases=(*PHASES, Phase.reuse),  # without it, the database would be written and never read
        database=DirectoryBasedExampleDatabase(database),
        **COMMON,
    )
    settings.load_profile("learn")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--seed` and `--examples`, and make the profiles known before one is asked for."""
    register_profiles(course().root / ".hypothesis" / "examples")
    leave_local_constants_out()
    group = parser.getgroup("torchkata")
    group.addoption("--seed", type=int, metavar="N", help="draw the inputs from this seed (default: new in every run)")
    group.addoption("--examples", type=int, metavar="N", help="random inputs per property (default: 25)")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Settle the number of examples and the seed, after Hypothesis has loaded the profile that was named."""
    examples, chosen = config.getoption("examples"), config.getoption("seed")
    if examples is not None:
        if examples < 1:
            raise pytest.UsageError(translate("--examples takes a number of at least 1"))
        settings.register_profile(
            "as asked", settings.get_profile(settings.get_current_profile_name()), max_examples=examples
        )
        settings.load_profile("as asked")
    if chosen is None:
        chosen = (
            0
            if config.getoption("--hypothesis-profile") in ("grade", "prove")
            else random.SystemRandom().randrange(10**6)
        )
    get_state(config).seed = chosen


def pytest_collection_finish() -> None:
    """Spare the garbage collector what has been imported: with torch loaded it is slow to walk through.

    And let it look less often: by its own measure, made for smaller heaps, it would take a tenth of the run.
    """
    gc.freeze()
    meet_random_generators()
    gc.set_threshold(50_000, 20, 100)
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give the run's seed to every property."""
    if isinstance(item, pytest.Function) and hasattr(item.obj, "hypothesis"):
        seed(get_state(item.config).seed)(item.obj)


@pytest.fixture(scope="session", name="seed")
def run_seed(request: pytest.FixtureRequest) -> int:
    """The run's seed, for tests that draw no examples."""
    return get_state(request.config).seed
