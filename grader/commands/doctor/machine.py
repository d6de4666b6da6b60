"""The checks performed by `grader doctor`, for software, memory and devices that are needed or useful for grading."""

import ctypes.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement

from grader.base import distribution
from grader.base.text import count
from grader.pipeline.machine import count_cores, count_jobs, count_jobs_in_memory, measure_free_mib
from grader.sandbox.launch import GRADER_MIB
from torchkata.course import CourseError, course, use_none

SYS_ADMIN = 21  # the number of the bit for CAP_SYS_ADMIN
IN_CONTAINER = "--user 1000 --security-opt seccomp=unconfined"
OPEN = "a worker's false reports about its own objects, and signals between two submissions graded at the same time"

UNKNOWN = "Isolation: not checked, because the sandbox needs the missing packages."


@dataclass(frozen=True)
class CheckResult:
    """The result of a check. "missing" means that grading in a sandbox is not possible; "note" is only a suggestion."""

    what: str
    state: Literal["ok", "missing", "note"]
    found: str
    remedy: str = ""


def check_python(version: tuple[int, ...]) -> CheckResult:
    """Check the version of Python."""
    found, needed = ".".join(map(str, version)), distribution.get_python_versions()
    if needed.contains(found):
        return CheckResult("Python", "ok", found)
    return CheckResult("Python", "missing", f"{found}, needs {needed}", "install a newer Python and create a new venv")


def check_packages() -> Iterator[CheckResult]:
    """Check the packages that the grader and the course require. Those that workers do not preload are only noted."""
    for package in map(Requirement, course().dependencies):
        found = check_package(package, "pip install --group students")
        is_needed = found.state == "ok" or package.name in course().preload
        yield found if is_needed else replace(found, state="note")
    for requirement in distribution.requirements("grader"):
        yield check_package(Requirement(requirement), 'pip install -e ".[grader]"')


def check_package(requirement: Requirement, remedy: str) -> CheckResult:
    """Check whether a suitable version of a package is installed."""
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return CheckResult(requirement.name, "missing", "not installed", remedy)
    if requirement.specifier.contains(version, prereleases=True):
        return CheckResult(requirement.name, "ok", version)
    return CheckResult(requirement.name, "missing", f"{version}, needs {requirement.specifier}", remedy)


def check_course() -> CheckResult:
    """Check whether there is a course. Without one, only the checks that do not need a course are performed."""
    try:
        return CheckResult("course", "ok", f"{course().title}: {count(len(course().katas), 'kata')} in {course().root}")
    except CourseError as error:
        use_none()
        return CheckResult("course", "note", str(error), "grader new course DIR")


def check_sandbox() -> CheckResult:
    """Start a sandbox in the same way as for grading, and check that a worker cannot open protected files."""
    from grader.pipeline.proven_sandbox import prove
    from grader.sandbox.launch import launch
    from grader.sandbox.mounts import IsolationError

    if shutil.which("bwrap") is None:
        return CheckResult("sandbox", "missing", "bubblewrap is not installed", "apt-get install bubblewrap")
    began = time.monotonic()
    try:
        started = launch("bwrap", course().limits)
        try:
            prove(started, private=(), warn=lambda text: print(text, file=sys.stderr))
        finally:
            started.close()
    except (IsolationError, OSError) as error:
        return CheckResult("sandbox", "missing", str(error), remedy_for_namespaces() or remedy_in_container())
    return CheckResult("sandbox", "ok", f"works and hides protected files; started in {time.monotonic() - began:.1f} s")


def describe_isolation(*, sandboxed: bool) -> str:
    """Return a line that describes the isolation of student code and its gaps, if there are any (see SECURITY.md)."""
    if not sandboxed:
        gaps = "reading files outside the submission, writing some of them, and seeing other processes"
        return f"Isolation: none. Not prevented: {gaps}; {OPEN}."
    user = "as root, with a separate user for each submission" if os.getuid() == 0 else "as an ordinary user"
    return f"Isolation: bwrap, {user}. Not prevented: {OPEN}."


def check_user_namespaces() -> CheckResult:
    """Check whether this user is allowed to create the namespaces that a sandbox needs."""
    if os.getuid() == 0:
        if may_administer():
            return CheckResult("user namespaces", "ok", "not needed: you are root")
        return CheckResult(
            "user namespaces", "note", "you are root, but you may not create namespaces", remedy_in_container()
        )
    remedy = remedy_for_namespaces()
    if remedy:
        return CheckResult("user namespaces", "note", "disabled for ordinary users", remedy)
    return CheckResult("user namespaces", "ok", "allowed")


def remedy_for_namespaces() -> str:
    """Return the command that allows unprivileged users to create namespaces, or "" if none seems to be needed."""
    for name, good in (
        ("kernel.unprivileged_userns_clone", "1"),
        ("kernel.apparmor_restrict_unprivileged_userns", "0"),
    ):
        switch = Path("/proc/sys", *name.split("."))
        if os.getuid() != 0 and switch.exists() and switch.read_text().strip() != good:
            return f"sysctl {name}={good}"
    most = Path("/proc/sys/user/max_user_namespaces")
    if os.getuid() != 0 and most.exists() and most.read_text().strip() == "0":
        return "sysctl user.max_user_namespaces=10000"
    return ""


def may_administer(status: Path = Path("/proc/self/status")) -> bool:
    """Return whether this process has CAP_SYS_ADMIN. In a container, even root usually does not have it."""
    if not status.exists():
        return True
    held = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("CapEff:"))
    return bool(int(held, 16) >> SYS_ADMIN & 1)


def remedy_in_container(root: Path = Path("/")) -> str:
    """Return how to start a container in which a sandbox works, or "" outside of a container."""
    if (root / "run/.containerenv").exists():
        return f"podman run {IN_CONTAINER} --security-opt unmask=ALL …"
    if (root / ".dockerenv").exists():
        return f"docker run {IN_CONTAINER} --security-opt systempaths=unconfined --security-opt apparmor=unconfined …"
    return ""


def check_shared_memory() -> CheckResult:
    """Check whether large tensors can be passed through shared memory."""
    try:
        os.close(os.memfd_create("doctor"))
    except (OSError, AttributeError) as error:
        return CheckResult("shared memory", "note", f"no memfd ({error})", "use Linux 3.17 or newer")
    return CheckResult("shared memory", "ok", "memfd")


def check_memory(root: Path = Path("/")) -> CheckResult:
    """Compute how many submissions can be graded at the same time in the memory of this machine or container."""
    each, free = course().limits.memory_mib, measure_free_mib(root)
    if free is None:
        return CheckResult("memory", "note", "unknown")
    jobs = count_jobs_in_memory(free)
    found = f"{free} MiB free, enough for --jobs {jobs} at a limit of {each} MiB per submission"
    if jobs == 0:
        return CheckResult("memory", "note", found, f"free {GRADER_MIB + each - free} MiB more")
    return CheckResult("memory", "ok", found)


def check_cores() -> CheckResult:
    """Count the cores that are available to this process."""
    return CheckResult("cores", "ok", f"{count_cores()}; grade with --jobs {count_jobs()}")


def check_library(what: str, name: str, remedy: str) -> CheckResult:
    """Check whether a shared library is installed."""
    found = ctypes.util.find_library(name)
    return CheckResult(what, "ok", found) if found else CheckResult(what, "missing", "not installed", remedy)


def check_program(what: str, command: str, remedy: str = "") -> CheckResult:
    """Check whether an optional program is installed and can print its version."""
    version = first_line_of(command, "--version")
    if not version:
        return CheckResult(what, "note", "not installed (optional)", remedy)
    return CheckResult(what, "ok", version)


def check_gpu() -> CheckResult:
    """Check for a GPU that the driver and torch can use."""
    device = first_line_of("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader")
    if not device:
        return CheckResult("GPU", "note", "none; katas do not need one")
    from grader.speed.gpu import choose_gpu  # imports torch

    reason = choose_gpu()
    if isinstance(reason, str):
        return CheckResult("GPU", "note", f"{device}, but speed can't be graded on it: {reason}")
    return CheckResult("GPU", "ok", device)


def first_line_of(*command: str) -> str:
    """Return the first line that a program prints, or "" if the program is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.partition("\n")[0] if done.returncode == 0 else ""
