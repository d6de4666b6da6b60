"""The zygote has imported what students import, and forks a worker for every test. It never runs a student's code.

Started as `python -I -S -B zygote.py CONFIG`; CONFIG is JSON. The first process only makes more of itself:
C + descriptor   fork a zygote that takes commands there        → c (there)
and each of those has at most one worker at a time, and the next one ready:
S                hand out a worker                              → s + its line and its shared memory, or x
N                end the worker and all that it started
E                the same, and say when it is done               → e + wait status
D                the same for one that seems to have died       → e + wait status
T                its other threads' time, its waiting time      → t + both in nanoseconds
and for a worker that is timed:
P, R             let it pause, let it resume                    → p, r + its processor time, its waiting time
M                how much memory it has: its own, and shared    → m + both in bytes
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from grader.sandbox.confine import Confinement

STATUS = struct.Struct("<i")
TWO_NUMBERS = struct.Struct("<QQ")
LONGEST_WAIT = 2.0  # seconds, for a processor
LONGEST_STOP = 10.0  # seconds, on a machine that is busy
SET_CHILD_SUBREAPER = 36
USERS = 4  # of a zygote that is root: threads of a worker that is being killed are not the next one's
MEMORY = ("RssAnon", "VmSwap", "HugetlbPages"), ("RssShmem",)  # as the kernel counts it: its own, and shared
PROCESSOR_TIME = 2  # of a whole process: in the number of its clock, as clock_getcpuclockid(3) makes it


def main() -> None:
    """Import everything once, say hello, and fork a zygote for each connection that is handed over."""
    config = json.loads(sys.argv[1])
    sys.path[:0] = [config["runtime"]]
    sys.path += config["sites"]
    control = socket.socket(fileno=config["control"])
    from grader.sandbox.confine import Confinement, fix_devices, hide_memory

    confinement = Confinement(**config["confinement"])
    if confinement.namespaces:
        fix_devices()
    warm_up(config["preload"], config["probes"], gpu=confinement.gpu, timed=config["arena_bytes"] > 0)
    demand_forkable(confinement)
    hide_memory()
    control.sendall(b"h")
    user = config["first_user"]
    while True:
        command, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if command != b"C":
            return
        user += USERS
        if os.fork() == 0:
            control.close()
            Zygote(socket.socket(fileno=descriptors[0]), confinement, user, config["arena_bytes"]).serve()
        os.close(descriptors[0])
        reap()


def reap() -> None:
    """Let go of zygotes that have ended, and of what they left: the dead count towards the limit on processes."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def demand_forkable(confinement: "Confinement") -> None:
    """Raises ForkError where a worker could not do its work."""
    from grader.sandbox.forks import demand_no_driver, demand_one_thread

    demand_one_thread()
    if confinement.gpu:
        demand_no_driver()


def warm_up(preload: list[str], probes: list[str], *, gpu: bool, timed: bool) -> None:
    """Import what students import, with one thread: after more, torch hangs in a forked worker."""
    import gc
    import importlib

    gc.disable()  # what is imported stays: each look for what does not would walk through all of it

    for package in preload:
        importlib.import_module(package)
    if "torch" in preload:
        warm_up_torch(gpu=gpu, timed=timed)
    for probe in probes:
        try:
            importlib.import_module(f"tests.probes.{probe}")
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            sys.exit(f"tests/probes/{probe}.py: a worker, which has nothing else of tests/, can't import it ({reason})")
    import grader.sandbox.worker  # noqa: F401
    import torchkata.seam.probes  # noqa: F401
    from grader.sandbox.forks import collapse_memory

    gc.freeze()
    gc.enable()
    collapse_memory()


def warm_up_torch(*, gpu: bool, timed: bool) -> None:
    """Do once what torch takes long for when it is first done; what would start CUDA is left to the workers."""
    import torch

    if timed:
        import torch._dynamo  # which needs a folder to write to: a worker that is timed has none

    from torchkata.compat.torch_internals import reduce_torch_overhead

    reduce_torch_overhead()
    if not gpu:
        torch.autograd.backward(torch.ones((), requires_grad=True) * 2)


@dataclass(frozen=True)
class Worker:
    """A forked worker that waits for its files."""

    pid: int
    line: socket.socket
    memory: list[int]  # descriptors of what it shares with the grader
    scratch: Path


class Zygote:
    """Serves one connection; its workers run as `user`, or one of the next few, where the grader is root."""

    def __init__(self, control: socket.socket, confinement: "Confinement", user: int, arena_bytes: int) -> None:
        self.control = control
        self.arena_bytes = arena_bytes
        self.confinement = confinement
        self.users = cycle(range(user, user + USERS))
        self.current: Worker | None = None
        self.next: Worker | None = None
        self.dying: list[int] = []
        self.answers = {b"S": self.hand_out, b"P": self.pause, b"R": self.resume}
        self.answers |= {b"T": self.tell_times, b"M": self.tell_memory}

    def serve(self) -> NoReturn:
        """Until the grader hangs up."""
        import ctypes

        if sys.platform == "linux":  # what a worker leaves behind becomes a child of this process, and can be found
            ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.control.sendall(b"c")
        try:
            while command := self.control.recv(1):
                if command in self.answers:
                    self.answers[command]()
                    continue
                status = self.end(patience=2.0 if command == b"D" else 0.0)
                if command != b"N":
                    self.control.sendall(b"e" + STATUS.pack(status))
        finally:
            for worker in (self.current, self.next):
                if worker is not None:
                    self.kill(worker)
            os._exit(0)

    def hand_out(self) -> None:
        """Give the grader the worker that is ready, then make the next one while the grader works."""
        from grader.sandbox.forks import ForkError

        try:
            self.current = self.next or self.fork()
            self.next = None
        except (OSError, ForkError) as error:
            print(f"can't fork a worker: {error}", file=sys.stderr)
            self.control.sendall(b"x")
            return
        with self.current.line as line:
            socket.send_fds(self.control, [b"s"], [line.fileno(), *self.current.memory])
            for descriptor in self.current.memory:
                os.close(descriptor)
        with contextlib.suppress(OSError, ForkError):
            self.next = self.fork()

    def fork(self) -> Worker:
        """A new worker, in namespaces of its own where there are any."""
        from grader.sandbox import channel, confine, worker

        demand_forkable(self.confinement)
        user = next(self.users)
        scratch = Path("/tmp/work")  # in the worker's own /tmp
        if not self.confinement.namespaces:
            scratch = Path(tempfile.mkdtemp(prefix="torchkata-"))
            if self.confinement.change_user:
                os.chown(scratch, user, user)
        ours, theirs = socket.socketpair()
        sizes = [channel.MAX_FRAME, *([self.arena_bytes] if self.arena_bytes else [])]
        memory = [descriptor for size in sizes if (descriptor := channel.shared_memory(size)) is not None]
        with theirs, confine.new_process_space() if self.confinement.namespaces else nullcontext():
            pid = os.fork()
            if pid == 0:
                worker.live(theirs.fileno(), memory, self.confinement, user, scratch)
        return Worker(pid, ours, memory, scratch)

    def pause(self) -> None:
        """Stop the current worker, all of its threads, and say so when it stands."""
        if self.current is not None:
            stop(self.current.pid)
        self.control.sendall(b"p" + TWO_NUMBERS.pack(*self.times()))

    def resume(self) -> None:
        """Let it go on."""
        times = self.times()
        if self.current is not None:
            os.kill(self.current.pid, signal.SIGCONT)
        self.control.sendall(b"r" + TWO_NUMBERS.pack(*times))

    def tell_times(self) -> None:
        """For how long its other threads have run, and its first was not let: the kernel adds a wait when it ends."""
        until, (running, _) = time.monotonic() + LONGEST_WAIT, self.times()
        while self.is_runnable() and self.times()[0] == running and time.monotonic() < until:
            time.sleep(0.002)
        used, waited = self.times()
        others = max(0, used - self.schedule()[0])
        self.control.sendall(b"t" + TWO_NUMBERS.pack(others, waited))

    def is_runnable(self) -> bool:
        """Whether the current worker runs, or would if it were let."""
        try:
            assert self.current is not None
            return Path(f"/proc/{self.current.pid}/stat").read_text().rpartition(")")[2].split()[0] == "R"
        except (AssertionError, OSError, IndexError):
            return False

    def times(self) -> tuple[int, int]:
        """Of the current worker, in nanoseconds: its processor time, and how long it had to wait for a processor."""
        try:
            assert self.current is not None
            clock = ~self.current.pid << 3 | PROCESSOR_TIME
            return time.clock_gettime_ns(clock), self.schedule()[1]
        except (AssertionError, OSError):  # it has ended
            return 0, 0

    def schedule(self) -> tuple[int, int]:
        """Of the current worker's first thread, in nanoseconds: how long it has run, and waited for a processor."""
        try:
            assert self.current is not None
            ran, waited, *_ = Path(f"/proc/{self.current.pid}/schedstat").read_text().split()
            return int(ran), int(waited)
        except (AssertionError, OSError, ValueError):  # it has ended, or this kernel does not count
            return 0, 0

    def tell_memory(self) -> None:
        """The memory of the current worker, as the kernel counts it; nothing where it has ended."""
        facts: dict[str, str] = {}
        with contextlib.suppress(OSError, AssertionError):
            assert self.current is not None
            lines = Path(f"/proc/{self.current.pid}/status").read_text().splitlines()
            facts = dict(line.split(":", 1) for line in lines)
        own, shared = (sum(int(facts.get(name, "0").split()[0]) for name in names) for names in MEMORY)
        self.control.sendall(b"m" + TWO_NUMBERS.pack(own * 1024, shared * 1024))

    def end(self, patience: float) -> int:
        """End the current worker; its wait status, SIGKILL's if it has not ended by itself after so many seconds."""
        self.dying = [pid for pid in self.dying if not os.waitpid(pid, os.WNOHANG)[0]]
        worker, self.current = self.current, None
        if worker is None:
            return 0
        until = time.monotonic() + patience
        done, status = os.waitpid(worker.pid, os.WNOHANG)
        while not done and time.monotonic() < until:
            time.sleep(0.002)
            done, status = os.waitpid(worker.pid, os.WNOHANG)
        if not done:
            return self.kill(worker)
        self.clean_up_after(worker)
        return status

    def kill(self, worker: Worker) -> int:
        """Kill a worker and what it has started. Taking its memory apart takes the system a while: not waited for.

        But on a GPU, where what it has queued may run until it is gone.
        """
        os.kill(worker.pid, signal.SIGKILL)
        if self.confinement.namespaces and not self.confinement.gpu:
            self.dying.append(worker.pid)  # its PID namespace dies with it
        else:
            os.waitpid(worker.pid, 0)
            self.clean_up_after(worker)
        return signal.SIGKILL

    def clean_up_after(self, worker: Worker) -> None:
        """Without namespaces: end what a dead worker has left running, and remove its files."""
        if not self.confinement.namespaces:
            end_children(spared=self.next.pid if self.next else 0)
            shutil.rmtree(worker.scratch, ignore_errors=True)


def stop(pid: int) -> None:
    """Have a process stand still. One that sends itself what lets it go on is stopped again, and in the end killed."""
    until = time.monotonic() + LONGEST_STOP
    os.kill(pid, signal.SIGSTOP)
    while os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        os.kill(pid, signal.SIGSTOP if time.monotonic() < until else signal.SIGKILL)
        time.sleep(0.0001)


def end_children(spared: int) -> None:
    """Kill every child of this process but one, and theirs as they become its own."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while children.exists() and (orphans := {*map(int, children.read_text().split())} - {spared}):
        for pid in orphans:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
