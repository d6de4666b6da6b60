"""Follows a training run of `kata speak`: stores the losses, shows the progress, and stops in time."""

import math
import signal
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from reference.generate_text.cost import find_mfu
from reference.generate_text.training_run import Run, Speaker, Stopped
from reference.generate_text.trial import using_threads
from reference.generate_text.writing import write

LETTERS, FEWER_LETTERS = 400, 200  # lengths of the text at the end and of those before
SHOWN_AT = (100, 1000)  # steps after which the model writes a text
WIDTH = 92


class Report:
    """A callback for each step that stores the loss, shows the progress and texts, and can stop the run."""

    def __init__(self, speaker: Speaker, found: Run) -> None:
        self.speaker, self.found = speaker, found
        self.reason = ""  # why to stop at the next checkpoint: "ctrl_c", or "" to continue
        self.last = time.perf_counter()
        self.shown = 0.0
        self.saved = 0  # the step of the last checkpoint of this call
        self.until = speaker.deadline - LETTERS * found.predicted.get("letter", 0)

    def __call__(self, step: int, loss: float) -> None:
        now, found = time.perf_counter(), self.found
        if not math.isfinite(loss):
            self.close()
            raise self.speaker.refuse("not_finite", loss=loss, step=step)
        found.steps.append((step, float(loss), now - self.last))
        total = found.settings["steps"]
        if now - self.shown > (0.5 if sys.stdout.isatty() else 30) or step == total:
            self.shown = now
            self.show(step, total)
        if step % found.settings["checkpoint_every"] == 0 or step == total:
            found.save(self.speaker.folder)
            if step < total and any(step - found.settings["checkpoint_every"] < each <= step for each in SHOWN_AT):
                self.write_text()
            self.saved = step
        self.last = time.perf_counter()
        if self.saved == step and (self.reason or self.find_seconds_left() < self.find_seconds_to_checkpoint()):
            raise Stopped
        if self.saved and self.find_seconds_left() < 0:  # the steps since the last checkpoint are lost
            raise Stopped

    def find_seconds_left(self) -> float:
        """Return the time that is left for training. The text at the end needs the rest."""
        return self.until - time.monotonic()

    def find_seconds_to_checkpoint(self) -> float:
        """Return the time that the steps until the next checkpoint probably take."""
        recent = statistics.fmean(seconds for _, _, seconds in self.found.steps[-20:])
        return recent * float(self.found.settings["checkpoint_every"])

    def write_text(self) -> None:
        """Let the model of the last checkpoint write a text."""
        self.close()
        devices = [] if (device := self.found.settings["device"]) == "cpu" else [device]
        with torch.random.fork_rng(devices), using_threads(1):
            model, _, step = self.speaker.load(self.found)
            print(self.speaker.texts["after"].format(step=step), flush=True)
            write(self.speaker, device, model, FEWER_LETTERS)

    def show(self, step: int, total: int) -> None:
        """Print the progress. In a terminal, overwrite the previous progress line."""
        recent = self.found.steps[-20:]
        seconds = statistics.fmean(seconds for _, _, seconds in recent)
        bar = "█" * (20 * step // total)
        line = self.speaker.texts["ctrl_c" if self.reason == "ctrl_c" else "progress"].format(
            bar=f"{bar:·<20}",
            step=step,
            steps=total,
            loss=statistics.fmean(loss for _, loss, _ in recent),
            mfu=find_mfu(self.speaker, self.found, seconds),
            minutes=(total - step) * seconds / 60,
        )
        print(f"\r{line:<{WIDTH}}" if sys.stdout.isatty() else line, end="", flush=True)
        if not sys.stdout.isatty():
            print(flush=True)

    def close(self) -> None:
        """End the progress line."""
        if sys.stdout.isatty():
            print()

    @contextmanager
    def stopped_by_ctrl_c(self) -> Iterator[None]:
        """Stop at the next checkpoint after Ctrl-C, and immediately after a second Ctrl-C."""

        def stop(*_: object) -> None:
            self.reason, self.shown = "ctrl_c", 0.0
            signal.signal(signal.SIGINT, signal.default_int_handler)

        before = signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
