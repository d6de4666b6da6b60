"""`grader doctor`: what works on this machine, what does not, and the one command that mends it."""

import sys
from collections.abc import Iterator

from rich import box
from rich.table import Table
from rich.text import Text

from grader.base.terminal import create_console, print_json
from grader.commands.doctor import machine
from grader.commands.doctor.machine import Finding
from torchkata.course import course

SCHEMA = "torchkata/doctor/v1"
COLOURS = {"ok": "green", "missing": "red", "note": "yellow"}


def run_doctor(*, as_json: bool = False) -> int:
    """Look at everything, print the table; 0 where submissions can be graded in a sandbox, else 3."""
    findings = list(examine())
    out = create_console(stderr=as_json)
    table = Table("", "what", "found", "what mends it", box=box.SIMPLE_HEAD)
    for finding in findings:
        state = Text(finding.state, style=COLOURS[finding.state])
        table.add_row(state, finding.what, Text(finding.found), Text(finding.remedy))
    out.print(table)
    missing = [finding.what for finding in findings if finding.state == "missing"]
    if missing:
        out.print(f"Submissions can't be graded in a sandbox here; missing: {', '.join(missing)}.")
    else:
        out.print("Submissions can be graded in a sandbox here.")
    shut_in = any(finding.what == "sandbox" and finding.state == "ok" for finding in findings)
    out.print(machine.level(shut_in=shut_in), soft_wrap=True)
    code = 3 if missing else 0
    if as_json:
        print_json({"schema": SCHEMA, "exit_code": code, "sandbox": shut_in, "findings": findings})
    return code


def examine() -> Iterator[Finding]:
    """Everything that matters, what grading needs first."""
    yield machine.the_course()
    yield machine.python(sys.version_info[:3])
    packages = list(machine.packages())
    yield from packages
    yield machine.library("libseccomp", "seccomp", "apt-get install libseccomp2")
    if all(package.state == "ok" for package in packages):
        yield machine.sandbox()
    yield machine.user_namespaces()
    yield machine.shared_memory()
    yield machine.memory()
    yield machine.cores()
    yield machine.program("git", "apt-get install git")
    if "torch" in course().preload:
        yield machine.gpu()
    yield machine.slurm()
