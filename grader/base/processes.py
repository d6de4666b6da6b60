"""Starts Python without importing from the current directory, which may be a submission; forks and limits children."""

import math
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from grader.base.signals import end_with_parent
from grader.base.text import one_line


def python(*arguments: str) -> list[str]:
    """Return the command that runs this Python interpreter so that it can import only installed packages."""
    return [sys.executable, "-P", *arguments]


@dataclass
class ForkedChild:
    """A child of this process, and the connection over which it sends messages."""

    pid: int
    messages: Connection

    def end(self) -> None:
        """Kill the process if it is still running, and reap it."""
        self.messages.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def fork_child(work: Callable[[Connection], None], name: str) -> tuple[int, Connection]:
    """Fork a child that calls `work` with the other end of the connection. Return the fields of a `ForkedChild`."""
    parent = os.getpid()
    receiving, sending = Pipe(duplex=False)
    pid = os.fork()
    if pid == 0:
        run_in_child(lambda: work(sending), name, parent)
    sending.close()
    return pid, receiving


def run_in_child(work: Callable[[], None], name: str, parent: int) -> NoReturn:
    """Run `work` in this forked child, then exit. Print any error, unless the parent has closed the connection."""
    status = 1
    try:
        end_with_parent(parent)
        work()
        status = 0
    except BrokenPipeError:
        pass
    except BaseException as error:
        print(one_line(f"{name}: {type(error).__name__}: {error}"), file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def set_limit(kind: int, value: int) -> None:
    """Lower the soft limit of a resource, within its hard limit."""
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, hard))


def limit_cpu(seconds: int) -> None:
    """Limit the CPU time that this process may use in addition to what it has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    set_limit(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime) + seconds)


def limit_memory(mib: int) -> None:
    """Limit the memory that this process may allocate in addition to what it has now."""
    status = Path("/proc/self/status")
    if status.exists():
        held = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmData:"))
        set_limit(resource.RLIMIT_DATA, held * 2**10 + mib * 2**20)
