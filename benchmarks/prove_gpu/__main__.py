"""Run all checks that need a GPU, in ten minutes: python -m benchmarks.prove_gpu

The steps are independent: each runs in a separate process with its own time limit, and a failure does not stop the run.
The report (Markdown and JSON) is rewritten after every line, so it is complete whenever the run ends. A second run with
the same report repeats only the steps that did not succeed. This file needs only the standard library and Python 3.10,
with which only the step "torch" runs.
"""

import argparse
import contextlib
import json
import math
import os
import platform
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.prove_gpu.report import DONE, SO_FAR, Report, StepOutcome

ROOT = Path(__file__).resolve().parents[2]
MINUTES = 9.0
USED = 0.98  # share of the time limit for the steps; the rest is for starting and killing processes
KILL_SECONDS = 5.0  # how long to wait for a killed process, which the driver may keep alive
ENDS = {0: "holds", 1: "failed", 3: "lacking", 4: SO_FAR}  # the outcome by exit code; any other is a crash
TIMED_OUT = "stopped after its share of the time; the results so far are kept"


@dataclass(frozen=True)
class Step:
    """A step: its name and claim, its time limit, and its duration in a nine-minute run (scaled for other runs)."""

    name: str
    claim: str
    seconds: float
    most: float = math.inf
    python: tuple[int, int] = (3, 11)

    def build_command(self, kind: str, seconds: float, extent: str) -> list[str]:
        """Return the command that runs the step."""
        if self.name == "torch":
            return [str(ROOT / "benchmarks/prove_gpu/torch_only.py"), f"{seconds / 2:g}", kind]
        return ["-m", "benchmarks.prove_gpu.steps", self.name, kind, f"{time.monotonic() + seconds:.3f}", extent]


STEPS = (  # what has never run on a GPU comes first; time that a step leaves is shared by the later ones
    Step("sandbox", "the driver starts in a sandboxed worker, and memory reaches it by descriptor", 75),
    Step("graded", "in the sandbox, slow solutions fail and the solution passes", 200),
    Step("cheats", "no cheat gains points", 130),
    Step("torch", "what the device reaches with torch alone", 30, 60, (3, 10)),
    Step("clock", "the grader's clock agrees with other clocks", 30),
    Step("student", "the solution passes a student's timing tests", 60),
    Step("steady", "the device does not slow itself down under load", 15, 90),
)


def main(arguments: Sequence[str] | None = None, steps: Sequence[Step] = STEPS) -> int:
    """Run the steps. Return 0 if their claims hold, 3 if not everything was tried in time, and 1 if a step failed."""
    about = "Measure everything that only a GPU can show."
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prove_gpu", description=about)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="time limit of the run (default: %(default)g)")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu is a rehearsal (default: cuda)")
    parser.add_argument("--quick", action="store_true", help="measure less in each step")
    names, to = [step.name for step in steps], ROOT / "results/prove_gpu.md"
    parser.add_argument("--only", action="append", choices=names, help="run only this step (repeatable)")
    parser.add_argument("--again", action="store_true", help="repeat steps whose results are stored")
    parser.add_argument("--to", type=Path, default=to, help="report; a .json is written next to it")
    chosen = parser.parse_args(arguments)
    until = time.monotonic() + USED * 60 * chosen.minutes
    extent = "quick" if chosen.quick else "whole"
    report = Report(chosen.to, describe_machine(chosen.device, extent), {step.name: step.claim for step in steps})
    pending = [step for step in steps if not chosen.only or step.name in chosen.only]
    pending = [step for step in pending if chosen.again or report.outcomes[step.name].outcome != "holds"]
    for step in [step for step in pending if sys.version_info < step.python]:
        report.outcomes[step.name].outcome, report.outcomes[step.name].reason = "lacking", "Python 3.11 or newer"
        pending.remove(step)
    report.write()
    with tempfile.TemporaryDirectory(prefix="prove-gpu-", ignore_cleanup_errors=True) as folder:
        while pending:
            step, share = pending[0], pending[0].seconds / sum(step.seconds for step in pending)
            seconds = min(share * (until - time.monotonic()), step.most * max(1.0, chosen.minutes / MINUTES))
            command = [sys.executable, *step.build_command(chosen.device, seconds, extent)]
            environment = build_environment(Path(folder), chosen.device)
            run_step(command, environment, report.outcomes[pending.pop(0).name], seconds, Path(folder), report.write)
    print(f"report: {report.path}")
    ends = {outcome.outcome for outcome in report.outcomes.values()}.difference(DONE, ["not run"])
    return (3 if ends == {SO_FAR} else 1) if ends else 0


def describe_machine(device: str, extent: str) -> dict[str, str]:
    """Return the properties of this machine and this run. A report is continued only if its properties are the same."""
    try:
        torch = metadata.version("torch")
    except metadata.PackageNotFoundError:
        torch = "not installed"
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20)
        devices = " ".join(done.stdout.split()) or "none"
    except (OSError, subprocess.TimeoutExpired) as error:
        devices = f"unknown: nvidia-smi: {type(error).__name__}"
    machine = f"{platform.system()} {platform.release()}, {platform.machine()}, Python {platform.python_version()}"
    return {"machine": machine, "torch": torch, "devices": devices, "run": f"--device {device}, {extent}"}


def build_environment(folder: Path, device: str) -> dict[str, str]:
    """Return the environment variables of a step, which keep it from writing to the home directory or this project.

    The variables hide all GPUs if the run is a rehearsal on the CPU.
    """
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    folders = {"XDG_CACHE_HOME": folder / "cache", "HYPOTHESIS_STORAGE_DIRECTORY": folder / "hypothesis"}
    settings = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1", "KATA_LANG": "en"}
    hidden = {"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {}
    return ours | hidden | settings | {name: str(path) for name, path in folders.items()}


def run_step(
    command: Sequence[str],
    environment: Mapping[str, str],
    found: StepOutcome,
    seconds: float,
    folder: Path,
    write: Callable[[], None],
) -> None:
    """Run a step until it ends or its time is up, and record its outcome."""
    print(f"{found.name} (up to {seconds:.0f} s) …", flush=True)
    began, found.lines, found.errors = time.monotonic(), [], ""
    found.outcome, found.reason = "stopped", "the run ended here"
    found.time = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    with (folder / "errors").open("w+b") as errors:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": errors}
        process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True, **streams)
        try:
            for line in read_lines(process, began + seconds):
                add_value(line, found.lines)
                found.seconds = time.monotonic() - began
                write()
            code = end_process(process, began + seconds)
            errors.seek(0)
            found.errors = errors.read()[-4000:].decode("utf-8", "replace").strip()
            found.outcome, found.reason = judge_end(code, found.errors)
        finally:
            kill_group(process)
            found.seconds = time.monotonic() - began
            write()
    print(f"{found.name}: {found.outcome}{f': {found.reason}' if found.reason else ''} ({found.seconds:.0f} s)")


def add_value(line: bytes, lines: list[Any]) -> None:
    """Parse a line of output as JSON and append the value to `lines`. Ignore the line if it is not JSON."""
    try:
        value = json.loads(line)
    except ValueError:
        return
    if isinstance(value, str | dict):
        lines.append(value)


def read_lines(process: "subprocess.Popen[bytes]", until: float) -> Iterator[bytes]:
    """Yield the lines that a process prints, until it closes its output or exits, or until the time is up."""
    assert process.stdout is not None
    rest, descriptor = b"", process.stdout.fileno()
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while (left := until - time.monotonic()) > 0:
            ready = selector.select(min(left, 1.0))
            if not ready and process.poll() is not None:  # a process that it has started may keep the output open
                return
            if ready and not (read := os.read(descriptor, 2**16)):
                return
            if ready:
                *whole, rest = (rest + read).split(b"\n")
                yield from whole


def end_process(process: "subprocess.Popen[bytes]", until: float) -> int | None:
    """Wait for a process to end. Return its exit code, or None if the time is up."""
    try:
        return process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None


def judge_end(code: int | None, errors: str) -> tuple[str, str]:
    """Return the outcome of a step and the reason for it, based on the step's exit code and error output."""
    last = errors.splitlines()[-1] if errors else ""
    if code is None:
        return "timed out", TIMED_OUT
    if code not in ENDS:
        name = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return "crashed", f"{name}{f': {last}' if last else ''}"
    if code == 1 and last.startswith("ModuleNotFoundError"):
        return "lacking", last
    return ENDS[code], last if code else ""


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill a step and all processes that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):  # the process may be waiting for the driver in the kernel
        process.wait(KILL_SECONDS)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the report also says that the run was stopped
    sys.exit(main())
