"""Runs probes in the sandbox, using a new worker for each test and enforcing time limits."""

import contextlib
import math
import os
import socket
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache

from grader.sandbox.channel import Channel, Closed, Late, Malformed, compute_reply_limit, decode_reply, map_descriptor
from torchkata.course import Limits
from torchkata.i18n import words
from torchkata.i18n.notes import translate
from torchkata.seam.failures import Died, Inconclusive, TimedOut, describe_exit
from torchkata.seam.reply import Probe, Reply
from torchkata.seam.values import Plain

CONTROL_SECONDS = 60.0
LEAST_FORGIVEN = 0.05  # waits shorter than this (in seconds) are ignored
STATUS = struct.Struct("<i")
TWO_NUMBERS = struct.Struct("<QQ")
ZYGOTE_GONE = "the process that starts workers has ended"


class WorkerRunner:
    """Runs student code in one worker at a time."""

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self.control = control
        self.control.settimeout(CONTROL_SECONDS)
        self.limits = limits
        self.files: Mapping[str, bytes] = {}
        self.patience = 1.0
        self.kata_left = self.test_left = 0.0  # remaining seconds
        self.kata_left_before = 0.0  # value of kata_left at the start of the current test
        self.forgiven = 0.0  # seconds for which the current worker has waited for a processor
        self.waited_here = 0.0  # seconds for which this thread had waited at the last measurement
        self.judging_left = 0.0  # CPU seconds that this thread may still use between the calls of the current test
        self.answered = math.nan  # CPU time of this thread when the last call finished, to update judging_left
        self.turn = threading.RLock()  # held while a thread communicates with the zygote
        self.channel: Channel | None = None
        self.arena: int | None = None  # descriptor of the memory that is shared with a timed worker

    def open(self, files: Mapping[str, bytes], patience: float) -> None:
        """Use these files from now on, with all time limits multiplied by `patience`."""
        self.files = files
        self.patience = patience
        self.kata_left = self.limits.kata_seconds * patience

    def reset(self, kata: str) -> None:
        """Start a test. The next call uses a new worker, and the previous worker ends in the background."""
        if self.channel is not None:
            self.kata_left += self.forgive()
        self.kata_left_before = self.kata_left
        self.start_over(kata)

    def start_over(self, kata: str) -> None:  # noqa: ARG002  (a worker can run any kata)
        """Restart the current test with a new worker and the full time limit."""
        self.renew()
        self.kata_left = self.kata_left_before
        self.test_left = self.judging_left = self.limits.test_seconds * self.patience
        self.answered = math.nan

    def renew(self) -> None:
        """Use a new worker for the next call. The previous worker ends in the background.

        The time that it has waited for a processor since the last measurement is given back, however short it is: a
        test may use a hundred workers, one for each call.
        """
        if self.channel is not None:
            waited = self.forgive(least=0.0)
            self.test_left += waited
            self.kata_left += waited
            self.hang_up(b"N")

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        """Send a call and wait for the reply within the time limits.

        Limits apply only to calls, and exclude the time that the worker or this thread spends waiting for a
        processor. The time between calls (to judge answers and shrink inputs) has a limit as well, because a crafted
        answer can make it long.
        """
        self.demand_time_to_judge()
        whole_call = self.limits.call_seconds
        allowed = min(whole_call, self.test_left, self.kata_left)
        if self.kata_left <= 0:
            raise TimedOut(words("timed_out.kata"))
        if self.channel is None:
            self.start()
        request = {"module": probe.__module__, "probe": probe.__name__, "args": args}
        late = words("timed_out.test")
        if allowed == whole_call:
            late = words("timed_out.call", seconds=f"{allowed:g}")
        began, forgiven, waited = time.monotonic(), self.forgiven, measure_waiting()
        try:
            return self.ask(request, allowed, late)
        finally:
            excused = self.forgiven - forgiven + measure_waiting() - waited
            spent = max(0.0, time.monotonic() - began - excused)
            self.test_left -= spent
            self.kata_left -= spent
            self.answered = time.thread_time()

    def demand_time_to_judge(self) -> None:
        """Raise TimedOut if this thread has used too much time between the calls of this test."""
        if not math.isnan(self.answered):
            self.judging_left -= time.thread_time() - self.answered
        if self.judging_left <= 0:
            raise TimedOut(words("timed_out.judging"))

    def set_budget(self, seconds: float) -> None:
        """Limit the total time of all calls until the next `reset` to `seconds`, in addition to the usual limits."""
        self.test_left = min(self.test_left, seconds)

    def ask(
        self, request: Mapping[str, object], seconds: float, when_late: str, descriptor: int | None = None
    ) -> Reply:
        """Send a request and wait for the reply. If it fails, end the worker and raise TimedOut or Died.

        If a `descriptor` is given, it is sent after the request, which must announce it.
        """
        assert self.channel is not None
        deadline, self.waited_here = time.monotonic() + seconds, measure_waiting()
        try:
            self.channel.expect_silence()
            sent = self.channel.send(request, deadline)
            if descriptor is not None:
                self.channel.send_descriptor(descriptor)
            return decode_reply(self.channel.receive(deadline, self.grant_more_time, compute_reply_limit(sent)))
        except Late:
            self.end()
            raise TimedOut(when_late) from None
        except Closed:
            raise Died(describe_exit(os.waitstatus_to_exitcode(self.end(b"D")))) from None
        except Malformed as error:
            self.end()
            raise Died(translate(str(error))) from None

    def grant_more_time(self) -> float:
        """Return how many seconds the worker and this thread have spent waiting for a processor since the last call."""
        waited = measure_waiting() - self.waited_here
        if waited < LEAST_FORGIVEN:
            return self.forgive()
        self.waited_here += waited
        return self.forgive() + waited

    def forgive(self, least: float = LEAST_FORGIVEN) -> float:
        """Return how many seconds the worker has spent waiting for a processor since the last call of this function.

        Waits shorter than `least` seconds count later. Time during which other threads of the worker were running is
        excluded. Otherwise, a worker could postpone its deadline indefinitely.
        """
        own_threads, waited = self.signal(b"T")
        new = (waited - own_threads) / 1e9 - self.forgiven
        if new < least:
            return 0.0
        self.forgiven += new
        return new

    def signal(self, letter: bytes) -> tuple[int, int]:
        """Send the zygote a command for the current worker, and return the two numbers in its reply.

        Raises Inconclusive if the zygote has exited.
        """
        with self.turn, contextlib.suppress(OSError):
            self.control.sendall(letter)
            first, second = TWO_NUMBERS.unpack(self.receive_answer(letter.lower(), TWO_NUMBERS.size))
            return first, second
        raise Inconclusive(translate(ZYGOTE_GONE))

    def receive_answer(self, letter: bytes, size: int) -> bytes:
        """Return the `size` bytes that follow the letter in a reply. Raises OSError if there is no such reply."""
        answer = b""
        while len(answer) <= size and (part := self.control.recv(1 + size - len(answer))):
            answer += part
        if answer[:1] != letter or len(answer) <= size:
            raise ConnectionError(ZYGOTE_GONE)
        return answer[1:]

    def start(self) -> None:
        """Get a new worker and send it the student's files. Raises Inconclusive if the machine can't start a worker."""
        self.channel = self.new_channel()
        self.forgiven = 0.0
        deadline = time.monotonic() + CONTROL_SECONDS
        try:
            ready = decode_reply(self.channel.receive(deadline))
            if ready.outcome != "returned":
                raise Inconclusive(translate(f"could not sandbox the worker: {ready.error}"))
            self.channel.send({"files": dict(self.files)}, deadline)
        except (Late, Closed, Malformed) as error:
            raise Inconclusive(translate(f"a worker did not start ({type(error).__name__})")) from None

    def new_channel(self) -> Channel:
        """Connect to a new worker. Raises Inconclusive if the machine can't start one."""
        with contextlib.suppress(OSError):
            self.control.sendall(b"S")
            answer, descriptors, _, _ = socket.recv_fds(self.control, 1, 3)
            if answer == b"s" and descriptors:
                line, frames, self.arena = [*descriptors, None, None][:3]
                return Channel(socket.socket(fileno=line), None if frames is None else map_descriptor(frames))
        raise Inconclusive("the machine could not start a process for your code")

    def find_violations(self, hidden: Sequence[str]) -> list[str]:
        """Run the self-test in a worker without student code. The worker also tries to read these `hidden` files."""
        self.open({}, 1.0)
        self.start()
        assert self.channel is not None
        deadline = time.monotonic() + CONTROL_SECONDS
        self.channel.send({"hidden": list(hidden)}, deadline)
        found = decode_reply(self.channel.receive(deadline)).value
        self.end()
        return [str(words) for words in found]

    def end(self, letter: bytes = b"E") -> int:
        """End the worker and return its wait status (0 without a worker). Raises Inconclusive if the zygote is gone."""
        if self.channel is None:
            return 0
        with self.turn, contextlib.suppress(OSError):
            self.hang_up(letter)
            return int(STATUS.unpack(self.receive_answer(b"e", STATUS.size))[0])
        raise Inconclusive(ZYGOTE_GONE)

    def hang_up(self, letter: bytes) -> None:
        """Close the connection and send the zygote a command to end the worker."""
        assert self.channel is not None
        self.channel.close()
        self.channel = None
        with contextlib.suppress(OSError):  # if the zygote has exited, the next request detects it
            self.control.sendall(letter)


def measure_waiting() -> float:
    """Return how many seconds this thread has spent waiting for a processor, or 0 if the kernel does not report it."""
    try:
        return int(os.pread(open_schedstat(os.getpid(), threading.get_ident()), 100, 0).split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


@cache
def open_schedstat(_process: int, _thread: int) -> int:
    """Open the kernel's scheduling statistics for the calling thread. Raises OSError if there are none."""
    return os.open("/proc/thread-self/schedstat", os.O_RDONLY)
