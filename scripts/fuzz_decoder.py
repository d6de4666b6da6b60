"""Fuzz the decoder of worker replies with handmade and mutated frames, reproducibly from a seed.

Run: python -m scripts.fuzz_decoder [--frames 10000000] [--seed 0] [--jobs 2]

Each frame must decode to a reply of plain values or raise `Malformed`, and the process must stay within its memory
limit.
"""

import argparse
import itertools
import multiprocessing
import random
import resource
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import torch

from grader.sandbox import channel
from grader.sandbox.channel import Malformed, decode_reply, encode
from torchkata.seam.reply import Reply
from torchkata.seam.values import Opaque

EXTRA_MIB = 256  # memory that a process may allocate
START = b"\x82\xa7outcome\xa8returned\xa5value"  # the beginning of a reply, up to the value
MAX_BYTES = 2**14  # maximum size of growing frames
MARKERS = (
    0,
    1,
    0x7F,
    0x80,
    0x8F,
    0x90,
    0x9F,
    0xA0,
    0xC0,
    0xC1,
    *range(0xC4, 0xE0),
    0xFF,
)  # bytes with a special meaning in msgpack
LENGTHS = (0, 1, 2**16 - 1, 2**16, 2**20, 2**20 + 1, 2**26, 2**31 - 1, 2**31, 2**32 - 1)
ANY_SHAPE: list[list[int]] = [[], [0], [1] * 8, [1] * 9, [1] * 65, [0, *[2**39] * 7], [-1, -1], [2**63]]
ANY_SHAPE += [[2**64 - 1, 0], [2, 3]]


def pack_frame(outline: bytes, contents: bytes = b"") -> bytes:
    """Return the frame for a message with this outline and these contents."""
    return channel.LENGTH.pack(len(outline)) + outline + contents


def make_valid() -> Iterator[bytes]:
    """Yield replies with every kind of plain value."""
    values: list[object] = [None, True, 7, -(2**63), 2.5, float("nan"), "text", "\u202e" * 40, Opaque("module.Type")]
    values += [torch.ones(2, 3, dtype=getattr(torch, name)) for name in channel.TORCH_DTYPES]
    values += [np.ones((3, 2), dtype=name) for name in channel.NUMPY_DTYPES]
    values += [torch.zeros(0, 4), np.zeros((2, 0, 3)), torch.tensor(1.5), torch.ones([1] * 8)]
    values += [[torch.ones(3), [1, 2, [3.0, None]]], {"key": [torch.ones(2)], "other": {"deep": {"er": "x"}}}]
    values += [[[[[[[[[[[1]]]]]]]]]], {str(number): number for number in range(40)}, list(range(300))]
    yield from (encode(Reply("returned", value)) for value in values)
    yield encode(Reply("raised", error="ValueError: no", file="linear.py", line=7, source="raise ValueError('no')"))
    yield encode(Reply("not_written", error="file not found", file="linear.py"))


def make_hostile() -> Iterator[bytes]:
    """Yield frames designed to break the decoder."""
    pack = msgspec.msgpack.encode
    exts = [msgspec.msgpack.Ext(code, data) for code in (1, 2, 3, 4, -1, 127) for data in (b"", b"\x90", b"\xff" * 300)]
    exts += [
        msgspec.msgpack.Ext(code, pack([name, shape]))
        for code, name, shape in itertools.product((1, 3), ("float32", "bool", "object", "bfloat16"), ANY_SHAPE)
    ]
    for ext in exts:
        for contents in (b"", bytes(24)):
            yield pack_frame(START + pack(ext), contents)
            yield pack_frame(START + b"\x81" + pack(ext) + b"\xc0", contents)  # an extension as the key of a dict
            yield pack_frame(START + b"\x81\x91" + pack(ext) + b"\xc0", contents)  # inside a list as the key of a dict
    for head in (b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff"):
        yield pack_frame(START + head)
    yield pack_frame(START + b"\x91" * 5000 + b"\xc0")
    yield pack_frame(START + b"\x81\x91" * 2000 + b"\xc0")
    yield pack_frame(START + b"\xd6\xff\xff\xff\xff\xff")  # a timestamp
    yield pack_frame(b"\x82\xa7outcome\xa8returned\xa5error\xa4\xff\xfe\xed\xa0")
    long = {"outcome": "returned", "value": 1, "line": 2**64 - 1, "error": "x" * 5000, "file": "\0" * 900}
    yield pack_frame(pack(long))
    yield b""
    yield b"\xff" * 4


def mutate(frame: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """Return the frame with a few changes. Most of them change the outline but keep its length field correct."""
    if chance.random() < 0.2 or len(frame) < channel.LENGTH.size:
        return change(frame, others, chance)
    (length,) = channel.LENGTH.unpack_from(frame)
    outline, contents = frame[channel.LENGTH.size :][:length], frame[channel.LENGTH.size :][length:]
    if chance.random() < 0.2:
        return pack_frame(outline, change(contents, others, chance))
    return pack_frame(change(outline, others, chance), contents)


def change(part: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """Return a copy of the bytes with one to three random mutations."""
    data = bytearray(part)
    for _ in range(chance.randint(1, 3)):
        place, kind = chance.randrange(len(data) + 1), chance.randrange(8)
        if kind <= 1:
            data[place : place + 1] = bytes([chance.randrange(256)])
        elif kind == 2:
            data[place : place + 1] = bytes([chance.choice(MARKERS)])
        elif kind == 3:
            del data[place : place + chance.randint(1, 8)]
        elif kind == 4:
            data[place:place] = chance.randbytes(chance.randint(1, 8))
        elif kind == 5:
            data[place : place + 4] = chance.choice(LENGTHS).to_bytes(4, chance.choice(("big", "little")))
        elif kind == 6:
            other = chance.choice(others)
            data[place:] = other[chance.randrange(len(other) + 1) :]
        else:
            data[place:place] = data[place : place + chance.randint(1, 64)] * chance.randint(1, 4)
        del data[MAX_BYTES:]
    return bytes(data)


def make_frames(seed: int, count: int) -> Iterator[bytes]:
    """Yield `count` frames: first the handmade ones, then mutations of them."""
    valid, hostile, chance = [*make_valid()], [*make_hostile()], random.Random(seed)
    handmade = [*valid, *hostile]
    yield from handmade[:count]
    for _ in range(count - len(handmade)):
        yield mutate(chance.choice(chance.choice((valid, hostile))), handmade, chance)


def fuzz(seed: int, count: int) -> Counter[str]:
    """Decode frames and return the counts of replies and of reasons for `Malformed`. Other errors propagate."""
    found: Counter[str] = Counter()
    for frame in make_frames(seed, count):
        try:
            decode_reply(frame)
        except Malformed as error:
            found[str(error)] += 1
        else:
            found["a reply"] += 1
    return found


def fuzz_with_limit(seed: int, count: int) -> tuple[Counter[str], float]:
    """Fuzz with limited memory, and return the counts and the memory growth in MiB."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = mapped + EXTRA_MIB * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = fuzz(seed, count)
    return found, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10


def main() -> None:
    """Run the fuzzer and print the counts."""
    parser = argparse.ArgumentParser(prog="python -m scripts.fuzz_decoder", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--frames", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    began, total, grown = time.monotonic(), Counter[str](), 0.0
    each = options.frames // options.jobs
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for found, mib in pool.starmap(fuzz_with_limit, [(options.seed + job, each) for job in range(options.jobs)]):
            total += found
            grown = max(grown, mib)
    for reason, count in total.most_common():
        print(f"{count:>12,}  {reason}")
    seconds = time.monotonic() - began
    print(f"{total.total():>12,}  frames in {seconds:.0f} s; a process grew by {grown:.0f} MiB at most")


if __name__ == "__main__":
    main()
