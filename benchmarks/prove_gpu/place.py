"""The device on which a step runs, the workloads that it times there, and the exceptions that end a step."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from grader.sandbox.mounts import Gpu
from grader.speed import gpu
from grader.tests.support.cheats import Cheat, Slow, load_cheats, load_slow
from torchkata.course import Workload, course
from torchkata.inside.speed.sizes import Kind

T = TypeVar("T")
DANGEROUS = (  # cheats that may succeed only on a GPU, the most dangerous first
    *("elsewhere/armed_on_the_device", "less_work/in_int8", "less_work/leaves_out_the_product"),
    *(
        "less_work/powers_of_the_factor",
        "elsewhere/after_the_answer",
        "elsewhere/when_it_is_looked_at",
        "elsewhere/on_another_stream",
    ),
    *("clocks/stops_the_gpus_clock", "kept/by_replaying_a_graph", "kept/by_pointer", "kept/the_buffer_before"),
    *("less_work/in_bfloat16", "forged/answers_early", "kept/the_first_block_for_all"),
)


class Failed(Exception):
    """Raised if a step's claim does not hold."""


class Lacking(Exception):
    """Raised if this machine lacks something that the step needs."""


@dataclass(frozen=True)
class StepSettings:
    """The device that the steps use, the time at which a step should end, and whether the run is quick."""

    kind: Kind
    until: float  # when the step should end by itself, in seconds of `time.monotonic`
    quick: bool  # one workload, one slow solution and one cheat
    unfinished: list[str] = field(default_factory=list)  # what was not tried for lack of time
    durations: list[float] = field(default_factory=list)  # of the items so far, in seconds

    def take_in_time(self, items: Iterable[T], total: int, name: str) -> Iterator[T]:
        """Yield items as long as the remaining time is enough for another item, judged by the slowest one so far.

        The slowest may be of an earlier call. If some items are left, record how many of them were tried.
        """
        count, left = 0, iter(items)
        while (began := time.monotonic()) + max(self.durations, default=0.0) <= self.until:
            if (item := next(left, None)) is None:
                break
            yield item
            count += 1
            self.durations.append(time.monotonic() - began)
        if count < total:
            self.unfinished.append(f"{count} of {total} {name} tried")

    @cached_property
    def gpu(self) -> Gpu | None:
        """The GPU, or None if the steps run on a CPU. Raises Lacking if there is no suitable GPU."""
        found = gpu.choose_gpu() if self.kind == "cuda" else None
        if isinstance(found, str):
            raise Lacking(found)
        return found

    @property
    def workloads(self) -> Sequence[Workload]:
        """The workloads to time."""
        return [*course().workloads.values()][: 1 if self.quick else None]

    @property
    def slow(self) -> Sequence[Slow]:
        """The slow solutions to time."""
        return [*load_slow().values()][: 1 if self.quick else None]

    @property
    def cheats(self) -> Sequence[Cheat]:
        """The cheats to time, the most dangerous first."""
        order = {title: place for place, title in enumerate(DANGEROUS)}
        found = sorted(load_cheats(), key=lambda cheat: order.get(cheat.title, len(order)))
        return found[: 1 if self.quick else None]


def get_last_line(text: str) -> str:
    """Return the last line that is not empty."""
    return ([line.strip() for line in text.splitlines() if line.strip()] or [""])[-1]
