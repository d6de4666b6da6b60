"""The commands that check the machine and the course: `doctor`, `certify`."""

from dataclasses import replace
from typing import Annotated, Literal

from grader.base.main import Command
from grader.options import AsJson, CertifyOptions, Option
from grader.pipeline.machine import count_jobs
from grader.pipeline.selection import select_names


def doctor(
    device: Annotated[
        Literal["cpu", "cuda"] | None,
        Option("Also measure this device's memory bandwidth and matmul speed, and compare its datasheet."),
    ] = None,
    as_json: AsJson = False,
) -> Command:
    """Check whether this machine can grade, and show how to install or fix what is missing.

    The exit code is 0 if submissions can be graded in a sandbox, otherwise 3.
    """
    from grader.commands.doctor import run_doctor

    return lambda: run_doctor(device, as_json=as_json)


def certify(options: CertifyOptions) -> Command:
    """Prove that the course grades correctly.

    files: every kata has all required files and texts.

    zoo: stubs are reported as not started, the solution passes, correct variants are accepted, and wrong variants fail.
    For each wrong variant that is missing from caught_by.toml, certify searches for the test that catches it, and adds
    it.

    The proofs of the zoo are stored, and are repeated only if their content, versions or options change.
    """
    settled = replace(options, katas=select_names(options.katas), jobs=options.jobs or count_jobs())
    from grader.commands.certify import run_certify

    return lambda: run_certify(settled)
