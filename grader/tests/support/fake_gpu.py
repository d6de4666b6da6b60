"""pytest plugin: the CPU stands in for a GPU (`pytest -m gpu -p grader.tests.support.fake_gpu`).

Its clock counts products instead of seconds, so that what it shows is the same on every machine.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from torch.utils.flop_counter import FlopCounterMode

from torchkata.speed.sizes import Kind
from torchkata.speed.stopwatch import Stopwatch

LAUNCH_SECONDS = 1e-3
FLOPS = 1e9  # a second
HELD = 2**26  # bytes, by any work


@dataclass
class FakeStopwatch(Stopwatch):
    """A stopwatch that stands still while nothing is multiplied."""

    free: int
    kind: Kind = "cpu"
    name: str = "a pretended GPU"

    def free_bytes(self) -> int:
        """As it was told."""
        return self.free

    def seconds(self, work: Callable[[], object]) -> float:
        """So many as its products take."""
        with FlopCounterMode(display=False) as counter:
            work()
        return LAUNCH_SECONDS + float(counter.get_total_flops()) / FLOPS

    def lead(self, work: Callable[[], object]) -> float:
        """None if the work reads a value to the host, else a second."""
        return 0.0 if work() else 1.0

    def peak_bytes(self, work: Callable[[], object]) -> int:
        """Always the same."""
        work()
        return HELD


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options for its free memory and its name."""
    parser.addoption("--fake-bytes", type=int, default=2**40)
    parser.addoption("--fake-name", default="a pretended GPU")


def pytest_configure(config: pytest.Config) -> None:
    """Put it in the place of what is here; a clock that is always right needs little warmth."""
    from torchkata.pytest_plugin.gpu import STOPWATCH  # imported earlier, pytest would warn
    from torchkata.speed import trial

    trial.WARM_UP_SECONDS["cpu"] = 0.001
    config.stash[STOPWATCH] = FakeStopwatch(config.getoption("fake_bytes"), name=config.getoption("fake_name"))
