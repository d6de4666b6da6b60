"""Measures trial steps of `kata speak`, with one thread and with all, and keeps the faster setting."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from reference.generate_text.training_run import Run, Speaker, Stopped


@contextmanager
def using_threads(count: int) -> Iterator[None]:
    """Let torch use this number of threads in the `with` block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def choose_threads(speaker: Speaker, found: Run, threads: int, seconds: float) -> dict[int, float]:
    """Set the run's number of threads to the faster one of 1 and `threads`. Return the time of a step for each.

    A GPU does not need the threads, so only one number is tried.
    """
    counts = sorted({1, threads}) if found.settings["device"] == "cpu" else [threads]
    times = {}
    for count in counts:
        with using_threads(count):
            times[count] = measure_steps(speaker, found, seconds)
    found.threads = min(times, key=times.__getitem__)
    return times


def measure_steps(speaker: Speaker, found: Run, seconds: float) -> float:
    """Return the mean time of a step, measured over at least one step and at least `seconds`, after a warm-up step."""
    ends = []

    def report(_step: int, _loss: float) -> None:
        ends.append(time.perf_counter())
        if len(ends) > 1 and ends[-1] - ends[0] > seconds:
            raise Stopped

    with tempfile.TemporaryDirectory(dir=speaker.folder) as folder:
        speaker.train(found, Path(folder) / "trial.pt", report, steps=10**9, checkpoint_every=10**9)
    if len(ends) < 2:
        raise speaker.refuse("no_report")
    return (ends[-1] - ends[0]) / (len(ends) - 1)
