"""`grader doctor`: checks what works on this machine, and prints a command to fix each problem."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.base.terminal import create_console, print_json
from grader.commands.doctor import machine
from grader.commands.doctor.machine import CheckResult
from torchkata.course import course

if TYPE_CHECKING:
    from grader.commands.doctor.device import DeviceSpeed
    from torchkata.inside.speed.sizes import Kind

SCHEMA = "torchkata/doctor/v1"
COLORS = {"ok": "green", "missing": "red", "note": "yellow"}


def run_doctor(device: "Kind | None" = None, *, as_json: bool = False) -> int:
    """Run all checks and print a table. Return 0 if submissions can be graded in a sandbox, else 3.

    If `device` is given, also measure it and compare it with its datasheet. Raises MachineError if that fails.
    """
    findings = list(examine())
    out = create_console(stderr=as_json)
    table = Table("", "check", "found", "fix", box=box.SIMPLE_HEAD)
    for finding in findings:
        state = Text(finding.state, style=COLORS[finding.state])
        table.add_row(state, finding.what, Text(finding.found), Text(finding.remedy))
    out.print(table)
    missing = [finding.what for finding in findings if finding.state == "missing"]
    states = [finding.state for finding in findings if finding.what == "sandbox"]  # empty if it could not be tried
    if missing and not states:
        again = "install what is missing, then run grader doctor again"
        out.print(f"Submissions can't be graded on this machine yet; {again}: {', '.join(missing)}.")
    elif missing:
        out.print(f"Submissions can't be graded in a sandbox on this machine; missing: {', '.join(missing)}.")
    else:
        out.print("Submissions can be graded in a sandbox on this machine.")
    sandboxed = states == ["ok"]
    out.print(machine.describe_isolation(sandboxed=sandboxed) if states else machine.UNKNOWN)
    code = 3 if missing else 0
    measured = {} if device is None else {"device": measure_speed(device, out)}
    if as_json:
        print_json({"schema": SCHEMA, "exit_code": code, "sandbox": sandboxed, "findings": findings, **measured})
    return code


def measure_speed(kind: "Kind", out: Console) -> "DeviceSpeed":
    """Measure a device, print a table and return the values. Raises MachineError if it can't be measured."""
    from grader.commands.doctor.device import measure_in_child, print_speed  # imports torch

    out.print("Measuring takes up to a minute. Run nothing else on this machine in the meantime.", style="dim")
    speed = measure_in_child(kind)
    print_speed(speed, out)
    return speed


def examine() -> Iterator[CheckResult]:
    """Yield the results of all checks, starting with the requirements for grading."""
    yield machine.check_course()
    yield machine.check_python(sys.version_info[:3])
    packages = list(machine.check_packages())
    yield from packages
    yield machine.check_library("libseccomp", "seccomp", "apt-get install libseccomp2")
    if all(package.state == "ok" for package in packages):
        yield machine.check_sandbox()
    yield machine.check_user_namespaces()
    yield machine.check_shared_memory()
    yield machine.check_memory()
    yield machine.check_cores()
    yield machine.check_program("git", "git", "apt-get install git")
    if "torch" in course().preload:
        yield machine.check_gpu()
    yield machine.check_program("Slurm", "sbatch")
