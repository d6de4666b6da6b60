"""Runs probes at a student's desk as the grader does: in a new process for every test, within the grader's limits.

A first process, forked before anything is computed, forks the others, the workers: after an operation on several
threads, or a backward pass beside a GPU, torch does not work in a forked process. What the grader's sandbox refuses,
Python itself refuses here: that shows an honest mistake, and is no wall.
"""

import io
import os
import pickle
import resource
import signal
import socket
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .assignment import Assignment
from .course import Limits, course
from .failures import AbortTest, Died, Inconclusive, TimedOut, cause_of_death
from .languages import words
from .languages.notes import said
from .reply import Probe, Reply, reply_to, run_probe
from .student import time_limit
from .values import Plain, is_tensor

if TYPE_CHECKING:
    from torch import Tensor, dtype

SLACK = 1.0  # seconds beyond a limit, after which a worker that does not end itself is killed
PROCESSES = ("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "subprocess.Popen")
NETWORK = ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname")
NUMBER = 8  # bytes


class ForkedRunner:
    """A student's code, one worker at a time; each has these files, and no others, in a folder of its own."""

    def __init__(self, files: Mapping[str, bytes], limits: Limits) -> None:
        self.limits = limits
        self.folder = tempfile.TemporaryDirectory(prefix="torchkata-check-")
        self.kata = ""
        self.kata_left = self.kata_left_before = self.test_left = limits.kata_seconds
        self.line: Connection | None = None
        self.worker = 0
        self.control, theirs = socket.socketpair()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of threads: a BLAS has idle ones
            self.first = os.fork()
        if self.first == 0:
            self.control.close()
            serve(theirs, files, Path(self.folder.name), limits.memory_mib)
        theirs.close()

    def reset(self, kata: str) -> None:
        """The next call goes to a new worker."""
        if kata != self.kata:
            self.kata, self.kata_left = kata, self.limits.kata_seconds
        self.kata_left_before = self.kata_left
        self.start_over(kata)

    def start_over(self, kata: str) -> None:  # noqa: ARG002  (a worker can run any kata)
        """The next call goes to a new worker, and what this test has cost so far counts no more."""
        self.kata_left = self.kata_left_before
        self.test_left = self.limits.test_seconds
        self.end()

    def set_budget(self, seconds: float) -> None:
        """Give the calls that still come before the next `reset` no more than this together."""
        self.test_left = min(self.test_left, seconds)

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        """Send the call, wait for the reply no longer than the limits allow. Raises TimedOut, Died or Inconclusive."""
        if self.kata_left <= 0:
            raise TimedOut(words("timed_out.kata"))
        allowed = max(0.0, min(self.limits.call_seconds, self.test_left, self.kata_left))
        late = words("timed_out.test")
        if allowed == self.limits.call_seconds:
            late = words("timed_out.call", seconds=f"{allowed:g}")
        if allowed == 0:
            raise TimedOut(late)
        began = time.monotonic()
        try:
            reply = self.ask(pickled((probe, args, allowed)), allowed + SLACK, late)
        finally:
            spent = time.monotonic() - began
            self.test_left -= spent
            self.kata_left -= spent
        if isinstance(reply, TimedOut):
            raise TimedOut(late, reply.place)
        return reply

    def ask(self, request: bytes, seconds: float, late: str) -> "Reply | TimedOut":
        """The worker's answer. Raises TimedOut or Died, and then there is no worker any more."""
        line = self.line or self.start()
        try:
            line.send_bytes(request)
            if line.poll(seconds):
                answer: Reply | TimedOut = pickle.loads(line.recv_bytes())
                return answer
        except (EOFError, OSError):
            raise Died(cause_of_death(self.end())) from None
        os.kill(self.worker, signal.SIGKILL)
        self.end()
        raise TimedOut(late)

    def start(self) -> Connection:
        """A new worker: the line to it. Raises Inconclusive."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self.control, [b"s"], [theirs.fileno()])
                self.worker = self.hear()
            except OSError:
                raise Inconclusive(said("the process that starts workers is gone")) from None
        self.line = Connection(ours.detach())
        return self.line

    def end(self) -> int:
        """No worker any more: the exit code of the one there was. Raises Inconclusive."""
        if self.line is None:
            return 0
        self.line.close()
        self.line = None
        try:
            return self.hear()
        except OSError:
            raise Inconclusive(said("the process that starts workers is gone")) from None

    def hear(self) -> int:
        """A number from the first process. Raises OSError where it is gone."""
        heard = self.control.recv(NUMBER, socket.MSG_WAITALL)
        if len(heard) < NUMBER:
            raise OSError
        return int.from_bytes(heard, "little", signed=True)

    def close(self) -> None:
        """End all processes, and remove their files."""
        if self.line is not None:
            with suppress(ProcessLookupError):
                os.kill(self.worker, signal.SIGKILL)  # after Ctrl-C it may still compute
        with suppress(Inconclusive):
            self.end()
        self.control.close()
        os.waitpid(self.first, 0)
        self.folder.cleanup()


def serve(control: socket.socket, files: Mapping[str, bytes], folder: Path, memory_mib: int) -> NoReturn:
    """Be the first process: fork a worker for each line that is handed over, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while True:
            asked, lines, _, _ = socket.recv_fds(control, 1, 1)
            if not asked:
                break
            pid = os.fork()
            if pid == 0:
                control.close()
                live(Connection(lines[0]), files, folder, memory_mib)
            os.close(lines[0])
            tell(control, pid)
            tell(control, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    finally:
        os._exit(0)


def tell(control: socket.socket, number: int) -> None:
    """Send a number to who asks for workers."""
    control.sendall(number.to_bytes(NUMBER, "little", signed=True))


def live(line: Connection, files: Mapping[str, bytes], folder: Path, memory_mib: int) -> NoReturn:
    """Be a worker: take calls until the line ends. What the code prints is lost, as under the grader."""
    code = 70
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        sys.stdout = sys.stderr = os.fdopen(nothing, "w", encoding="utf-8")
        scratch = Path(tempfile.mkdtemp(dir=folder))
        tempfile.tempdir = os.environ["TMPDIR"] = os.environ["HOME"] = str(scratch)
        os.chdir(scratch)
        own = scratch / "assignment"
        own.mkdir()
        for name, content in files.items():
            (own / name).write_bytes(content)
        assignment = Assignment(own)
        forget_the_course()
        limit_memory(memory_mib)
        sys.addaudithook(refuse)
        while True:
            probe, args, seconds = pickle.loads(line.recv_bytes())
            line.send_bytes(pickled(answer(assignment, probe, args, seconds)))
    except (EOFError, OSError):
        code = 0
    finally:
        os._exit(code)


def answer(assignment: Assignment, probe: Probe, args: Sequence[Plain], seconds: float) -> "Reply | TimedOut":
    """What came of a call."""
    try:
        with time_limit(seconds, assignment.folder):
            return run_probe(assignment, probe, args)
    except TimedOut as error:
        return error
    except (KeyboardInterrupt, AbortTest) as error:
        return reply_to(error, assignment)


def forget_the_course() -> None:
    """Oracles and mistakes are not there when a hand-in is graded."""
    sys.path[:] = [place for place in sys.path if Path(place).resolve() != course().root]
    for name in [name for name in sys.modules if name.partition(".")[0] == course().reference.name]:
        del sys.modules[name]


def limit_memory(mib: int) -> None:
    """So much address space beyond what is mapped already, where the system counts it."""
    if sys.platform == "linux":
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = mapped + mib * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def refuse(event: str, _arguments: tuple[object, ...]) -> None:
    """Raise PermissionError for what the grader's sandbox would not let happen."""
    if event in PROCESSES:
        raise PermissionError(words("refused.process"))
    if event in NETWORK:
        raise PermissionError(words("refused.network"))


class Pickler(pickle.Pickler):
    """Tensors go as their bytes: torch's own way fails for some dtypes, such as uint16."""

    def reducer_override(self, value: object) -> Any:
        """How a tensor is made again; any other value as ever."""
        if not is_tensor(value):
            return NotImplemented
        import torch

        raw = value.contiguous().flatten().view(torch.uint8).numpy().tobytes()
        return tensor_of, (raw, value.dtype, value.shape)


def pickled(value: object) -> bytes:
    """Plain values, probes and replies, for the other process."""
    made = io.BytesIO()
    Pickler(made).dump(value)
    return made.getvalue()


def tensor_of(raw: bytes, dtype: "dtype", shape: Sequence[int]) -> "Tensor":
    """The tensor of these bytes."""
    import torch

    return torch.frombuffer(bytearray(raw), dtype=dtype).view(shape) if raw else torch.empty(shape, dtype=dtype)
