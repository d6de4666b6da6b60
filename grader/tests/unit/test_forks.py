"""Tests of the checks before a fork, and of moving a forking process's memory into huge pages."""

import threading

import pytest

from grader.sandbox.inside.forks import ForkError, demand_one_thread


def test_process_with_second_thread_cannot_fork() -> None:
    end = threading.Event()
    threading.Thread(target=end.wait, daemon=True).start()
    with pytest.raises(ForkError, match="other threads"):
        demand_one_thread()
    end.set()
