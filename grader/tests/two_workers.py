"""Two workers in the real sandbox, each with many threads: prints as JSON what they could start, see and share."""

import json
import os
from pathlib import Path

from grader.sandbox.launch import launch
from grader.sandbox.runner import WorkerRunner
from grader.tests.workers import LIMITS, asking

NAMESPACES = ("mnt", "net", "ipc", "pid", *([] if os.getuid() == 0 else ["user"]))  # root's workers are other users
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


def workers(zygotes: int) -> list[Path]:
    """In /proc, all that are the first process of a namespace within that of the sandbox."""
    found = {}
    for path in descendants(zygotes):
        status = dict(line.split(":", 1) for line in (path / "status").read_text().splitlines())
        numbers = status["NSpid"].split()
        if numbers[-1] == "1":
            found[path] = len(numbers)
    return [path for path, depth in found.items() if depth == max(found.values())]


def descendants(pid: int) -> list[Path]:
    """Of a process, in /proc."""
    children = [
        int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()
    ]
    return [Path(f"/proc/{pid}"), *(path for child in children for path in descendants(child))]


def main() -> None:
    """All of it."""
    sandbox = launch("bwrap", LIMITS)
    sandbox.wait_until_ready()
    violations = WorkerRunner(sandbox.clone(), LIMITS).violations(["/etc/passwd"])
    first, second = asking(sandbox), asking(sandbox)
    asked = [next(one) for one in (first, second)]
    threads = [ask(THREADS, "import threading") for ask in asked]
    those = workers(sandbox.process.pid)
    shared = [name for name in NAMESPACES if len({(path / "ns" / name).readlink() for path in those}) < len(those)]
    devices = asked[0]("answer = sorted(os.listdir('/dev'))")
    print(json.dumps({"threads": threads, "shared": shared, "devices": devices, "violations": violations}))
    sandbox.close()


if __name__ == "__main__":
    main()
