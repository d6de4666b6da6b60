"""A worker's life: shut itself in, take the student's files, answer calls. Runs a student's code."""

import importlib
import mmap
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from grader.sandbox import self_test
from grader.sandbox.channel import Channel, decode, mapped
from grader.sandbox.confine import (
    Confinement,
    drop_privileges,
    limit_resources,
    own_namespaces,
    private_files,
    refuse_system_calls,
    write_no_more,
)
from torchkata.seam.assignment import Assignment
from torchkata.seam.reply import Reply, make_reply, run_probe
from torchkata.seam.values import to_plain

if TYPE_CHECKING:
    from grader.sandbox.timed_work import Bench


def live(line: int, memory: list[int], confinement: Confinement, user: int, scratch: Path) -> NoReturn:
    """All of it; never returns, whatever happens."""
    status = 70
    try:
        frames, arena = [*map(mapped, memory), None, None][:2]
        channel = Channel(socket.socket(fileno=keep_only(line)), frames)
        try:
            shut_in(confinement, user)
        except OSError as error:
            channel.send(Reply("raised", error=str(error)))
        else:
            channel.send(Reply("returned"))
            answer(channel, scratch, confinement, arena)
            status = 0
    finally:
        os._exit(status)


def keep_only(descriptor: int) -> int:
    """Close every other descriptor; input is empty, output is thrown away."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.dup2(descriptor, 3, inheritable=False)
    os.closerange(4, 2**16)
    return 3


def shut_in(confinement: Confinement, user: int) -> None:
    """Give up what a student's code must not have."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.setsid()
    if confinement.core is not None:
        os.sched_setaffinity(0, {confinement.core})
    if confinement.namespaces:
        own_namespaces(confinement)
    limit_resources(confinement)
    if confinement.namespaces:
        private_files(gpu=confinement.gpu)
    drop_privileges(confinement, user)
    refuse_system_calls(confinement)


def hide_nothing(channel: Channel) -> None:
    """Give up what could hold data without being counted as this worker's memory. Its answers are short."""
    write_no_more()
    if channel.shared is not None:
        channel.shared.close()
        channel.shared = None


def timed(assignment: Assignment, arena: mmap.mmap | None, take_descriptor: Callable[[], int]) -> "Bench":
    """What answers where speed is graded."""
    from grader.sandbox.timed_work import Bench

    return Bench(assignment, arena, take_descriptor)


def answer(channel: Channel, scratch: Path, confinement: Confinement, arena: mmap.mmap | None) -> None:
    """Take the files, then run probes one call at a time, until the grader hangs up."""
    own = scratch / "assignment"
    own.mkdir(parents=True)
    os.environ["HOME"] = os.environ["TMPDIR"] = str(scratch)
    os.chdir(scratch)
    for name, content in decode(channel.receive())["files"].items():
        (own / name).write_bytes(content)
    assignment = Assignment(own)
    bench: Bench | None = None
    while True:
        request = decode(channel.receive())
        if "hidden" in request:
            found = self_test.violations(request["hidden"], gpu=confinement.gpu, timed=confinement.core is not None)
            channel.send(Reply("returned", found))
            continue
        try:
            if "module" in request:
                probe = getattr(importlib.import_module(request["module"]), request["probe"])
                reply = run_probe(assignment, probe, request["args"])
            else:
                if "lay_out" in request and not confinement.gpu:
                    hide_nothing(channel)
                bench = bench or timed(assignment, arena, channel.receive_descriptor)
                reply = Reply("returned", to_plain(bench.answer(request)))
        except BaseException as error:  # KeyboardInterrupt and the student's own
            reply = make_reply(error, assignment)
        channel.send(reply)
