"""The worker process, which restricts itself, receives the student's files and runs the student's code on request."""

import importlib
import mmap
import os
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from grader.sandbox.inside import self_test
from grader.sandbox.inside.channel import Channel, map_descriptor
from grader.sandbox.inside.confine import (
    Confinement,
    drop_privileges,
    enter_namespaces,
    forbid_file_writes,
    install_filter,
    limit_resources,
    mount_private_files,
)
from grader.sandbox.inside.encoding import decode
from torchkata.inside.assignment import Assignment
from torchkata.inside.reply import Reply, make_reply, run_probe

if TYPE_CHECKING:
    from grader.sandbox.inside.timed_work import TimedWork


def run_worker(line: int, memory: list[int], confinement: Confinement, user: int, scratch: Path) -> NoReturn:
    """Run the worker process until the grader closes the connection. Never returns."""
    status = 70
    try:
        frames, arena = [*map(map_descriptor, memory), None, None][:2]
        channel = Channel(socket.socket(fileno=close_other_descriptors(line)), frames)
        try:
            confine_worker(confinement, user)
        except OSError as error:
            channel.send(Reply("raised", error=str(error)))
        else:
            channel.send(Reply("returned"))
            serve_requests(channel, scratch, confinement, arena)
            status = 0
    finally:
        os._exit(status)


def close_other_descriptors(descriptor: int) -> int:
    """Close all other descriptors, and redirect standard input, output and error to the null device.

    Return the descriptor's new number.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.dup2(descriptor, 3, inheritable=False)
    os.closerange(4, 2**16)
    return 3


def confine_worker(confinement: Confinement, user: int) -> None:
    """Give up all privileges and resources that student code must not have."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.setsid()
    if confinement.core is not None:
        os.sched_setaffinity(0, {confinement.core})
    if confinement.namespaces:
        enter_namespaces(confinement)
    limit_resources(confinement)
    if confinement.namespaces:
        mount_private_files(gpu=confinement.gpu)
    drop_privileges(confinement, user)
    install_filter(confinement)


def close_uncounted_storage(channel: Channel) -> None:
    """Close files and large frames, because they could hold data that is not counted as this worker's memory."""
    forbid_file_writes()
    if channel.shared is not None:
        channel.shared.close()
        channel.shared = None


def serve_requests(channel: Channel, scratch: Path, confinement: Confinement, arena: mmap.mmap | None) -> None:
    """Store the student's files, then answer requests one at a time until the grader closes the connection."""
    folder = scratch / "assignment"
    folder.mkdir(parents=True)
    os.environ["HOME"] = os.environ["TMPDIR"] = str(scratch)
    os.chdir(scratch)
    for name, content in decode(channel.receive())["files"].items():
        (folder / name).write_bytes(content)
    assignment = Assignment(folder)
    work: TimedWork | None = None
    while True:
        request = decode(channel.receive())
        if "hidden" in request:
            timed = confinement.core is not None
            found = self_test.find_violations(request["hidden"], gpu=confinement.gpu, timed=timed)
            channel.send(Reply("returned", found))
            continue
        try:
            if "module" in request:
                probe = getattr(importlib.import_module(request["module"]), request["probe"])
                reply = run_probe(assignment, probe, request["args"])
            else:
                if "lay_out" in request and not confinement.gpu:
                    close_uncounted_storage(channel)
                if work is None:
                    from grader.sandbox.inside import timed_work  # imports torch

                    work = timed_work.TimedWork(assignment, arena, channel.receive_descriptor)
                work.answer(request)
                reply = Reply("returned")
        except BaseException as error:  # including KeyboardInterrupt and the student's own exceptions
            reply = make_reply(error, assignment)
        channel.send(reply)
