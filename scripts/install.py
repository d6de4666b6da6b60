"""Install what a `make` target needs into `.venv`, in steps: `python3 scripts/install.py grade|test|check`.

Each step adds to the environment of the previous one. This file must also parse with old versions of Python, because it
is the first code that runs on a new machine, and reports if the Python is too old.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"  # builds of torch without gigabytes of CUDA libraries
MEGABYTE = 1_000_000
PROBE_SECONDS = 5.0
NOTICE_SECONDS = (1.0, 30.0)  # between two notices about the progress: on a terminal, and in a log

# For each step: extras of the project, dependency groups, what these are for, and the megabytes that they take.
STEPS = {
    "grade": (("grader",), ("students",), "the grader and torch", 1000),
    "test": (("grader",), ("students", "test"), "the packages that the tests use", 40),
    "check": (("grader", "slurm", "notebooks"), ("dev",), "types, style, documentation, browser and notebooks", 500),
}
REMEDIES = (  # patterns in the output of an installer, and what to tell the user
    (r"No space left|Disk quota", "the disk is full: free some space, and run the same command again"),
    (
        r"NewConnectionError|name resolution|ConnectTimeout|ProxyError|Connection refused|dns error|client error",
        "the package index cannot be reached: check the network connection, or set PIP_INDEX_URL to a mirror",
    ),
    (
        r"setuptools.scm|LookupError",
        "the version cannot be computed from git: set SETUPTOOLS_SCM_PRETEND_VERSION=0.1.0",
    ),
)


def main(step: str) -> None:
    """Install the packages of this step, or exit with code 2 and one line that says what to do."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    [oldest] = re.findall(r'^requires-python = ">=([0-9.]+)"', project, re.MULTILINE)
    if sys.version_info < tuple(map(int, oldest.split("."))):
        stop(f"Python {oldest} or newer is needed, and this is {sys.version.split()[0]}: make PYTHON=python{oldest} …")
    missing = sum(STEPS[name][3] for name in STEPS if has(step, name) and not (VENV / name).exists())
    free = shutil.disk_usage(ROOT).free
    if free < 2 * missing * MEGABYTE:
        stop(f"the disk is too full: {2 * missing} MB must be free in {ROOT}, and there are {free // MEGABYTE} MB")
    size = f"about {missing} MB, usually one to five minutes" if missing else "what has changed"
    print(f"installing {STEPS[step][2]} into .venv: {size}", flush=True)
    started = time.monotonic()
    uv = shutil.which("uv")
    make_environment(uv)
    install(step, uv)
    for name in STEPS:
        if has(step, name):
            (VENV / name).touch()
    total = sum(path.lstat().st_size for path in VENV.rglob("*")) // MEGABYTE
    print(f"installed in {time.monotonic() - started:.0f} s; .venv now has {total} MB", flush=True)


def has(step: str, other: str) -> bool:
    """Return whether a step includes another one."""
    return [*STEPS].index(other) <= [*STEPS].index(step)


def make_environment(uv: str | None) -> None:
    """Create `.venv` if there is none that works."""
    if PYTHON.exists() and subprocess.run([PYTHON, "-c", ""], capture_output=True).returncode == 0:
        return
    if uv:
        run("creating .venv", [uv, "venv", "--quiet", "--seed", "--clear", "--python", sys.executable, VENV])
        return
    try:
        import ensurepip  # noqa: F401
        import venv
    except ImportError:
        name = "python{}.{}-venv".format(*sys.version_info)
        stop(f"Python's module venv is not installed (Debian and Ubuntu: apt-get install {name})")
    venv.create(VENV, clear=True, with_pip=True, symlinks=True)


def install(step: str, uv: str | None) -> None:
    """Install torch for this machine first, and then everything else."""
    extras, groups, *_ = STEPS[step]
    requirements = [text for group in groups for text in read_group(group)]
    pip: list[str | Path] = [PYTHON, "-m", "pip", "install", "--quiet", "--retries", "1", "--disable-pip-version-check"]
    if uv:
        pinned = VENV / "locked.txt"
        everything = ["--all-extras", "--all-groups", "--no-hashes", "--no-emit-project"]
        run("reading uv.lock", [uv, "export", "--quiet", "--frozen", *everything, "--output-file", pinned])
        pip = [uv, "pip", "install", "--quiet", "--python", PYTHON]
    else:
        pinned = ROOT / "constraints.txt"
    if not has_torch() and sys.platform == "linux" and not has_nvidia_gpu() and is_reachable(CPU_INDEX):
        [version] = re.findall(r"^torch==\S+", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
        run("torch for CPUs", [*pip, "--no-deps", "--index-url", CPU_INDEX, version], required=False)
    project = "{}[{}]".format(ROOT, ",".join(extras))
    run("packages", [*pip, "--constraint", pinned, *requirements, "--editable", project])


def read_group(name: str) -> list[str]:
    """Return the requirements of a dependency group, including those of the groups that it includes."""
    import tomllib

    entries = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"][name]
    nested = [[one] if isinstance(one, str) else read_group(one["include-group"]) for one in entries]
    return [text for texts in nested for text in texts]


def has_torch() -> bool:
    return any(VENV.glob("lib/python*/site-packages/torch/__init__.py"))


def has_nvidia_gpu() -> bool:
    return shutil.which("nvidia-smi") is not None or Path("/proc/driver/nvidia").exists()


def is_reachable(address: str) -> bool:
    """Return whether an address answers within a few seconds."""
    try:
        with urllib.request.urlopen(address + "/torch/", timeout=PROBE_SECONDS):
            return True
    except OSError:
        return False


def run(title: str, command: Sequence[str | Path], *, required: bool = True) -> None:
    """Run a command, and show that it is still running. If it fails and is required, stop with its output."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([*map(str, command)], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        ended = threading.Event()
        notices = threading.Thread(target=show_progress, args=(title, ended))
        notices.start()
        try:
            code = process.wait()
        finally:
            ended.set()
            notices.join()
        output.seek(0)
        said = output.read().decode(errors="replace").strip()
    if code and required:
        for pattern, remedy in REMEDIES:
            if re.search(pattern, said):
                stop(remedy)
        print(said, file=sys.stderr)
        stop(f"{title}: the command failed with exit code {code}; its output is above")


def show_progress(title: str, ended: threading.Event) -> None:
    """Print the time and the space that was taken on the disk until the event is set."""
    started, free, is_terminal = time.monotonic(), shutil.disk_usage(ROOT).free, sys.stdout.isatty()
    start, end = ("\r", "") if is_terminal else ("", "\n")
    while not ended.wait(NOTICE_SECONDS[0 if is_terminal else 1]):
        taken = max(0, free - shutil.disk_usage(ROOT).free) // MEGABYTE
        print(f"{start}  {title}: {time.monotonic() - started:.0f} s, {taken} MB", end=end, flush=True)
    if is_terminal:
        print("\r" + 60 * " ", end="\r", flush=True)


def stop(reason: str) -> NoReturn:
    """Exit with a line on standard error."""
    print(f"error: {reason}", file=sys.stderr)
    raise SystemExit(2)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        stop("stopped; the same command continues")
    except OSError as error:
        stop(f"{error}")
