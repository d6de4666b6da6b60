"""Run the steps in order until one fails and write a report. The exit code is 0 or 1.

--device cuda|cpu   cpu rehearses the steps on the CPU with a simulated CUDA driver, which needs cc
--to FILE           where to write the report, in Markdown (default: results/prove_gpu.md)
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
from grader.tests.support.shared_gpu_memory import FAKE_GPU, build

MAX_SILENCE = 900.0  # seconds
SANDBOX = Step("sandbox", "the sandbox for timed workers starts", lambda *_: None)
LOST = "its process died or timed out"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a step."""

    step: Step
    seconds: float
    lines: tuple[str, ...]
    fault: str  # why it failed, "" if it passed


class Report:
    """The outcomes so far, written to a file after each step."""

    def __init__(self, place: Place, path: Path) -> None:
        self.place = place
        self.path = path
        self.outcomes: list[Outcome] = []
        path.parent.mkdir(parents=True, exist_ok=True)

    def add(self, outcome: Outcome) -> None:
        """Add an outcome, write the file and print a line."""
        self.outcomes.append(outcome)
        self.path.write_text(self.format(), "utf-8")
        text = f"failed: {outcome.fault}" if outcome.fault else "holds"
        print(f"{outcome.step.name}: {text} ({outcome.seconds:.1f} s)", flush=True)

    @property
    def failed(self) -> bool:
        """Whether the last step failed."""
        return bool(self.outcomes and self.outcomes[-1].fault)

    def format(self) -> str:
        """Return the report in Markdown."""
        heading = f"`python -m benchmarks.prove_gpu --device {self.place.kind}`, {datetime.now(UTC):%Y-%m-%d}"
        lines = [heading, "", "| step | claim | outcome | s |", "|---|---|---|---|"]
        for outcome in self.outcomes:
            text = f"**failed**: {outcome.fault}".replace("|", "\\|") if outcome.fault else "holds"
            lines.append(f"| {outcome.step.name} | {outcome.step.claim} | {text} | {outcome.seconds:.1f} |")
        for outcome in self.outcomes:
            lines += ["", f"### {outcome.step.name}", "", *outcome.lines]
        return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all steps until one fails, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prove_gpu")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--to", type=Path, default=ROOT / "results/prove_gpu.md")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:  # not /tmp, because every worker has its own /tmp
        place = (
            Place(chosen.device, gpu.choose_gpu()) if chosen.device == "cuda" else Place("cpu", FAKE_GPU, Path(name))
        )
        if place.driver is not None and (reason := build(place.driver)):
            sys.exit(reason)
        report = Report(place, chosen.to)
        run_all(report)
    print(f"report: {report.path}")
    return 1 if report.failed else 0


def run_all(report: Report) -> None:
    """Run the untimed steps, then the timed ones in one shared sandbox, as when grading a class."""
    run_steps(MACHINE, report, report.place)

    def use(sandbox: Sandbox) -> None:
        run_steps(TIMED, report, replace(report.place, sandbox=sandbox))

    if report.failed:
        return
    timing = setup.plan_workers(report.place.gpu if report.place.kind == "cuda" else None)
    try:
        run_with_sandbox("bwrap", setup.get_limits(), timing, print, use)
    except MachineError as error:
        report.add(Outcome(SANDBOX, 0.0, (), str(error)))


def run_steps(steps: Sequence[Step], report: Report, place: Place) -> None:
    """Run steps in order until one fails."""
    for step in steps:
        report.add(run_step(step, place))
        if report.failed:
            return


def run_step(step: Step, place: Place) -> Outcome:
    """Run one step in its own process, because it may start CUDA or crash."""
    began, lines, fault = time.monotonic(), [], LOST

    def work(send: Send) -> None:
        os.environ.update(place.environment)
        try:
            step.run(place, lambda line: send(b"+" + line.encode()))
        except BaseException as error:
            send(b"-" + (str(error).strip().partition("\n")[0] or type(error).__name__).encode())
        else:
            send(b".")

    for message in receive_messages(work, MAX_SILENCE):
        kind, text = message[:1], message[1:].decode()
        if kind == b"+":
            lines += [text.rstrip()] if text else []
        else:
            fault = text
    return Outcome(step, time.monotonic() - began, tuple(lines), fault)


if __name__ == "__main__":
    sys.exit(main())
