"""Start the CUDA driver in a sandboxed worker that lacks one of the permissions used for grading."""

import json
import shutil
import subprocess
from dataclasses import asdict
from unittest.mock import patch

from grader.sandbox import confine, launch, syscalls
from grader.sandbox.launch import Gpu
from grader.speed import setup

SECONDS = 60.0
CALLS = ("socket", "bind", "listen", "memfd_create")
NETWORK = "own network"
REMOVED = {
    **{name: f"the system call `{name}`" for name in CALLS},
    "/dev/shm": "writing to `/dev/shm`",
    "/proc": "writing to `/proc/self/task/*/comm`",
    NETWORK: "a network namespace for each worker",
}
STARTED = [0, 0]  # both calls succeeded
INSIDE = f"""
import ctypes, json, os, sys
given = json.loads(sys.argv[1])
sys.path[:0] = ["/runtime"]
sys.path += given["sites"]
from grader.sandbox import confine, worker
mount = confine.libc.mount
def mount_read_only(source, target, kind, flags, options):
    read_only = int(target.decode() == given["without"])
    return mount(source, target, kind, flags | read_only, options)
confine.libc.mount = mount_read_only
if given["without"] == {NETWORK!r}:
    confine.NEW_NETWORK = 0
with confine.new_pid_namespace():
    child = os.fork()
    if child == 0:
        try:
            worker.confine_worker(confine.Confinement(**given["confinement"]), given["user"])
            driver, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
            codes = driver.cuInit(0), driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
            os.write(1, json.dumps(codes).encode())
        except BaseException as error:
            os.write(2, f"{{type(error).__name__}}: {{error}}".encode())
        os._exit(0)
os.waitpid(child, 0)
"""


def start_driver(device: Gpu, without: str = "") -> list[int] | str:
    """Return the result codes of `cuInit` and of creating a context in a worker, or why it failed."""
    with patch.dict(syscalls.WITH_GPU, {without: ()} if without in CALLS else {}):
        confinement = launch.build_confinement("bwrap", setup.get_limits(), setup.plan_workers(device))
    given = {
        "confinement": asdict(confinement),
        "sites": launch.list_sandbox_sites(),
        "user": confine.FIRST_USER,
        "without": without,
    }
    runtime = launch.copy_runtime(timed=False)
    python = [launch.find_interpreter(), "-s", "-P", "-S", "-B", "-c", INSIDE, json.dumps(given)]
    try:
        done = subprocess.run(
            [*launch.build_bwrap_command(runtime, device), *python],
            env=launch.build_environment(device),
            cwd="/",
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS:g} seconds"
    finally:
        shutil.rmtree(runtime)
    if not done.stdout:
        return (done.stderr.strip().splitlines() or ["the worker ended without output"])[-1]
    codes: list[int] = json.loads(done.stdout)
    return codes
