"""Runs probes in the sandbox, using a new worker for each test and enforcing time limits."""

import contextlib
import os
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.sandbox.inside.channel import (
    Channel,
    Closed,
    Late,
    Malformed,
    compute_reply_limit,
    decode_reply,
    map_descriptor,
)
from torchkata.course import Limits
from torchkata.i18n import _, translate
from torchkata.inside.reply import Probe, Reply
from torchkata.inside.text import Text
from torchkata.inside.values import Plain
from torchkata.seam.failures import Died, Inconclusive, TimedOut, describe_exit
from torchkata.seam.time_limits import BUSY, SCHEDSTAT, Times, allow, describe_time_out, read_queue, take_least

CONTROL_SECONDS = 60.0
SHORTEST_WAIT = 0.01  # seconds between two measurements of a worker's CPU time
PROCESS_CLOCK = 2  # part of a clock id that selects all threads, as in clock_getcpuclockid(3)
STATUS = struct.Struct("<i")
ZYGOTE_GONE = Text("the process that starts workers has ended")


@dataclass
class TimeBudget:
    """A limit of the time of one or more calls, and how much of it is left."""

    what: str  # what it applies to
    allowed: Times
    left: Times

    def demand_time(self) -> None:
        """Raise TimedOut if no time is left, or Inconclusive if the machine had hardly a processor for the code."""
        if self.left.shortest <= 0:
            by_cpu = self.left.cpu <= 0
            raise self.describe_excess(by_cpu=by_cpu, starved=-self.left.queued > self.allowed.wall * BUSY / 2)

    def describe_excess(self, *, by_cpu: bool, starved: bool) -> TimedOut | Inconclusive:
        """Return the exception for an exceeded limit: Inconclusive if the code was `starved` of processors."""
        if starved and not by_cpu:
            return Inconclusive(
                _("{what} waited for a processor most of the time: the machine is busy", what=self.what)
            )
        return TimedOut(describe_time_out(self.what, self.allowed, by_cpu=by_cpu))


class WorkerRunner:
    """Runs student code in one worker at a time."""

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self.control = control
        self.control.settimeout(CONTROL_SECONDS)
        self.limits = limits
        self.files: Mapping[str, bytes] = {}
        self.patience = 1.0
        self.kata, self.test = (
            self.make_budget(_("the tests of this kata"), 0.0),
            self.make_budget(_("the calls of this test"), 0.0),
        )
        self.kata_left_before = self.kata.left  # at the start of the current test
        self.clock: int | None = None  # the clock of the current worker's CPU time
        self.cpu = 0.0  # CPU time of the current worker at the last measurement
        self.schedstat: int | None = None  # descriptor of the file from which `queued` is read
        self.queued = 0.0  # for how long the current worker has waited for a processor, at the last measurement
        self.channel: Channel | None = None
        self.arena: int | None = None  # descriptor of the memory that is shared with a timed worker

    def make_budget(self, what: str, seconds: float) -> TimeBudget:
        """Return a budget of which nothing is used."""
        allowed = allow(seconds, self.limits)
        return TimeBudget(what, allowed, allowed)

    def open(self, files: Mapping[str, bytes], patience: float) -> None:
        """Use these files from now on, with all time limits multiplied by `patience`."""
        self.files = files
        self.patience = patience
        self.kata = self.make_budget(_("the tests of this kata"), self.limits.kata_seconds * patience)

    def reset(self, kata: str) -> None:
        """Start a test. The next call uses a new worker, and the previous worker ends in the background."""
        self.kata_left_before = self.kata.left
        self.start_over(kata)

    def start_over(self, kata: str) -> None:  # noqa: ARG002  (a worker can run any kata)
        """Restart the current test with a new worker and the full time limit."""
        self.renew()
        self.kata.left = self.kata_left_before
        self.test = self.make_budget(_("the calls of this test"), self.limits.test_seconds * self.patience)

    def renew(self) -> None:
        """Use a new worker for the next call. The previous worker ends in the background."""
        if self.channel is not None:
            self.hang_up(b"N")

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        """Send a call and wait for the reply within the time limits, which apply only to calls."""
        budgets = [self.make_budget(_("your code"), self.limits.call_seconds), self.test, self.kata]
        for budget in budgets:
            budget.demand_time()
        if self.channel is None:
            self.start()
        request = {"module": probe.__module__, "probe": probe.__name__, "args": args}
        began = self.measure()
        try:
            return self.ask(request, take_least(*(budget.left for budget in budgets)))
        except Inconclusive:  # the machine has failed, however long that took
            budgets.clear()
            raise
        except Late:  # if none of the budgets is used up, the worker has not read its request
            spent = self.measure() - began
            starved = spent.queued > spent.wall / 2
            least = min(budgets, key=lambda budget: budget.left.wall)
            raise least.describe_excess(by_cpu=False, starved=starved) from None
        finally:
            used = (self.measure() - began).leave_out_queue()
            for budget in budgets:
                budget.left -= used
            for budget in budgets:  # also after a reply: with several threads, a call may have used more than its time
                budget.demand_time()

    def set_budget(self, seconds: float) -> None:
        """Limit the total time of all calls until the next `reset` to `seconds`, in addition to the usual limits."""
        self.test.left = take_least(self.test.left, allow(seconds, self.limits))

    def ask(self, request: Mapping[str, object], allowed: Times, descriptor: int | None = None) -> Reply:
        """Send a request and wait for the reply. If it fails, end the worker and raise Late or Died.

        If a `descriptor` is given, it is sent after the request, which must announce it.
        """
        assert self.channel is not None
        began = self.measure()

        def compute_left() -> float:
            left = allowed - (self.measure() - began).leave_out_queue()
            return max(left.shortest, SHORTEST_WAIT) if left.shortest > 0 else 0.0

        try:
            self.channel.expect_silence()
            sent = self.channel.send(request, began.wall + allowed.wall)
            if descriptor is not None:
                self.channel.send_descriptor(descriptor)
            return decode_reply(self.channel.receive(began.wall, compute_left, compute_reply_limit(sent)))
        except Late:
            self.end()
            raise
        except Closed:
            raise Died(describe_exit(os.waitstatus_to_exitcode(self.end(b"D")))) from None
        except Malformed as error:
            self.end()
            raise Died(translate(error)) from None

    def measure(self) -> Times:
        """Return the times of the worker, or of the last one if it has ended, and the wall-clock time."""
        with contextlib.suppress(OSError):  # the zygote has exited
            if self.clock is not None:
                self.cpu = time.clock_gettime(self.clock)
            if self.schedstat is not None:
                self.queued = read_queue(self.schedstat)
        return Times(self.cpu, time.monotonic(), self.queued)

    def signal(self, letter: bytes) -> None:
        """Let the zygote pause or resume the current worker. Raises Inconclusive if the zygote has exited."""
        with contextlib.suppress(OSError):
            self.control.sendall(letter)
            self.receive_answer(letter.lower(), 0)
            return
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
        deadline = time.monotonic() + CONTROL_SECONDS
        try:
            worker = self.channel.identify_sender(deadline)
            self.clock = ~worker << 3 | PROCESS_CLOCK
            self.cpu = time.clock_gettime(self.clock)
            with contextlib.suppress(OSError):  # not every system has this file
                self.schedstat = os.open(SCHEDSTAT.format(worker), os.O_RDONLY | os.O_CLOEXEC)
            ready = decode_reply(self.channel.receive(deadline))
            if ready.outcome != "returned":
                raise Inconclusive(_("could not sandbox the worker: {error}", error=ready.error))
            shared, self.channel.shared = self.channel.shared, None  # the first call may overwrite unread files there
            self.channel.send({"files": dict(self.files)}, deadline)
            self.channel.shared = shared
        except (Late, Closed, Malformed, OSError) as error:
            raise Inconclusive(_("a worker did not start ({error})", error=type(error).__name__)) from None

    def new_channel(self) -> Channel:
        """Connect to a new worker. Raises Inconclusive if the machine can't start one."""
        with contextlib.suppress(OSError):
            self.control.sendall(b"S")
            answer, descriptors, _flags, _address = socket.recv_fds(self.control, 1, 3)
            if answer == b"s" and descriptors:
                line, frames, self.arena = [*descriptors, None, None][:3]
                return Channel(socket.socket(fileno=line), None if frames is None else map_descriptor(frames))
        raise Inconclusive(_("the machine could not start a process for your code"))

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
        with contextlib.suppress(OSError):
            self.hang_up(letter)
            return int(STATUS.unpack(self.receive_answer(b"e", STATUS.size))[0])
        raise Inconclusive(translate(ZYGOTE_GONE))

    def hang_up(self, letter: bytes) -> None:
        """Close the connection and send the zygote a command to end the worker."""
        assert self.channel is not None
        self.measure()
        self.channel.close()
        if self.schedstat is not None:
            os.close(self.schedstat)
        self.channel = self.clock = self.schedstat = None
        with contextlib.suppress(OSError):  # if the zygote has exited, the next request detects it
            self.control.sendall(letter)
