"""The steps that need the project: python -m benchmarks.prove_gpu.steps NAME cuda|cpu UNTIL whole|quick

UNTIL is the value of `time.monotonic` at which the step is killed if it has not ended. The step prints lines in the
format of `torch_only.py`. The exit code is 0 if it succeeds, 1 if a claim does not hold, 3 if this machine lacks
something, and 4 if the claim holds for what was tried in time. In these cases, the error output ends with the reason.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Literal

import torch

from benchmarks.prove_gpu import clock, torch_only
from benchmarks.prove_gpu.place import Failed, Lacking, StepSettings, get_last_line
from benchmarks.prove_gpu.sandbox_trials import try_sandbox
from benchmarks.prove_gpu.torch_only import show
from grader.base.errors import MachineError
from grader.pipeline.proven_sandbox import prove
from grader.results.result import PerformanceResult
from grader.sandbox.launch import Sandbox, build_confinement, launch
from grader.sandbox.mounts import IsolationError
from grader.speed import timing_device
from grader.speed.smoke_test import run_smoke_test
from grader.speed.state import DeviceState, StateUnknown, describe_slowdown, read_state
from grader.speed.timed_submission import Row, SpeedJob, grade_speed
from grader.tests.support.cheats import find_gain, find_problems, is_inconclusive, load_slow, measure, name_defense
from torchkata.course import Workload, course
from torchkata.inside.speed.sizes import Kind
from torchkata.speed import decision
from torchkata.speed.bench import DEMANDS

RESERVED_SECONDS = 3.0  # part of a step's time that is reserved for its cleanup
REHEARSED_SECONDS = 0.01  # duration of a block on a CPU, so that every row can be tried
LOAD_SECONDS = 5.0  # seconds between two readings of the device's state
CLOCK_TOLERANCE: dict[Kind, float] = {"cuda": clock.AIM, "cpu": 0.9}  # relative tolerance; the CPU may be busy
LACKING = 3  # exit code if this machine lacks something
AS_STUDENTS = ("-m", "gpu", "--impl", "solution", "-p", "no:cacheprovider", "-p", "no:warnings")


@contextlib.contextmanager
def open_sandbox(place: StepSettings, *levels: Literal["bwrap", "none"]) -> Iterator[Sandbox]:
    """Open a sandbox for timed workers at the first of these levels that works. Raises Lacking if none works."""
    if place.gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = place.gpu.uuid  # also applies to this process
    with contextlib.ExitStack() as stack:
        for level in levels:
            try:
                limits, timing = timing_device.get_limits(), timing_device.plan_workers(place.gpu)
                sandbox = launch(level, limits, timing)
                stack.callback(sandbox.close)
                prove(sandbox, (), show)
            except IsolationError as error:
                show(f"isolation {level} does not work here: {error}")
                continue
            filtered = "with" if build_confinement(level, limits, timing).filter else "without"
            show(f"isolation: {level}, {filtered} the filter of system calls")
            yield sandbox
            return
        raise Lacking(f"isolation {' or '.join(levels)} does not work here")


def run_student_tests(place: StepSettings) -> None:
    """Run `pytest -m gpu` on the solution in this process."""
    import pytest

    from torchkata.pytest_plugin import gpu

    measured: list[str] = []

    class Reporter:
        rows: list[gpu.TimedWorkload]

        def pytest_sessionstart(self, session: pytest.Session) -> None:
            self.rows = session.config.stash[gpu.ROWS]

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if getattr(report, "speed", None) is None:
                return
            row = self.rows[-1]
            shown: dict[str, object] = {"workload": row.result.name, "outcome": row.verdict}
            if row.reading is not None:
                measured.append(row.result.name)
                thresholds, mfu = row.reading.thresholds, row.reading.mfu
                shown |= {"share": f"{row.reading.verdict.median:.3f}", "MFU": "" if mfu is None else f"{mfu:.3f}"}
                shown["thresholds"] = f"{thresholds.passing:.2f}, {thresholds.full:.2f}"
            show(shown | {"remark": row.shrunk or get_last_line(row.result.message)})

    pretended = [] if place.kind == "cuda" else ["-p", "grader.tests.support.fake_gpu"]
    chosen = ["--kata", place.workloads[0].uses[-1]] if place.quick else []
    if code := pytest.main([*AS_STUDENTS, *pretended, *chosen], plugins=[Reporter()]):
        raise Failed(f"pytest ended with exit code {int(code)}")
    if not measured:
        raise Lacking("pytest has measured no workload")


def time_solution(place: StepSettings, sandbox: Sandbox) -> None:
    """Time the solution. Raises Failed if it misses a threshold."""
    missed, results = [], grade_files(place, sandbox, course().solutions(), place.workloads)
    for found in place.take_in_time(results, len(place.workloads), "workloads"):
        show(make_row(found))
        accepted = ("passed",) if place.kind == "cuda" else ("passed", "inconclusive")  # the CPU may be busy
        missed += [] if found.outcome in accepted else [f"{found.workload}: {found.outcome}, {found.message}"]
    if missed:
        raise Failed("; ".join(missed))


def grade_files(
    place: StepSettings, sandbox: Sandbox, files: Mapping[str, bytes], timed: Sequence[Workload]
) -> Iterator[PerformanceResult]:
    """Grade the files on each workload and yield the results."""
    for message in grade_speed(SpeedJob("prove_gpu", files, (), tuple(timed)), place.kind, sandbox):
        if isinstance(message, Row):
            yield message.row


def make_row(found: PerformanceResult) -> dict[str, object]:
    """Return the table row of a result. Divide its rate and MFU by `share` to get those of the baseline."""
    rate = torch_only.round_figure(found.rate / 1e9) if found.rate else ""
    return {
        "workload": found.workload,
        "outcome": found.tier or found.outcome,
        "share": "" if found.ratio is None else f"{found.ratio:.3f}",
        "interval": "" if found.interval is None else f"{found.interval[0]:.3f} to {found.interval[1]:.3f}",
        "thresholds": "" if found.thresholds is None else f"{found.thresholds[0]:.2f}, {found.thresholds[1]:.2f}",
        "10⁹ units/s": f"{rate} {found.unit}" if rate else "",
        "MFU": "" if found.mfu is None else f"{found.mfu:.3f}",
        "baseline's MFU": "" if found.mfu is None or not found.ratio else f"{found.mfu / found.ratio:.3f}",
        "blocks": found.blocks,
        "s": round(found.seconds, 1),
        "remark": found.message.partition("\n")[0],
    }


def compare_clocks(place: StepSettings) -> None:
    """Time the same matmul with each clock in turn."""
    with open_sandbox(place, "bwrap", "none") as sandbox:
        count = 2 if place.quick else clock.TURNS
        turns: list[dict[str, float]] = []
        for turn in place.take_in_time(clock.measure_turns(place.kind, sandbox, count), count, "turns"):
            turns.append(turn)
            show({"turn": len(turns)} | {name: round(ratio, 3) for name, ratio in turn.items()})
    wrong = []
    for name in turns[0] if turns else ():
        found = [turn[name] for turn in turns]
        values = {"median": median(found), "minimum": min(found), "maximum": max(found)}
        show({"clock": name} | {key: round(value, 3) for key, value in values.items()} | {"turns": len(turns)})
        judged = place.kind == "cuda" or "processor" in name
        far = abs(values["median"] - 1) > CLOCK_TOLERANCE[place.kind]
        wrong += [f"{name}: {values['median']:.3f}"] if judged and far else []
    if wrong:
        raise Failed(f"the grader's rate relative to other clocks is not 1 ± {clock.AIM:g}: {', '.join(wrong)}")


def grade_path(place: StepSettings) -> None:
    """Time the solution and as many slow solutions as there is time for, in the strongest sandbox that works here.

    If the device can't be used in bubblewrap, time them without it, so that their speed is known all the same.
    """
    problems: list[str] = []
    with contextlib.ExitStack() as stack:
        sandbox = stack.enter_context(open_sandbox(place, "bwrap", "none"))
        if fault := run_smoke_test(place.kind, sandbox):
            problems.append(f"isolation {sandbox.isolation}: {fault}")
            sandbox = stack.enter_context(open_sandbox(place, "none"))
        try:
            time_solution(replace(place, until=(time.monotonic() + place.until) / 2), sandbox)
        except Failed as error:
            problems.append(str(error))
        measured = ((slow, measure(slow.make_files(), slow.workload, sandbox, place.kind)) for slow in place.slow)
        for slow, row in place.take_in_time(measured, len(place.slow), "slow solutions"):
            show({"submission": slow.title} | make_row(row))
            accepted = row.outcome in ("failed", "timed_out")  # on a GPU, a loop over rows takes minutes
            accepted |= row.outcome == "passed" and place.kind == "cpu"  # a rehearsal: the thresholds are those of GPUs
            problems += [] if accepted or is_inconclusive(row) else [f"{slow.title}: outcome {row.outcome}"]
    if problems:
        raise Failed("; ".join(problems))


def try_cheats(place: StepSettings) -> None:
    """Time as many cheats as there is time for, the most dangerous first."""
    problems: list[str] = []
    bases: dict[str, PerformanceResult] = {}  # by title of the slow solution, timed once, if a cheat earns points
    with open_sandbox(place, "bwrap", "none") as sandbox:
        for cheat in place.take_in_time(place.cheats, len(place.cheats), "cheats"):
            began, slow = time.monotonic(), load_slow()[cheat.slow]
            base = row = measure(slow.make_files(cheat.cheat), slow.workload, sandbox, place.kind)
            if row.tier:
                if slow.title not in bases:
                    bases[slow.title] = measure(slow.make_files(), slow.workload, sandbox, place.kind)
                    show({"submission": slow.title} | make_row(bases[slow.title]))
                base = bases[slow.title]
            stopped = "inconclusive" if is_inconclusive(base) else name_defense(row)
            shown = {"cheat": cheat.title, "stopped by": stopped, "points gained": find_gain(cheat, base, row)}
            show(shown | {"s": round(time.monotonic() - began, 1)})
            problems += [f"{cheat.title}: {problem}" for problem in find_problems(cheat, base, row)]
    if problems:
        raise Failed("; ".join(problems))


def load_device(place: StepSettings) -> None:
    """Multiply matrices until the time is up, and print the state of the device at regular intervals."""
    if place.kind != torch_only.KIND:
        raise Lacking("torch finds no CUDA device")
    states: list[DeviceState] = []
    unknown = ""
    while True:
        seconds = LOAD_SECONDS if place.kind == "cuda" and not place.quick else 0.5
        row: dict[str, object] = {"TFLOP/s": torch_only.warm_up(seconds)}
        try:
            states.append(state := read_state())
            row |= {"SM MHz": state.sm_mhz, "memory MHz": state.memory_mhz, "°C": state.celsius}
            row["slowed down, ms"] = {words: round(ns / 1e6) for words, ns in state.slowed_ns.items()}
        except StateUnknown as error:
            row["state"] = unknown = str(error)
        show(row)
        if place.quick or time.monotonic() + LOAD_SECONDS > place.until:
            break
    uuid = str(torch.cuda.get_device_properties(0).uuid) if place.kind == "cuda" else ""
    for name, value in torch_only.read_driver(uuid) if uuid else ():
        show({"after the load": name, "value": value})
    if not unknown and (slowdown := describe_slowdown(states[0], states[-1])):
        raise Failed(slowdown)


STEPS: dict[str, Callable[[StepSettings], None]] = {
    "student": run_student_tests,
    "clock": compare_clocks,
    "sandbox": try_sandbox,
    "graded": grade_path,
    "cheats": try_cheats,
    "steady": load_device,
}


def main(name: str, kind: Kind, until: str, quick: str) -> None:
    """Run one step. Only its values are printed to stdout; the output of other code is redirected to stderr."""
    torch_only.OUT = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    if kind == "cpu":
        decision.is_disturbed = lambda *_: False  # a rehearsal does not wait until the machine is quiet
        DEMANDS["cpu"] = replace(DEMANDS["cpu"], block_seconds=REHEARSED_SECONDS)
    place = StepSettings(kind, float(until) - RESERVED_SECONDS, quick == "quick")
    try:
        STEPS[name](place)
    except Lacking as error:
        print(error, file=sys.stderr)
        sys.exit(LACKING)
    except (Failed, MachineError) as error:
        sys.exit(get_last_line(str(error)))
    if place.unfinished:
        print("; ".join(place.unfinished), file=sys.stderr)
        sys.exit(torch_only.UNFINISHED)


if __name__ == "__main__":
    main(*sys.argv[1:])  # type: ignore[arg-type]
