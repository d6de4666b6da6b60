"""pytest plugin that uses the CPU as a fake GPU for timing (`pytest -m gpu -p grader.tests.support.fake_gpu`).

Its clock counts floating-point operations instead of seconds, so that results are the same on every machine.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from torch.utils.flop_counter import FlopCounterMode

from torchkata.inside.speed.sizes import Kind
from torchkata.speed.local_bench import Stopwatch

LAUNCH_SECONDS = 1e-3
FLOPS_PER_SECOND = 1e9


@dataclass
class FakeStopwatch(Stopwatch):
    """A stopwatch that measures a time proportional to the FLOPs of the work."""

    free: int
    kind: Kind = "cpu"
    name: str = "a fake GPU"

    def free_bytes(self) -> int:
        return self.free

    def seconds(self, work: Callable[[], object]) -> float:
        with FlopCounterMode(display=False) as counter:
            work()
        return LAUNCH_SECONDS + float(counter.get_total_flops()) / FLOPS_PER_SECOND


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options for the memory and the name of the fake GPU."""
    parser.addoption("--fake-bytes", type=int, default=2**40)
    parser.addoption("--fake-name", default="a fake GPU")


def pytest_configure(config: pytest.Config) -> None:
    """Replace this machine's stopwatch, and shorten the warm-up because the fake does not need it."""
    from torchkata.pytest_plugin.gpu import STOPWATCH  # pytest would warn if this were imported earlier
    from torchkata.speed.bench import DEMANDS

    DEMANDS["cpu"] = replace(DEMANDS["cpu"], warm_up_seconds=0.0)
    config.stash[STOPWATCH] = FakeStopwatch(config.getoption("fake_bytes"), name=config.getoption("fake_name"))
