"""Later workers can't read the traces that a worker leaves in the kernel and in the zygote."""

from collections.abc import Iterator

import pytest

from grader.sandbox.launch import Sandbox, launch
from grader.tests.support.sandbox_workers import LIMITS, Ask, open_worker

TOOLS = """
import contextlib, ctypes, errno, fcntl, gc, mmap, os, resource, socket, struct, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
folder = os.path.dirname(os.__file__)
def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def read_at_once(file):
    try:
        os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)
    except BlockingIOError:
        pass
def ask_about_page(file, function, *arguments):
    page = mmap.mmap(file, 4096, mmap.MAP_PRIVATE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    if function(ctypes.c_void_p(address), ctypes.c_size_t(4096), *arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
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
    "pages of a mapping that are cached": lambda: ask_about_page(file, libc.mincore, ctypes.create_string_buffer(1)),
    "names that are cached": find_cached_name,
    "faults that read the disk": lambda: resource.getrusage(resource.RUSAGE_SELF),
    "free memory": lambda: libc.sysinfo(ctypes.create_string_buffer(200)) and call(-1),
    "free blocks of the disk": lambda: os.statvfs("/usr"),
    "number of a pipe": os.pipe,
    "number of a socket": socket.socketpair,
    "cookie of a socket": lambda: line.getsockopt(socket.SOL_SOCKET, 57, 8),
    "eviction of a page": lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED),
    "eviction of a mapping": lambda: ask_about_page(file, libc.madvise, 21),
    "reading ahead": lambda: call(187, file, 0, 4096),
    "count of cached pages": lambda: call(451, file, (ctypes.c_uint64 * 2)(0, 4096), (ctypes.c_uint64 * 5)(), 0),
    "number of a mount": lambda: call(332, -100, b"/", 0, 0xFFF, ctypes.create_string_buffer(256)),
    "lease of a file": lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK),
    "lock of a file": lambda: fcntl.lockf(file, fcntl.LOCK_SH),
    "hint about a file": lambda: fcntl.fcntl(file, 1036, struct.pack("Q", 2)),
    "entropy": lambda: fcntl.ioctl(os.open("/dev/random", os.O_RDONLY), 0x80045200, bytes(4)),
    "semaphores": lambda: call(64, 0x746F7263, 1, 0o1666),
    "queue of messages": lambda: call(240, b"torchkata", os.O_CREAT | os.O_RDWR, 0o600, None),
    "key": lambda: call(248, b"user", b"torchkata", b"1", 1, -4),
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

BUSY = """
for name in (f"{folder}/turtle.py", "/dev/random", "/dev/full"):
    with contextlib.suppress(OSError):
        os.posix_fadvise(os.open(name, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)
    with contextlib.suppress(OSError), open(name, "r+b") as file:
        file.write(bytes(4096))
    with open(name, "rb") as file:
        file.read(4096)
    with contextlib.suppress(OSError):
        os.utime(name)
with open("/tmp/full", "wb") as file:
    file.write(bytes(2**26))
numbers = [make() for make in (lambda: libc.eventfd(0, 0), lambda: libc.epoll_create1(0)) for _ in range(50)]
pages = mmap.mmap(-1, 2**24)
pages[:] = bytes(2**24)
for what in (lambda: os.sched_setaffinity(0, {0}), lambda: os.setpriority(0, 0, 15), lambda: os.umask(0)):
    what()
libc.syscall(251, 1, 0, 2 << 13)
libc.prctl(15, b"busy")
libc.mlockall(1)
answer = 1
"""
SIGNS = """
places = ["/", "/dev", "/tmp", *sorted(f"/dev/{name}" for name in os.listdir("/dev")), f"{folder}/turtle.py"]
answer = []
for place in places:
    mode, inode, _, *others = os.stat(place)
    answer += [mode, inode, *(others[:4] if place == "/tmp" else others)]
answer += [os.listdir(place) for place in ("/", "/dev", "/tmp", "/proc")]
answer += [os.getpid(), os.getppid(), libc.syscall(186), libc.syscall(252, 1, 0), libc.syscall(252, 3, os.getuid())]
answer += [[os.getpriority(which, 0) for which in range(3)], sorted(os.sched_getaffinity(0)), os.umask(0)]
answer += [os.fstat(libc.eventfd(0, 0)).st_ino, os.fstat(os.open("/tmp/new", os.O_CREAT)).st_ino]
answer += [[list(resource.getrlimit(kind)) for kind in range(16) if kind != resource.RLIMIT_AS], sorted(os.environ)]
"""
SORT = """
numbers = (ctypes.c_int * 2000)(*range(1999, -1, -1))
order = ctypes.CFUNCTYPE(ctypes.c_int, *(ctypes.POINTER(ctypes.c_int),) * 2)(lambda one, other: one[0] - other[0])
libc.qsort(numbers, ctypes.c_size_t(2000), ctypes.c_size_t(4), order)
answer = [*numbers]
"""


@pytest.fixture(scope="module")
def sandbox(needs_bwrap: None) -> Iterator[Sandbox]:
    started = launch("bwrap", LIMITS)
    started.wait_until_ready()
    yield started
    started.close()


@pytest.fixture
def ask(sandbox: Sandbox) -> Iterator[Ask]:
    yield from open_worker(sandbox)


def test_worker_cannot_read_kernel_traces_of_previous_worker(ask: Ask) -> None:
    assert ask(READS, TOOLS) == []


def test_worker_cannot_detect_earlier_workers(ask: Ask) -> None:
    for _ in range(3):
        ask(THREADS, TOOLS)
    assert ask(MEMORIES, TOOLS) == []


def test_busy_worker_is_undetectable_by_next_worker(ask: Ask) -> None:
    before = ask(SIGNS, TOOLS)
    ask(BUSY, TOOLS)
    assert ask(SIGNS, TOOLS) == before


def test_c_library_sorts_without_reading_memory_size(ask: Ask) -> None:
    assert ask(SORT, TOOLS) == [*range(2000)]
