"""Starts the zygote, in bubblewrap if possible, and ends it."""

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
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from grader.base.errors import MachineError
from grader.sandbox import syscalls
from grader.sandbox.inside import forks
from grader.sandbox.inside.confine import DEVICES, Confinement, hide_memory
from torchkata.course import ARCHIVES, ENGINE, CourseError, Kata, Limits, course

Isolation: TypeAlias = Literal["auto", "bwrap", "none"]
START_SECONDS = 120.0  # importing torch from an uncached network drive can take this long
GRADER_MIB = 600  # memory of a grader and its zygote with torch loaded, excluding the workers
NEEDED = ("numpy", "msgspec")  # packages that workers need in addition to those that the course preloads

RUNTIME = (  # what workers see of the engine: two whole folders, and the names in the packages around them
    "torchkata/inside",
    "grader/sandbox/inside",
    *(f"{package}/__init__.py" for package in ("torchkata", "torchkata/speed", "grader", "grader/sandbox")),
)
PROBES = ("tests/__init__.py", "tests/probes")  # course files that are visible to all workers
WORKLOADS = "reference/workloads/*.py"  # additional files for timed workers
HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage"  # glibc reads two of its files; others count all processes' pages
UNLISTED = (".git", ".venv", "__pycache__")
GPU_DEVICES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")  # in addition to the GPU's own file
LIBRARY_PATH = "LD_LIBRARY_PATH"
LIST_LIBRARIES = """
import ctypes, importlib, json, sys
sites, names = json.loads(sys.argv[1])
sys.path += sites
for name in names:
    try:
        ctypes.CDLL(name) if ".so" in name else importlib.import_module(name)
    except (ImportError, OSError):
        pass
print(open("/proc/self/maps").read())
"""
SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64")  # folders that are always available in the sandbox


@dataclasses.dataclass(frozen=True)
class Gpu:
    """The only GPU that workers may use."""

    uuid: str  # `GPU-…`; a number would be ambiguous, because CUDA and the driver number devices differently
    minor: int  # the number in the device's file name, /dev/nvidia<minor>
    cores: frozenset[int] = dataclasses.field(default=frozenset(), compare=False)  # near the device; empty for any


@dataclasses.dataclass(frozen=True)
class Timing:
    """Additional resources for the workers of speed tests."""

    arena_bytes: int  # size of the memory shared by a worker and the grader
    core: int | None = None  # the only core on which the worker may run
    gpu: Gpu | None = None


class IsolationError(Exception):
    """Raised if the requested isolation is not available. The message gives the reason."""


@dataclasses.dataclass
class Sandbox:
    """A running zygote. `clone()` returns a connection that can be used to start workers."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    runtime: Path
    isolation: Isolation
    gpu: Gpu | None = None
    violations: list[str] = dataclasses.field(default_factory=list)  # findings of the self-test (`prove` in setup.py)

    def wait_until_ready(self) -> None:
        """Wait for the zygote. Raises IsolationError if it can't start, or CourseError if a probe can't be imported."""
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
        """Fork a zygote and return a connection to it. Raises IsolationError if the original zygote has exited."""
        ours, theirs = socket.socketpair()
        with theirs:
            ours.settimeout(START_SECONDS)
            with contextlib.suppress(OSError):
                socket.send_fds(self.control, [b"C"], [theirs.fileno()])
                if ours.recv(1) == b"c":
                    return ours
        ours.close()
        raise IsolationError("the process that starts workers has ended")

    def close(self) -> bytes:
        """End the zygote and all workers. The first call returns the error output of the zygote."""
        assert self.process.stderr is not None
        if self.process.stderr.closed:
            return b""
        self.control.close()
        if self.isolation == "bwrap":
            os.killpg(self.process.pid, signal.SIGKILL)  # a child of a bubblewrap that is still starting would survive
        else:
            self.process.kill()  # forked zygotes notice the closed connection and end their workers
        _, errors = self.process.communicate()
        shutil.rmtree(self.runtime, ignore_errors=True)
        return errors


def launch(
    isolation: Literal["bwrap", "none"],
    limits: Limits,
    timing: Timing = Timing(arena_bytes=0),
    katas: Iterable[Kata] = (),
) -> Sandbox:
    """Start a zygote, and return without waiting until it has imported the modules that these katas preload.

    Raises IsolationError if bubblewrap is missing.
    """
    if isolation == "bwrap" and shutil.which("bwrap") is None:
        raise IsolationError("bubblewrap is not installed (Debian: apt-get install bubblewrap)")
    hide_memory()
    confinement = build_confinement(isolation, limits, timing)
    runtime = copy_runtime(timed=timing.arena_bytes > 0)
    ours, theirs = socket.socketpair()
    config = {
        "runtime": "/runtime" if isolation == "bwrap" else str(runtime),
        "sites": list_sandbox_sites() if isolation == "bwrap" else [str(site) for site in find_sites()],
        "control": theirs.fileno(),
        "preload": [*dict.fromkeys(chain(course().preload, *(kata.preload for kata in katas)))],
        "probes": [path.stem for path in sorted((course().tests / "probes").glob("*.py")) if path.stem != "__init__"],
        "confinement": dataclasses.asdict(confinement),
        "arena_bytes": timing.arena_bytes,
    }
    command = [
        find_interpreter(),
        "-s",
        "-P",
        "-S",
        "-B",
        f"{config['runtime']}/grader/sandbox/inside/zygote.py",
        json.dumps(config),
    ]
    if isolation == "bwrap":
        command = [*build_bwrap_command(runtime, timing.gpu), *command]
    with theirs:
        try:
            with use_cores(timing.gpu.cores if timing.gpu else frozenset()):
                process = subprocess.Popen(
                    command,
                    env=build_environment(timing.gpu),
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


@contextlib.contextmanager
def use_cores(cores: frozenset[int]) -> Iterator[None]:
    """Let the processes that are started within this context run only on these cores. If there are none, do nothing."""
    before = os.sched_getaffinity(0) if cores else set()
    if cores:
        os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        if cores:
            os.sched_setaffinity(0, before)


def build_confinement(isolation: Literal["bwrap", "none"], limits: Limits, timing: Timing) -> Confinement:
    """Return the restrictions of the workers. Raises IsolationError if a required system call filter is unavailable."""
    try:
        program = syscalls.build_filter(
            pinned=timing.core is not None, gpu=timing.gpu is not None, namespaces=isolation == "bwrap"
        )
    except syscalls.FilterError as error:
        if isolation == "bwrap":
            raise IsolationError(str(error)) from None
        program = b""
    root = os.getuid() == 0
    return Confinement(
        namespaces=isolation == "bwrap",
        change_user=root,
        keep_reading=root
        and isolation == "none"
        and not all(map(is_public, [Path(find_interpreter()), *find_sites()])),
        memory_mib=limits.memory_mib,
        cpu_seconds=int(2 * limits.kata_seconds) + 1,
        filter=base64.b64encode(program).decode(),
        own_pid=syscalls.OWN_PID,
        core=timing.core,
        gpu=timing.gpu is not None,
    )


def connect_zygote(sandbox: Sandbox) -> socket.socket:
    """Connect to a new zygote. Raises MachineError if that fails, so that no run continues with weaker isolation."""
    try:
        return sandbox.clone()
    except IsolationError as error:
        raise MachineError(f"the sandbox has failed: {error}") from None


def demand_forkable() -> None:
    """Raise MachineError if a child forked by this process would not be able to use a GPU."""
    try:
        forks.demand_no_cuda()
    except forks.ForkError as error:
        raise MachineError(str(error)) from None


def list_hidden_files() -> list[str]:
    """Return the paths of all course files and of the solutions in the wheel, which no worker may read."""
    found = [place for path in ARCHIVES.glob("*") for place in (str(path), *find_in_sandbox(path))]
    for folder, folders, files in os.walk(course().root):
        folders[:] = [name for name in folders if name not in UNLISTED]
        found += [path for name in files if name not in UNLISTED and Path(path := f"{folder}/{name}").is_file()]
    return found


def copy_runtime(*, timed: bool) -> Path:
    """Copy the files that a worker needs from this project into a new directory."""
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


def find_interpreter() -> str:
    """Return the path of the Python interpreter itself, with links in a virtual environment resolved."""
    return os.path.realpath(sys.executable)


def find_sites() -> list[Path]:
    """Return the directories of the packages that students and workers import."""
    specs = [importlib.util.find_spec(name) for name in (*NEEDED, *course().preload)]
    return list(dict.fromkeys(Path(spec.origin).parent.parent for spec in specs if spec and spec.origin))


def list_sandbox_sites() -> list[str]:
    """Return the paths at which the directories from `find_sites` are mounted in the sandbox."""
    return [f"/sites/{i}" for i in range(len(find_sites()))]


def find_in_sandbox(path: Path) -> list[str]:
    """Return the paths at which a file is visible in the sandbox because it is in one of the mounted folders."""
    bound = [*zip(find_sites(), list_sandbox_sites(), strict=True)]
    bound += [(folder, str(folder)) for folder in (Path(find_interpreter()).parent.parent, *map(Path, SYSTEM_FOLDERS))]
    places = [(folder.resolve(), inside) for folder, inside in bound]
    return [f"{inside}/{path.relative_to(folder)}" for folder, inside in places if path.is_relative_to(folder)]


def is_public(path: Path) -> bool:
    """Return whether a path is accessible to every user."""
    return all(parent.stat().st_mode & 0o005 == 0o005 for parent in [path, *path.parents])


def build_environment(gpu: Gpu | None) -> dict[str, str]:
    """Return all environment variables of a worker. They make at most one GPU visible."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    huge_pages = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}  # a process with huge pages can be forked faster
    hashing = {"PYTHONHASHSEED": "0"}  # the order of sets in student code must not vary between runs
    kept = {name: os.environ[name] for name in (LIBRARY_PATH,) if name in os.environ}
    fixed = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
    devices = {"CUDA_VISIBLE_DEVICES": gpu.uuid if gpu else "", "CUDA_CACHE_DISABLE": "1"}
    return fixed | threads | huge_pages | hashing | devices | kept


def find_library_folders(gpu: Gpu | None) -> list[Path]:
    """Return the folders with libraries that workers need, unless the sandbox has these folders anyway.

    Those of LD_LIBRARY_PATH, as set by `module load`, are named there. Another process shows which other libraries are
    loaded: the CUDA driver, which is elsewhere in some containers, and with LD_LIBRARY_PATH those of the packages.
    """
    named = [Path(name) for name in os.environ.get(LIBRARY_PATH, "").split(":") if name.startswith("/")]
    names = [*((*NEEDED, *course().preload) if named else ()), *(["libcuda.so.1"] if gpu else [])]
    if not names:
        return []
    arguments = json.dumps([[str(site) for site in find_sites()], names])
    command = [sys.executable, "-I", "-c", LIST_LIBRARIES, arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [line.split(maxsplit=5)[5] for line in done.stdout.splitlines() if ".so" in line]
    visible = [*map(Path, SYSTEM_FOLDERS), Path(find_interpreter()).parent.parent, *find_sites()]
    folders = dict.fromkeys([*named, *(Path(path).parent for path in found)])
    return [
        folder for folder in folders if folder.is_dir() and not any(folder.is_relative_to(place) for place in visible)
    ]


def demand_own_folders(folders: Sequence[Path]) -> None:
    """Raise IsolationError if one of these folders is `/` or a home directory, whose files would be exposed."""
    homes = {Path("/"), Path(os.environ.get("HOME", "/")), *(Path(user.pw_dir) for user in pwd.getpwall())}
    for folder in homes.intersection(folders):
        if not folder.is_relative_to("/usr"):
            raise IsolationError(
                f"Python or a package is installed directly in {folder}, so workers would see that whole folder"
            )


def bind_readable(folder: Path) -> list[str]:
    """Return options that mount a folder read-only and create its parents so that all workers can enter them.

    By default, only root can enter the folders that bwrap creates.
    """
    above = (option for parent in reversed(folder.parents[:-1]) for option in ("--perms", "0755", "--dir", str(parent)))
    return [*above, "--ro-bind", str(folder), str(folder)]


def build_bwrap_command(runtime: Path, gpu: Gpu | None) -> list[str]:
    """Return the command that starts the sandbox.

    The sandbox has no network and no other processes, and contains only the files that Python needs, read-only.

    An unprivileged user becomes root in a user namespace, so that the zygote can create namespaces for each worker. The
    worker then drops these capabilities. Since Linux 5.12, a worker needs CAP_SETFCAP to enter its own user namespace.
    If the grader runs as root, the worker changes to another user instead.
    """
    command = [shutil.which("bwrap") or "bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--die-with-parent", "--as-pid-1", "--hostname", "worker"]
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
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        path = Path(name)
        if path.is_symlink():
            command += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            command += ["--ro-bind", name, name]
    for name in ("/etc/ld.so.cache", "/etc/alternatives", f"{HUGE_PAGES}/enabled", f"{HUGE_PAGES}/hpage_pmd_size"):
        command += ["--ro-bind-try", name, name]
    prefix = Path(find_interpreter()).parent.parent
    if prefix.is_relative_to("/tmp"):
        raise IsolationError("Python is installed in /tmp, but every worker has its own /tmp")
    libraries = find_library_folders(gpu)
    demand_own_folders([prefix, *find_sites(), *libraries])
    for folder in libraries:
        command += bind_readable(folder)
    if not prefix.is_relative_to("/usr"):
        command += bind_readable(prefix)
    command += ["--perms", "0755", "--dir", "/sites"]
    for site, inside in zip(find_sites(), list_sandbox_sites(), strict=True):
        command += ["--ro-bind", str(site), inside]
    if ARCHIVES.is_dir():  # the engine is installed from a wheel, which contains the solutions
        for hidden in find_in_sandbox(ARCHIVES):
            command += ["--tmpfs", hidden, "--remount-ro", hidden]
    command += ["--ro-bind", str(runtime), "/runtime", "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*command, "--chdir", "/", "--"]
