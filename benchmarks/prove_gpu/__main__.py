"""Takes the steps one after the other, stops at the first that fails, and writes a report. Exit code 0 or 1.

--device cuda|cpu   cpu is a rehearsal: a library stands in for the driver's, and the CPU for the device (needs cc)
--to FILE           the report, in Markdown; results/prove_gpu.md if nothing is said
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import ROOT
from benchmarks.prove_gpu.steps import MACHINE, TIMED, Place, Step
from grader.base.errors import MachineError
from grader.pipeline.setup import run_with_sandbox
from grader.sandbox.launch import Sandbox
from grader.speed import gpu, setup
from grader.speed.child import Send, receive_messages
from grader.tests.support.gpu_plumbing import HERE, build

SILENCE = 900.0  # seconds
SANDBOX = Step("sandbox", "a sandbox for workers that are timed starts", lambda *_: None)
LOST = "its process was lost, or said nothing for too long"


@dataclass(frozen=True)
class Taken:
    """A step that was taken."""

    step: Step
    seconds: float
    lines: tuple[str, ...]
    fault: str  # why it failed, "" if it did not


class Report:
    """What came of the steps so far, in a file that is there after each of them."""

    def __init__(self, place: Place, path: Path) -> None:
        self.place = place
        self.path = path
        self.taken: list[Taken] = []
        path.parent.mkdir(parents=True, exist_ok=True)

    def add(self, taken: Taken) -> None:
        """One more."""
        self.taken.append(taken)
        self.path.write_text(self.text(), "utf-8")
        outcome = f"failed: {taken.fault}" if taken.fault else "holds"
        print(f"{taken.step.name}: {outcome} ({taken.seconds:.1f} s)", flush=True)

    @property
    def failed(self) -> bool:
        """Whether the last step did."""
        return bool(self.taken and self.taken[-1].fault)

    def text(self) -> str:
        """All of it, in Markdown."""
        heading = f"`python -m benchmarks.prove_gpu --device {self.place.kind}`, {datetime.now(UTC):%Y-%m-%d}"
        lines = [heading, "", "| step | claim | it | s |", "|---|---|---|---|"]
        for taken in self.taken:
            outcome = f"**failed**: {taken.fault}".replace("|", "\\|") if taken.fault else "holds"
            lines.append(f"| {taken.step.name} | {taken.step.claim} | {outcome} | {taken.seconds:.1f} |")
        for taken in self.taken:
            lines += ["", f"### {taken.step.name}", "", *taken.lines]
        return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """All steps, up to the first that fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prove_gpu")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--to", type=Path, default=ROOT / "results/prove_gpu.md")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:  # every worker has a /tmp of its own
        place = Place(chosen.device, gpu.choose_gpu()) if chosen.device == "cuda" else Place("cpu", HERE, Path(name))
        if place.driver is not None and (reason := build(place.driver)):
            sys.exit(reason)
        report = Report(place, chosen.to)
        take_all(report)
    print(f"report: {report.path}")
    return 1 if report.failed else 0


def take_all(report: Report) -> None:
    """First what needs no timing, then what shares one sandbox, as a class does."""
    take(MACHINE, report, report.place)

    def use(sandbox: Sandbox) -> None:
        take(TIMED, report, replace(report.place, sandbox=sandbox))

    if report.failed:
        return
    timing = setup.plan_workers(report.place.gpu if report.place.kind == "cuda" else None)
    try:
        run_with_sandbox("bwrap", setup.get_limits(), timing, print, use)
    except MachineError as error:
        report.add(Taken(SANDBOX, 0.0, (), str(error)))


def take(steps: Sequence[Step], report: Report, place: Place) -> None:
    """One after the other, until one fails."""
    for step in steps:
        report.add(taken(step, place))
        if report.failed:
            return


def taken(step: Step, place: Place) -> Taken:
    """One step, in a process of its own, so that it may start CUDA, or die of it."""
    began, lines, fault = time.monotonic(), [], LOST

    def work(send: Send) -> None:
        os.environ.update(place.environment)
        try:
            step.run(place, lambda line: send(b"+" + line.encode()))
        except BaseException as error:
            send(b"-" + (str(error).strip().partition("\n")[0] or type(error).__name__).encode())
        else:
            send(b".")

    for message in receive_messages(work, SILENCE):
        kind, text = message[:1], message[1:].decode()
        if kind == b"+":
            lines += [text.rstrip()] if text else []
        else:
            fault = text
    return Taken(step, time.monotonic() - began, tuple(lines), fault)


if __name__ == "__main__":
    sys.exit(main())
