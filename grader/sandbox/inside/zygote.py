"""The zygote: a process that has imported the modules that students use, and forks a worker for each test.

A zygote never runs a student's code. It is started as `python -I -S -B zygote.py CONFIG`, where CONFIG is JSON. This
first process only forks other zygotes. It accepts one command, a letter with a file descriptor:
C + descriptor   fork a zygote that uses this connection        → c (on this connection)
A forked zygote has at most one worker in use, and keeps the next one ready. It accepts these commands:
S                hand out a worker                              → s + its socket and its shared memory, or x
N                end the worker and its descendants
E                the same, and reply when the worker has ended  → e + wait status
D                the same for a worker that seems to be dead    → e + wait status
For a timed worker, there are two more commands:
P, R             pause it, resume it                            → p, r
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
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from grader.sandbox.inside.confine import Confinement

STATUS = struct.Struct("<i")
LONGEST_STOP = 10.0  # maximum number of seconds to stop a worker on a busy machine
SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Import everything once, report that this process is ready, and fork a zygote for each connection."""
    config = json.loads(sys.argv[1])
    sys.path[:0] = [config["runtime"]]
    sys.path += config["sites"]
    control = socket.socket(fileno=config["control"])
    from grader.sandbox.inside.confine import Confinement, hide_memory, remount_devices_read_only

    confinement = Confinement(**config["confinement"])
    if confinement.namespaces:
        remount_devices_read_only()
    warm_up(config["preload"], config["probes"], gpu=confinement.gpu, timed=config["arena_bytes"] > 0)
    demand_forkable(confinement)
    hide_memory()
    control.sendall(b"h")
    while True:
        command, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if command != b"C":
            return
        if os.fork() == 0:
            control.close()
            Zygote(socket.socket(fileno=descriptors[0]), confinement, config["arena_bytes"]).serve()
        os.close(descriptors[0])
        reap()


def reap() -> None:
    """Reap zygotes and orphans that have exited, because zombies count towards the process limit."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def demand_forkable(confinement: "Confinement") -> None:
    """Raise ForkError if a forked worker would be unusable."""
    from grader.sandbox.inside.forks import demand_no_cuda, demand_one_thread

    demand_one_thread()
    if confinement.gpu:
        demand_no_cuda()


def warm_up(preload: list[str], probes: list[str], *, gpu: bool, timed: bool) -> None:
    """Import the modules that students use without starting threads, because torch would hang in a forked worker."""
    import gc
    import importlib

    gc.disable()  # imported objects stay alive, so garbage collection during the imports would be useless

    for package in preload:
        importlib.import_module(package)
    if "torch" in preload:
        warm_up_torch(gpu=gpu, timed=timed)
    if "hypothesis" in preload:
        from torchkata.inside.hypothesis_internals import ignore_local_constants

        ignore_local_constants()  # with -S, Hypothesis would parse all packages as if they were local modules
    for probe in probes:
        try:
            importlib.import_module(f"tests.probes.{probe}")
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            sys.exit(
                f"tests/probes/{probe}.py: can't be imported in a worker, which sees only tests/probes/ ({reason})"
            )
    import grader.sandbox.inside.worker  # noqa: F401
    import torchkata.inside.probes  # noqa: F401
    from grader.sandbox.inside.forks import collapse_memory

    gc.freeze()
    gc.enable()
    collapse_memory()


def warm_up_torch(*, gpu: bool, timed: bool) -> None:
    """Run torch's slow one-time initializations, except those that would initialize CUDA."""
    import torch

    if timed:
        import torch._dynamo  # import it now, because that writes to a folder and a timed worker has none

    from torchkata.inside.torch_internals import ignore_compile, reduce_torch_overhead

    reduce_torch_overhead()
    if not timed:  # a measurement with torch.compile fails, which is clearer than an unexplained low speed
        ignore_compile()
    if not gpu:
        torch.autograd.backward(torch.ones((), requires_grad=True) * 2)


@dataclass(frozen=True)
class Worker:
    """A forked worker that is waiting for its files."""

    pid: int
    line: socket.socket
    memory: list[int]  # descriptors of the memory shared with the grader
    scratch: Path


class Zygote:
    """A forked zygote, which answers the commands from a single connection."""

    def __init__(self, control: socket.socket, confinement: "Confinement", arena_bytes: int) -> None:
        self.control = control
        self.arena_bytes = arena_bytes
        self.confinement = confinement
        self.current: Worker | None = None
        self.next: Worker | None = None
        self.dying: list[int] = []
        self.answers = {b"S": self.hand_out, b"P": self.pause, b"R": self.resume}

    def serve(self) -> NoReturn:
        """Answer commands until the grader closes the connection."""
        import ctypes

        if sys.platform == "linux":  # make orphans of a worker children of this process, so that it can kill them
            ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.control.sendall(b"c")
        try:
            while command := self.control.recv(1):
                if command in self.answers:
                    self.answers[command]()
                    continue
                self.answer_end(command)
        finally:
            for worker in (self.current, self.next):
                if worker is not None:
                    self.kill(worker)
            os._exit(0)

    def answer_end(self, command: bytes) -> None:
        """End the current worker. If the grader is waiting for a reply, send it the wait status of the worker."""
        status = self.end(patience=2.0 if command == b"D" else 0.0)
        if command != b"N":
            self.control.sendall(b"e" + STATUS.pack(status))

    def hand_out(self) -> None:
        """Send the grader the connection to the next worker, then fork another one while the grader is working."""
        from grader.sandbox.inside.forks import ForkError

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
        """Fork a worker, in its own namespaces if the sandbox supports them."""
        from grader.sandbox.inside import channel, confine, encoding, worker

        demand_forkable(self.confinement)
        user = confine.pick_user()
        scratch = Path("/tmp/work")  # a folder in the private /tmp of the worker
        if not self.confinement.namespaces:
            scratch = Path(tempfile.mkdtemp(prefix="torchkata-"))
            if self.confinement.change_user:
                os.chown(scratch, user, user)
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # tells the grader the process id of the worker
        sizes = [encoding.MAX_FRAME, *([self.arena_bytes] if self.arena_bytes else [])]
        memory = [descriptor for size in sizes if (descriptor := channel.create_shared_memory(size)) is not None]
        with theirs, confine.new_pid_namespace() if self.confinement.namespaces else nullcontext():
            pid = os.fork()
            if pid == 0:
                self.forget()
                worker.run_worker(theirs.fileno(), memory, self.confinement, user, scratch)
        return Worker(pid, ours, memory, scratch)

    def forget(self) -> None:
        """Discard everything that is known about other workers.

        Each new worker calls this function, so that student code cannot read the process ids of the others.
        """
        self.current = self.next = None
        self.dying.clear()

    def pause(self) -> None:
        """Stop all threads of the current worker."""
        if self.current is not None:
            stop_process(self.current.pid)
        self.control.sendall(b"p")

    def resume(self) -> None:
        """Resume the current worker."""
        if self.current is not None:
            os.kill(self.current.pid, signal.SIGCONT)
        self.control.sendall(b"r")

    def end(self, patience: float) -> int:
        """End the current worker. Return its wait status, or SIGKILL if it does not exit within `patience` seconds."""
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
        """Kill a worker and all its descendants without waiting for the system to free their memory.

        If workers use a GPU, this function waits, because work that was queued may continue until the process is gone.
        """
        os.kill(worker.pid, signal.SIGKILL)
        if self.confinement.namespaces and not self.confinement.gpu:
            self.dying.append(worker.pid)  # all processes in its PID namespace are killed with it
        else:
            os.waitpid(worker.pid, 0)
            self.clean_up_after(worker)
        return signal.SIGKILL

    def clean_up_after(self, worker: Worker) -> None:
        """Kill the processes left behind by a dead worker and remove its files, unless it had its own namespaces."""
        if not self.confinement.namespaces:
            end_children(keep=self.next.pid if self.next else 0)
            shutil.rmtree(worker.scratch, ignore_errors=True)


def stop_process(pid: int) -> None:
    """Stop a process. If it keeps sending itself SIGCONT, stop it again and finally kill it."""
    until = time.monotonic() + LONGEST_STOP
    os.kill(pid, signal.SIGSTOP)
    while os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        os.kill(pid, signal.SIGSTOP if time.monotonic() < until else signal.SIGKILL)
        time.sleep(0.0001)


def end_children(keep: int) -> None:
    """Kill all children of this process except `keep`, including orphans that become its children in the meantime."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while children.exists() and (orphans := {*map(int, children.read_text().split())} - {keep}):
        for pid in orphans:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
