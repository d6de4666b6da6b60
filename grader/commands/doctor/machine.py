"""The parts of a machine that grading needs or can use, each looked at for real."""

import ctypes.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from itertools import repeat
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement

from grader.base import distribution
from grader.sandbox.launch import GRADER_MIB
from torchkata.course import CourseError, course, use_none

SYS_ADMIN = 21  # the number of the capability
IN_CONTAINER = "--user 1000 --security-opt seccomp=unconfined"
OPEN = "what a worker says of its own objects, and signals between two submissions that are graded at once"


@dataclass(frozen=True)
class Finding:
    """One part: `missing` keeps submissions from being graded in a sandbox, a `note` does not."""

    what: str
    state: Literal["ok", "missing", "note"]
    found: str
    remedy: str = ""


def python(version: tuple[int, ...]) -> Finding:
    """Whether this Python is one that the project runs on."""
    found, needed = ".".join(map(str, version)), distribution.get_python_versions()
    if needed.contains(found):
        return Finding("Python", "ok", found)
    return Finding("Python", "missing", f"{found}, not {needed}", "install a newer Python, and a new venv with it")


def packages() -> Iterator[Finding]:
    """What the grader imports, and what the code of the course's students does."""
    yield from map(package, map(Requirement, course().dependencies), repeat("pip install --group students"))
    yield from map(package, map(Requirement, distribution.requirements("grader")), repeat('pip install -e ".[grader]"'))


def package(requirement: Requirement, remedy: str) -> Finding:
    """Whether it is installed, and new enough."""
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return Finding(requirement.name, "missing", "not installed", remedy)
    if requirement.specifier.contains(version, prereleases=True):
        return Finding(requirement.name, "ok", version)
    return Finding(requirement.name, "missing", f"{version}, not {requirement.specifier}", remedy)


def the_course() -> Finding:
    """Which course is the nearest; none leaves what any course needs to be looked at."""
    try:
        return Finding("course", "ok", f"{course().title}: {len(course().katas)} katas in {course().root}")
    except CourseError as error:
        use_none()
        return Finding("course", "note", str(error), "grader new course DIR")


def sandbox() -> Finding:
    """Start a sandbox as grading does, and let a worker try to open what it must not see."""
    from grader.pipeline.setup import prove
    from grader.sandbox.launch import IsolationError, launch

    if shutil.which("bwrap") is None:
        return Finding("sandbox", "missing", "bubblewrap is not installed", "apt-get install bubblewrap")
    began = time.monotonic()
    try:
        started = launch("bwrap", course().limits)
        try:
            prove(started, private=(), warn=lambda text: print(text, file=sys.stderr))
        finally:
            started.close()
    except (IsolationError, OSError) as error:
        return Finding("sandbox", "missing", str(error), remedy_for_namespaces() or remedy_in_container())
    return Finding("sandbox", "ok", f"works, hides what it must; up in {time.monotonic() - began:.1f} s")


def level(*, shut_in: bool) -> str:
    """How far students' code is shut in on this machine, and what that leaves open (SECURITY.md), in one line."""
    if not shut_in:
        return f"Level: none. Left open: files outside can be read, some written, and other processes seen; {OPEN}."
    how = "as root, each submission as a user of its own" if os.getuid() == 0 else "as an ordinary user"
    return f"Level: bwrap, {how}. Left open: {OPEN}."


def user_namespaces() -> Finding:
    """Whether an ordinary user may make the namespaces that a sandbox consists of."""
    if os.getuid() == 0:
        if may_administer():
            return Finding("user namespaces", "ok", "not needed: you are root")
        return Finding("user namespaces", "note", "you are root without the right to make them", remedy_in_container())
    remedy = remedy_for_namespaces()
    if remedy:
        return Finding("user namespaces", "note", "switched off for ordinary users", remedy)
    return Finding("user namespaces", "ok", "allowed")


def remedy_for_namespaces() -> str:
    """The command that lets an ordinary user make namespaces, where one is known to be needed."""
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
    """Whether this process has CAP_SYS_ADMIN, which root of a container mostly lacks."""
    if not status.exists():
        return True
    held = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("CapEff:"))
    return bool(int(held, 16) >> SYS_ADMIN & 1)


def remedy_in_container(root: Path = Path("/")) -> str:
    """How a container has to be started for a sandbox to work in it; nothing outside of one."""
    if (root / "run/.containerenv").exists():
        return f"podman run {IN_CONTAINER} --security-opt unmask=ALL …"
    if (root / ".dockerenv").exists():
        return f"docker run {IN_CONTAINER} --security-opt systempaths=unconfined --security-opt apparmor=unconfined …"
    return ""


def shared_memory() -> Finding:
    """Whether large tensors can be handed over in memory."""
    try:
        os.close(os.memfd_create("doctor"))
    except (OSError, AttributeError) as error:
        return Finding("shared memory", "note", f"no memfd here ({error})", "a Linux kernel of 3.17 or newer")
    return Finding("shared memory", "ok", "memfd")


def memory(root: Path = Path("/")) -> Finding:
    """How many submissions fit at a time, in this machine or in the container's share of it."""
    each, meminfo, share = course().limits.memory_mib, root / "proc/meminfo", root / "sys/fs/cgroup"
    if not meminfo.exists():
        return Finding("memory", "note", "unknown")
    lines = (line.split() for line in meminfo.read_text().splitlines())
    free = next(int(line[1]) for line in lines if line[0] == "MemAvailable:") // 1024
    if (share / "memory.max").exists() and (most := (share / "memory.max").read_text().strip()) != "max":
        free = min(free, (int(most) - int((share / "memory.current").read_text())) // 2**20)
    jobs = max(0, (free - GRADER_MIB) // each)
    found = f"{free} MiB free, enough for --jobs {jobs} with students' code at its limit of {each} MiB"
    if jobs == 0:
        return Finding("memory", "note", found, f"free {GRADER_MIB + each - free} MiB more")
    return Finding("memory", "ok", found)


def cores() -> Finding:
    """How many submissions are worth grading at a time."""
    count = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return Finding("cores", "ok", f"{count}: grade with --jobs {count}")


def library(what: str, name: str, remedy: str) -> Finding:
    """A shared library of the system."""
    found = ctypes.util.find_library(name)
    return Finding(what, "ok", found) if found else Finding(what, "missing", "not installed", remedy)


def program(name: str, remedy: str) -> Finding:
    """A program that can say its version."""
    said = said_by(name, "--version")
    return Finding(name, "ok", said) if said else Finding(name, "note", "not installed", remedy)


def gpu() -> Finding:
    """A GPU, as its driver and as torch see it."""
    said = said_by("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader")
    if not said:
        return Finding("GPU", "note", "none; the katas need none")
    from grader.speed.gpu import choose_gpu  # which imports torch

    reason = choose_gpu()
    if isinstance(reason, str):
        return Finding("GPU", "note", f"{said}, but speed can't be graded on it: {reason}")
    return Finding("GPU", "ok", said)


def slurm() -> Finding:
    """Slurm's command for batch jobs."""
    said = said_by("sbatch", "--version")
    return Finding("Slurm", "ok", said) if said else Finding("Slurm", "note", "none; grading needs none")


def said_by(*command: str) -> str:
    """The first line that a program prints; nothing where it is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.partition("\n")[0] if done.returncode == 0 else ""
