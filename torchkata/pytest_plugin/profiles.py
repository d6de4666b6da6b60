"""pytest plugin for the number and seed of random inputs (`--examples`, `--seed`), with these Hypothesis profiles:

learn  (default) 25 examples, a new seed in every run; failing inputs are stored in `.hypothesis/` and tried first
grade  100 examples, a fixed seed, no stored inputs
prove  like grade, but without shrinking; used by `grader certify`, which needs only the verdict
"""

import gc
import hashlib
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from torchkata.course import course
from torchkata.i18n import _
from torchkata.inside.hypothesis_internals import ignore_local_constants, register_random_generators

from .run_state import get_state
from .selection import find_test

PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
COMMON: dict[str, Any] = {
    "deadline": None,
    "report_multiple_bugs": False,
    "print_blob": False,
    "suppress_health_check": [HealthCheck.too_slow],
}


def register_profiles(database: Path) -> None:
    """Register the profiles and load `learn`, which stores failing inputs in the directory `database`."""
    settings.register_profile("grade", max_examples=100, phases=PHASES, database=None, **COMMON)
    settings.register_profile("prove", settings.get_profile("grade"), phases=(Phase.explicit, Phase.generate))
    settings.register_profile(
        "learn",
        max_examples=25,
        phases=(*PHASES, Phase.reuse),  # without this phase, the database would be written to but never read
        database=DirectoryBasedExampleDatabase(database),
        **COMMON,
    )
    settings.load_profile("learn")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--seed` and `--examples`. Register the profiles early enough for an option to select one of them."""
    register_profiles(course().root / ".hypothesis" / "examples")
    ignore_local_constants()
    group = parser.getgroup("torchkata")
    group.addoption(
        "--seed", type=int, metavar="N", help=_("seed for the random inputs (default: a new seed in every run)")
    )
    group.addoption("--examples", type=int, metavar="N", help=_("number of random inputs per property (default: 25)"))


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Set the number of examples and the seed after Hypothesis has loaded the selected profile."""
    examples, chosen = config.getoption("examples"), config.getoption("seed")
    if examples is not None:
        if examples < 1:
            raise pytest.UsageError(_("--examples must be at least 1"))
        settings.register_profile(
            "as asked", settings.get_profile(settings.get_current_profile_name()), max_examples=examples
        )
        settings.load_profile("as asked")
    if chosen is None:
        is_fixed = config.getoption("--hypothesis-profile") in ("grade", "prove")
        chosen = 0 if is_fixed else random.SystemRandom().randrange(10**6)
    get_state(config).seed = chosen


def pytest_collection_finish() -> None:
    """Exclude imported objects from garbage collection, and collect garbage less often.

    Garbage collection is slow while torch is loaded: with the default thresholds, it would take a tenth of the run.
    """
    gc.freeze()
    register_random_generators()
    gc.set_threshold(50_000, 20, 100)
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Make each property test use the seed of the run."""
    if isinstance(item, pytest.Function) and hasattr(item.obj, "hypothesis"):
        seed(get_state(item.config).seed)(item.obj)


@pytest.fixture(name="seed")
def derive_seed(request: pytest.FixtureRequest) -> int:
    """Return a seed for a test that does not use Hypothesis, from 0 to 2**31 - 1. It is good for this test only.

    Messages print this seed, so the seed of the run, which may be secret, must not be computable from it.
    """
    return int.from_bytes(hash_secret(request, find_test(request.node))[:4]) >> 1


@pytest.fixture
def kata_key(request: pytest.FixtureRequest) -> bytes:
    """Return 32 secret bytes that are the same for all tests of a kata. They must not reach the student's code."""
    return hash_secret(request, "")


def hash_secret(request: pytest.FixtureRequest, name: str) -> bytes:
    """Return a hash of the seed of the run, the test file, and a name."""
    return hashlib.sha256(f"{get_state(request.config).seed} {request.path.stem} {name}".encode()).digest()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say that Python ignores the assert statements of the student's code, if it does."""
    if sys.flags.optimize:
        text = _("Python ignores each `assert` of your code here (-O or PYTHONOPTIMIZE), but the grader runs it")
        terminalreporter.write_line(f"\n{text}")
