"""Starts the zygote, inside bubblewrap where that works, and finds out how well it is shut in before grading starts."""

import base64
import contextlib
import dataclasses
import importlib.util
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from grader.base.errors import MachineError
from grader.sandbox import forks, syscalls
from grader.sandbox.confine import DEVICES, Confinement, hide_memory
from torchkata.course import ENGINE, CourseError, Kata, Limits, course

Isolation: TypeAlias = Literal["auto", "bwrap", "none"]
START_SECONDS = 120.0  # importing torch from a cold network disk takes this long
GRADER_MIB = 600  # what a grader and its zygote take with torch loaded, beside the students' own
NEEDED = ("numpy", "msgspec")  # beside what the course imports ahead
FIRST_USER = 2_100_000_000  # nobody's: above SSSD's, below 2³¹; unused by containers (systemd, UIDs and GIDs)

RUNTIME = (  # all of the engine that a worker can see
    "torchkata/__init__.py",
    *(f"torchkata/seam/{name}.py" for name in ("__init__", "values", "assignment", "reply", "probes")),
    *(f"torchkata/compat/{name}.py" for name in ("__init__", "torch_internals")),
    *(f"torchkata/speed/{name}.py" for name in ("__init__", "datasheets", "freivalds", "layout")),
    *(f"torchkata/speed/{name}.py" for name in ("seeded", "sizes", "host_waits", "workload")),
    "grader/__init__.py",
    *(f"grader/sandbox/{name}.py" for name in ("__init__", "channel", "confine", "forks", "self_test")),
    *(f"grader/sandbox/{name}.py" for name in ("worker", "zygote", "timed_work", "requests", "accelerator", "cuda")),
)
PROBES = ("tests/__init__.py", "tests/probes")  # all of the course that any worker can see
WORKLOADS = "reference/workloads/*.py"  # what a worker that is timed can see besides
HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage"
NOT_OURS = (".git", ".venv", "__pycache__")
GPU_DEVICES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")  # beside the device's own file
FROM_USR = ("/usr", "/lib", "/lib64")  # which the sandbox has anyway


@dataclasses.dataclass(frozen=True)
class Gpu:
    """The one device that workers may use."""

    uuid: str  # `GPU-…`: CUDA and the driver number devices differently
    minor: int  # of its file /dev/nvidia<minor>


@dataclasses.dataclass(frozen=True)
class Timing:
    """What a worker has besides, when its speed is graded."""

    arena_bytes: int  # of memory that it shares with the grader
    core: int | None = None  # the only one it may run on
    gpu: Gpu | None = None


class IsolationError(Exception):
    """The isolation that was asked for can't be had here; the message says why."""


class Sandbox:
    """A running zygote. `clone()` gives a connection on which workers are started."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        control: socket.socket,
        runtime: Path,
        isolation: Isolation,
        gpu: Gpu | None = None,
    ) -> None:
        self.process = process
        self.gpu = gpu
        self.control = control
        self.runtime = runtime
        self.isolation = isolation
        self.violations: list[str] = []  # what its workers can do and should not, once that has been tried

    def wait_until_ready(self) -> None:
        """Raises IsolationError when the zygote does not come up, and CourseError where a probe is to blame."""
        self.control.settimeout(START_SECONDS)
        with contextlib.suppress(OSError):
            if self.control.recv(1) == b"h":
                return
        errors = self.close().decode("utf-8", "replace").strip()
        if "bwrap: Unknown option" in errors:
            errors += "; bubblewrap 0.5 or newer is needed"
        last = errors.splitlines()[-1] if errors else "the worker process did not start"
        if last.startswith("tests/probes/"):
            raise CourseError(f"{course().root}/{last}")
        raise IsolationError(last)

    def clone(self) -> socket.socket:
        """A connection to a zygote of its own. Raises IsolationError."""
        ours, theirs = socket.socketpair()
        with theirs:
            ours.settimeout(START_SECONDS)
            with contextlib.suppress(OSError):
                socket.send_fds(self.control, [b"C"], [theirs.fileno()])
                if ours.recv(1) == b"c":
                    return ours
        ours.close()
        raise IsolationError("the process that starts workers is gone")

    def close(self) -> bytes:
        """End the zygote and all workers; what it has said, the first time."""
        assert self.process.stderr is not None
        if self.process.stderr.closed:
            return b""
        self.control.close()
        if self.isolation == "bwrap":
            os.killpg(self.process.pid, signal.SIGKILL)  # bubblewrap alone, just begun, would leave its child waiting
        else:
            self.process.kill()  # the zygotes that it has made hear that the line is closed, and end their workers
        _, said = self.process.communicate()
        shutil.rmtree(self.runtime, ignore_errors=True)
        return said


def launch(
    isolation: Literal["bwrap", "none"],
    limits: Limits,
    timing: Timing = Timing(arena_bytes=0),
    katas: Iterable[Kata] = (),
) -> Sandbox:
    """Start a zygote, which imports what these katas preload; it goes on doing so when this returns.

    Raises IsolationError without bubblewrap.
    """
    if isolation == "bwrap" and shutil.which("bwrap") is None:
        raise IsolationError("bubblewrap is not installed (Debian: apt-get install bubblewrap)")
    hide_memory()
    confinement = confine(isolation, limits, timing)
    runtime = copy_runtime(timed=timing.arena_bytes > 0)
    ours, theirs = socket.socketpair()
    config = {
        "runtime": "/runtime" if isolation == "bwrap" else str(runtime),
        "sites": sites_inside() if isolation == "bwrap" else [str(site) for site in sites()],
        "control": theirs.fileno(),
        "preload": [*dict.fromkeys(chain(course().preload, *(kata.preload for kata in katas)))],
        "probes": [path.stem for path in sorted((course().tests / "probes").glob("*.py")) if path.stem != "__init__"],
        "confinement": dataclasses.asdict(confinement),
        "first_user": FIRST_USER + os.getpid() % 60_000 * 64,
        "arena_bytes": timing.arena_bytes,
    }
    command = [python(), "-s", "-P", "-S", "-B", f"{config['runtime']}/grader/sandbox/zygote.py", json.dumps(config)]
    if isolation == "bwrap":
        command = [*bubblewrap(runtime, timing.gpu), *command]
    with theirs:
        try:
            process = subprocess.Popen(
                command,
                env=environment(timing.gpu),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            shutil.rmtree(runtime, ignore_errors=True)
            raise IsolationError(f"{command[0]}: {error.strerror}") from None
    return Sandbox(process, ours, runtime, isolation, timing.gpu)


def confine(isolation: Literal["bwrap", "none"], limits: Limits, timing: Timing) -> Confinement:
    """How far workers are shut in. Raises IsolationError where a filter of system calls is needed and can't be had."""
    try:
        program = syscalls.program(pinned=timing.core is not None, gpu=timing.gpu is not None)
    except syscalls.FilterError as error:
        if isolation == "bwrap":
            raise IsolationError(str(error)) from None
        program = b""
    root = os.getuid() == 0
    return Confinement(
        namespaces=isolation == "bwrap",
        change_user=root,
        keep_reading=root and isolation == "none" and not all(map(public, [Path(python()), *sites()])),
        memory_mib=limits.memory_mib,
        cpu_seconds=int(2 * limits.kata_seconds) + 1,
        filter=base64.b64encode(program).decode(),
        own_pid=syscalls.OWN_PID,
        core=timing.core,
        gpu=timing.gpu is not None,
    )


def connect(sandbox: Sandbox) -> socket.socket:
    """A connection to a zygote of its own. Raises MachineError: what began in a sandbox does not go on in a lesser."""
    try:
        return sandbox.clone()
    except IsolationError as error:
        raise MachineError(f"the sandbox has broken down: {error}") from None


def demand_forkable() -> None:
    """Before this process forks another one that may use a GPU. Raises MachineError."""
    try:
        forks.demand_no_driver()
    except forks.ForkError as error:
        raise MachineError(str(error)) from None


def hidden_files() -> list[str]:
    """Every file of the course, where it lies: none of them is for a worker."""
    found: list[str] = []
    for folder, folders, files in os.walk(course().root):
        folders[:] = [name for name in folders if name not in NOT_OURS]
        found += [path for name in files if name not in NOT_OURS and Path(path := f"{folder}/{name}").is_file()]
    return found


def copy_runtime(*, timed: bool) -> Path:
    """A directory that holds what a worker needs of this project and nothing else."""
    runtime = Path(tempfile.mkdtemp(prefix="torchkata-runtime-"))
    runtime.chmod(0o755)
    workloads = [path.relative_to(course().root).as_posix() for path in course().root.glob(WORKLOADS) if timed]
    for root, names in ((ENGINE, RUNTIME), (course().root, (*PROBES, *workloads))):
        for name in names:
            source, target = root / name, runtime / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            elif source.is_file():
                shutil.copyfile(source, target)
    if workloads:
        (runtime / "reference" / "__init__.py").touch()
    return runtime


def python() -> str:
    """The interpreter itself, not a virtual environment's link to it."""
    return os.path.realpath(sys.executable)


def sites() -> list[Path]:
    """The directories that hold the packages which students and workers import."""
    specs = [importlib.util.find_spec(name) for name in (*NEEDED, *course().preload)]
    return list(dict.fromkeys(Path(spec.origin).parent.parent for spec in specs if spec and spec.origin))


def sites_inside() -> list[str]:
    """Where the sandbox has them: away from /tmp, which every worker has for itself."""
    return [f"/sites/{i}" for i in range(len(sites()))]


def public(path: Path) -> bool:
    """Whether every user can reach it."""
    return all(parent.stat().st_mode & 0o005 == 0o005 for parent in [path, *path.parents])


def environment(gpu: Gpu | None) -> dict[str, str]:
    """All that a worker learns of the environment: of the machine's GPUs one, or none."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    in_huge_pages = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}  # they fork faster
    always_the_same = {"PYTHONHASHSEED": "0"}  # the order of a student's sets is not to be a matter of luck
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    fixed = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
    devices = {"CUDA_VISIBLE_DEVICES": gpu.uuid if gpu else "", "CUDA_CACHE_DISABLE": "1"}
    return fixed | threads | in_huge_pages | always_the_same | devices | kept


def driver_folders() -> list[Path]:
    """Where the CUDA driver's libraries lie, if that is not in /usr: a container may keep them elsewhere."""
    look = "import ctypes; ctypes.CDLL('libcuda.so.1'); print(open('/proc/self/maps').read())"
    done = subprocess.run([sys.executable, "-I", "-c", look], capture_output=True, text=True, check=False)
    found = (line.split()[-1] for line in done.stdout.splitlines() if forks.DRIVER in line)
    folders = dict.fromkeys(Path(path).parent for path in found)
    return [folder for folder in folders if not any(folder.is_relative_to(name) for name in FROM_USR)]


def demand_own_folders(folders: Sequence[Path]) -> None:
    """Raise IsolationError where Python or a package lies right in `/` or in a home: workers would see all of it."""
    homes = {Path("/"), Path.home(), *(Path(user.pw_dir) for user in pwd.getpwall())}
    for folder in homes.intersection(folders):
        if not folder.is_relative_to("/usr"):
            raise IsolationError(f"Python, or a package, lies right in {folder}, which workers would see with it")


def in_public(folder: Path) -> list[str]:
    """Options that put a folder where every worker can reach it: what bubblewrap itself makes is root's alone."""
    above = (option for parent in reversed(folder.parents[:-1]) for option in ("--perms", "0755", "--dir", str(parent)))
    return [*above, "--ro-bind", str(folder), str(folder)]


def bubblewrap(runtime: Path, gpu: Gpu | None) -> list[str]:
    """The sandbox around the zygote: no network, no other process, and of the file system what Python needs, read-only.

    Started by an ordinary user it is root in a user namespace of its own, which lets the zygote give each worker
    namespaces and lets the worker give up that power; started by root, the worker becomes another user. To be a user of
    its own there, a worker needs CAP_SETFCAP when it takes the namespace: Linux asks that since 5.12.
    """
    command = [
        shutil.which("bwrap") or "bwrap",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]
    command += ["--die-with-parent", "--as-pid-1", "--hostname", "worker"]
    if os.getuid() != 0:
        command += ["--unshare-user", "--uid", "0", "--gid", "0"]
        command += ["--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETFCAP"]
    command += ["--proc", "/proc", "--tmpfs", "/dev", "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr"]
    for name in DEVICES:
        command += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    if gpu is not None:
        for device in (f"/dev/nvidia{gpu.minor}", *GPU_DEVICES):
            command += ["--dev-bind-try", device, device]
        command += ["--dir", "/dev/shm", "--ro-bind-try", "/sys", "/sys"]
        for folder in driver_folders():
            command += in_public(folder)
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        path = Path(name)
        if path.is_symlink():
            command += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            command += ["--ro-bind", name, name]
    for name in ("/etc/ld.so.cache", "/etc/alternatives", HUGE_PAGES):
        command += ["--ro-bind-try", name, name]
    prefix = Path(python()).parent.parent
    if prefix.is_relative_to("/tmp"):
        raise IsolationError("Python itself lies in /tmp, which every worker has for itself")
    demand_own_folders([prefix, *sites()])
    if not prefix.is_relative_to("/usr"):
        command += in_public(prefix)
    command += ["--perms", "0755", "--dir", "/sites"]
    for site, inside in zip(sites(), sites_inside(), strict=True):
        command += ["--ro-bind", str(site), inside]
    command += ["--ro-bind", str(runtime), "/runtime", "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*command, "--chdir", "/", "--"]
