"""Runs two multithreaded workers in one real sandbox, and prints as JSON what they can start, see and share."""

import contextlib
import json
import os
from pathlib import Path

from grader.sandbox.launch import launch
from grader.sandbox.runner import WorkerRunner
from grader.tests.support.processes import find_descendants
from grader.tests.support.sandbox_workers import LIMITS, open_worker

NAMESPACES = ("mnt", "net", "ipc", "pid", *([] if os.getuid() == 0 else ["user"]))  # root starts workers as other users
THREADS = """
done = threading.Event()
started = 0
threading.stack_size(2**16)
try:
    for _ in range(57):
        threading.Thread(target=done.wait, args=(60,), daemon=True).start()
        started += 1
except RuntimeError:
    pass
answer = started
"""


def read_worker_namespaces(sandbox: int) -> list[dict[str, Path]]:
    """Return the namespaces of each worker. A worker is the first process of an innermost PID namespace."""
    found = []
    for path in (Path(f"/proc/{pid}") for pid in find_descendants(sandbox)):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):  # it is exiting or starting
            status = dict(line.split(":", 1) for line in (path / "status").read_text().splitlines())
            numbers = status["NSpid"].split()
            if numbers[-1] == "1":
                found.append((len(numbers), {name: (path / "ns" / name).readlink() for name in NAMESPACES}))
    deepest = max(depth for depth, _ in found)
    return [links for depth, links in found if depth == deepest]


def main() -> None:
    """Print what the workers can do."""
    sandbox = launch("bwrap", LIMITS)
    sandbox.wait_until_ready()
    violations = WorkerRunner(sandbox.clone(), LIMITS).find_violations(["/etc/passwd"])
    generators = [open_worker(sandbox), open_worker(sandbox)]  # both must exist until the end
    workers = [next(generator) for generator in generators]
    threads = [ask(THREADS, "import threading") for ask in workers]
    namespaces = read_worker_namespaces(sandbox.process.pid)
    assert len(namespaces) >= 2, "the two workers are not among the processes"
    shared = [name for name in NAMESPACES if len({links[name] for links in namespaces}) < len(namespaces)]
    devices = workers[0]("answer = sorted(os.listdir('/dev'))")
    print(json.dumps({"threads": threads, "shared": shared, "devices": devices, "violations": violations}))
    sandbox.close()


if __name__ == "__main__":
    main()
