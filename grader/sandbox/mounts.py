"""Lists what a worker sees of this machine: copies of our files, and folders and devices that bubblewrap mounts."""

import importlib.util
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.errors import MachineError
from grader.sandbox.inside.confine import DEVICES
from torchkata.course import ARCHIVES, ENGINE, course

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


@dataclass(frozen=True)
class Gpu:
    """The only GPU that workers may use."""

    uuid: str  # `GPU-…`; a number would be ambiguous, because CUDA and the driver number devices differently
    minor: int  # the number in the device's file name, /dev/nvidia<minor>
    cores: frozenset[int] = field(default=frozenset(), compare=False)  # near the device; empty for any


class IsolationError(MachineError):
    """Raised if the requested isolation is not available. The message gives the reason."""


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
