"""Traces that a worker leaves in the kernel and in the zygote: later workers can't read them."""

from collections.abc import Iterator

import pytest

from grader.sandbox.launch import Sandbox, launch
from grader.tests.support.sandbox_workers import LIMITS, Ask, open_worker

TOOLS = """
import ctypes, errno, gc, mmap, os, resource, socket, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def read_at_once(file):
    try:
        os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)
    except BlockingIOError:
        pass
def is_resident(file):
    pages = mmap.mmap(file, 4096, mmap.MAP_PRIVATE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    if libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(4096), ctypes.create_string_buffer(1)) != 0:
        raise OSError(ctypes.get_errno(), "mincore")
def find_cached_name():
    try:
        call(437, -100, b"/usr/none", (ctypes.c_uint64 * 3)(0, 0, 0x20), 24)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.ENOENT):
            raise
"""
READS = """
file, line = os.open(os.__file__, os.O_RDONLY), socket.socket(fileno=os.dup(3))
readings = {
    "pages of a file that are cached": lambda: read_at_once(file),
    "pages of a mapping that are cached": lambda: is_resident(file),
    "names that are cached": find_cached_name,
    "faults that read the disk": lambda: resource.getrusage(resource.RUSAGE_SELF),
    "free memory": lambda: libc.sysinfo(ctypes.create_string_buffer(200)) and call(-1),
    "free blocks of the disk": lambda: os.statvfs("/usr"),
    "number of a pipe": os.pipe,
    "number of a socket": socket.socketpair,
    "cookie of a socket": lambda: line.getsockopt(socket.SOL_SOCKET, 57, 8),
    "eviction of a page": lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED),
    "counts of huge pages": lambda: os.listdir("/sys/kernel/mm/transparent_hugepage/khugepaged"),
}
answer = []
for name, read in readings.items():
    try:
        read()
        answer.append(name)
    except OSError:
        pass
"""
THREADS = "for _ in range(1000):\n    thread = threading.Thread(target=int)\n    thread.start()\n    thread.join()"
MEMORIES = """
workers = [thing for thing in gc.get_objects() if type(thing).__name__ in ("Worker", "Zygote")]
answer = [thing.pid for thing in workers if hasattr(thing, "pid")]
answer += [pid for thing in workers for pid in getattr(thing, "dying", [])]
frame = sys._getframe()
while frame:
    answer += [value for name, value in frame.f_locals.items() if name in ("pid", "status") and value not in (0, 70)]
    frame = frame.f_back
"""


@pytest.fixture(scope="module")
def sandbox(needs_bwrap: None) -> Iterator[Sandbox]:  # noqa: ARG001
    started = launch("bwrap", LIMITS)
    started.wait_until_ready()
    yield started
    started.close()


@pytest.fixture
def ask(sandbox: Sandbox) -> Iterator[Ask]:
    yield from open_worker(sandbox)


def test_worker_cannot_read_traces_from_kernel(ask: Ask) -> None:
    assert ask(READS, TOOLS) == []


def test_worker_cannot_detect_earlier_workers(ask: Ask) -> None:
    for _ in range(3):
        ask(THREADS, TOOLS)
    assert ask(MEMORIES, TOOLS) == []
