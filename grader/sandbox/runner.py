"""Runs probes in the sandbox: a fresh worker for every test, for limited time."""

import contextlib
import math
import os
import socket
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache

from grader.sandbox.channel import Channel, Closed, Late, Malformed, decode_reply, mapped, most_for
from torchkata.course import Limits
from torchkata.i18n import words
from torchkata.i18n.notes import translate
from torchkata.seam.failures import Died, Inconclusive, TimedOut, cause_of_death
from torchkata.seam.reply import Probe, Reply
from torchkata.seam.values import Plain

CONTROL_SECONDS = 60.0
LEAST_FORGIVEN = 0.05  # seconds; less is not worth another look
STATUS = struct.Struct("<i")
TWO_NUMBERS = struct.Struct("<QQ")


class WorkerRunner:
    """A student's code, one worker at a time."""

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self.control = control
        self.control.settimeout(CONTROL_SECONDS)
        self.limits = limits
        self.files: Mapping[str, bytes] = {}
        self.patience = 1.0
        self.kata_left = self.test_left = 0.0  # seconds
        self.kata_left_before = 0.0  # the present test
        self.forgiven = 0.0  # of them, those in which the machine let the present worker wait
        self.waited_here = 0.0  # for how long this thread had waited when it was last looked at
        self.judging_left = 0.0  # of the present test: seconds of a processor that this thread may take between calls
        self.answered = math.nan  # when the last call ended, by the same clock
        self.turn = threading.RLock()  # of a thread to ask the zygote
        self.channel: Channel | None = None
        self.arena: int | None = None  # a descriptor of the memory that it shares with a worker that is timed

    def open(self, files: Mapping[str, bytes], patience: float) -> None:
        """Grade these files from now on, for so many times as long as the limits say."""
        self.files = files
        self.patience = patience
        self.kata_left = self.limits.kata_seconds * patience

    def reset(self, kata: str) -> None:
        """The next call goes to a new worker; what follows need not wait for the end of the old one."""
        if self.channel is not None:
            self.kata_left += self.forgive()
        self.kata_left_before = self.kata_left
        self.start_over(kata)

    def start_over(self, kata: str) -> None:  # noqa: ARG002  (a worker can run any kata)
        """The next call goes to a new worker, and what this test has cost so far counts no more."""
        self.kata_left = self.kata_left_before
        self.test_left = self.judging_left = self.limits.test_seconds * self.patience
        self.answered = math.nan
        if self.channel is not None:
            self.hang_up(b"N")

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        """Send the call, wait for the reply, no longer than the limits allow.

        They count the seconds of calls alone, and not those in which a busy machine let the worker wait, or us. To
        judge the answers, and to look for a smaller input, may take as long: an answer can be made so that it does.
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
        began, forgiven, waited = time.monotonic(), self.forgiven, seconds_waited()
        try:
            return self.ask(request, allowed, late)
        finally:
            excused = self.forgiven - forgiven + seconds_waited() - waited
            spent = max(0.0, time.monotonic() - began - excused)
            self.test_left -= spent
            self.kata_left -= spent
            self.answered = time.thread_time()

    def demand_time_to_judge(self) -> None:
        """Raises TimedOut where this thread has computed for too long between the calls of this test."""
        if not math.isnan(self.answered):
            self.judging_left -= time.thread_time() - self.answered
        if self.judging_left <= 0:
            raise TimedOut(words("timed_out.judging"))

    def set_budget(self, seconds: float) -> None:
        """Give the calls that still come before the next `reset` no more than this together. They count as ever."""
        self.test_left = min(self.test_left, seconds)

    def ask(
        self, request: Mapping[str, object], seconds: float, when_late: str, descriptor: int | None = None
    ) -> Reply:
        """Send a request, wait for the reply. Raises TimedOut and Died; then there is no worker any more.

        A `descriptor` is for a request that says that one follows.
        """
        assert self.channel is not None
        deadline, self.waited_here = time.monotonic() + seconds, seconds_waited()
        try:
            self.channel.expect_silence()
            sent = self.channel.send(request, deadline)
            if descriptor is not None:
                self.channel.send_descriptor(descriptor)
            return decode_reply(self.channel.receive(deadline, self.more_time, most_for(sent)))
        except Late:
            self.end()
            raise TimedOut(when_late) from None
        except Closed:
            raise Died(cause_of_death(os.waitstatus_to_exitcode(self.end(b"D")))) from None
        except Malformed as error:
            self.end()
            raise Died(translate(str(error))) from None

    def more_time(self) -> float:
        """Seconds in which the machine let the worker wait, or us, since this was last asked."""
        waited = seconds_waited() - self.waited_here
        if waited < LEAST_FORGIVEN:
            return self.forgive()
        self.waited_here += waited
        return self.forgive() + waited

    def forgive(self) -> float:
        """Seconds that the machine has let the present worker wait for a processor, those that are new.

        Not while its own threads had it: a worker could put off its deadline for ever.
        """
        own_threads, waited = self.signal(b"T")
        new = (waited - own_threads) / 1e9 - self.forgiven
        if new < LEAST_FORGIVEN:
            return 0.0
        self.forgiven += new
        return new

    def signal(self, letter: bytes) -> tuple[int, int]:
        """Ask the zygote about the present worker; the two numbers that it answers. Raises Inconclusive."""
        answer = b""
        with self.turn, contextlib.suppress(OSError):
            self.control.sendall(letter)
            while len(answer) <= TWO_NUMBERS.size and (part := self.control.recv(1 + TWO_NUMBERS.size - len(answer))):
                answer += part
        if answer[:1] != letter.lower() or len(answer) <= TWO_NUMBERS.size:
            raise Inconclusive(translate("the process that starts workers is gone"))
        first, second = TWO_NUMBERS.unpack(answer[1:])
        return first, second

    def start(self) -> None:
        """A new worker that has the student's files. Raises Inconclusive where the machine can't."""
        self.channel = self.new_channel()
        self.forgiven = 0.0
        deadline = time.monotonic() + CONTROL_SECONDS
        try:
            ready = decode_reply(self.channel.receive(deadline))
            if ready.outcome != "returned":
                raise Inconclusive(translate(f"a worker can't be shut in: {ready.error}"))
            self.channel.send({"files": dict(self.files)}, deadline)
        except (Late, Closed, Malformed) as error:
            raise Inconclusive(translate(f"a worker did not start ({type(error).__name__})")) from None

    def new_channel(self) -> Channel:
        """A connection to a new worker. Raises Inconclusive."""
        with contextlib.suppress(OSError):
            self.control.sendall(b"S")
            answer, descriptors, _, _ = socket.recv_fds(self.control, 1, 3)
            if answer == b"s" and descriptors:
                line, frames, self.arena = [*descriptors, None, None][:3]
                return Channel(socket.socket(fileno=line), None if frames is None else mapped(frames))
        raise Inconclusive("the machine could not start a process for your code")

    def violations(self, hidden: Sequence[str]) -> list[str]:
        """What a worker can do and should not, reading these files among it; it has no student's code in it."""
        self.open({}, 1.0)
        self.start()
        assert self.channel is not None
        deadline = time.monotonic() + CONTROL_SECONDS
        self.channel.send({"hidden": list(hidden)}, deadline)
        found = decode_reply(self.channel.receive(deadline)).value
        self.end()
        return [str(words) for words in found]

    def end(self, letter: bytes = b"E") -> int:
        """No worker any more; the wait status of the one there was. Raises Inconclusive."""
        if self.channel is None:
            return 0
        answer = b""
        with self.turn, contextlib.suppress(OSError):
            self.hang_up(letter)
            while len(answer) < 1 + STATUS.size and (part := self.control.recv(1 + STATUS.size - len(answer))):
                answer += part
        if len(answer) <= STATUS.size:
            raise Inconclusive("the process that starts workers is gone")
        return int(STATUS.unpack(answer[1:])[0])

    def hang_up(self, letter: bytes) -> None:
        """Close the line, and tell the zygote what to do with the worker."""
        assert self.channel is not None
        self.channel.close()
        self.channel = None
        with contextlib.suppress(OSError):  # a zygote that is gone is found out when it is asked for something
            self.control.sendall(letter)


def seconds_waited() -> float:
    """For how long this thread has waited for a processor so far; 0 where the kernel does not count."""
    try:
        return int(os.pread(schedule_of(os.getpid(), threading.get_ident()), 100, 0).split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


@cache
def schedule_of(_process: int, _thread: int) -> int:
    """A descriptor of what the kernel counts of the thread that asks first. Raises OSError."""
    return os.open("/proc/thread-self/schedstat", os.O_RDONLY)
