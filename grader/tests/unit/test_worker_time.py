"""Time that a worker has waited for a processor is not counted, also if each call has a worker of its own."""

import socket

import pytest

from grader.sandbox.runner import WorkerRunner
from torchkata.course import course

WAITED = 0.03  # seconds per worker, as on a busy machine


class BusyMachine(WorkerRunner):
    """A runner whose workers each have waited for a processor, without any processes."""

    def signal(self, letter: bytes) -> tuple[int, int]:
        assert letter == b"T"
        return 0, int(WAITED * 1e9)

    def hang_up(self, letter: bytes) -> None:  # noqa: ARG002
        self.channel, self.forgiven = None, 0.0


def test_waiting_of_each_replaced_worker_is_forgiven() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        runner = BusyMachine(ours, course().limits)
        runner.open({}, patience=1.0)
        runner.reset("linear")
        test, kata = runner.test_left, runner.kata_left
        for _ in range(100):
            runner.channel = object()  # type: ignore[assignment]
            runner.test_left -= WAITED
            runner.kata_left -= WAITED
            runner.renew()
        assert (runner.test_left, runner.kata_left) == pytest.approx((test, kata))
        runner.channel = object()  # type: ignore[assignment]
        runner.start_over("linear")
        assert runner.test_left == test
