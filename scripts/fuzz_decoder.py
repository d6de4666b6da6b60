"""Feeds the decoder of workers' replies with frames that are mutated or made by hand, always the same from a seed.

Run: python -m scripts.fuzz_decoder [--frames 10000000] [--seed 0] [--jobs 2]

Nothing but `Malformed` may come of a frame, or a reply of plain values; the memory of the process is capped meanwhile.
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

ROOM_MIB = 256  # that a process may take beyond what it begins with
START = b"\x82\xa7outcome\xa8returned\xa5value"  # of a reply, up to its value
MOST = 2**14  # bytes of a frame that grows
TELLING = (0, 1, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xC0, 0xC1, *range(0xC4, 0xE0), 0xFF)  # bytes that msgpack reads
LENGTHS = (0, 1, 2**16 - 1, 2**16, 2**20, 2**20 + 1, 2**26, 2**31 - 1, 2**31, 2**32 - 1)
ANY_SHAPE: tuple[list[int], ...] = (
    [],
    [0],
    [1] * 8,
    [1] * 9,
    [1] * 65,
    [0, *[2**39] * 7],
    [-1, -1],
    [2**63],
    [2**64 - 1, 0],
    [2, 3],
)


def framed(outline: bytes, contents: bytes = b"") -> bytes:
    """A message as it lies in a frame."""
    return channel.LENGTH.pack(len(outline)) + outline + contents


def honest() -> Iterator[bytes]:
    """Replies of every kind of plain value."""
    values: list[object] = [None, True, 7, -(2**63), 2.5, float("nan"), "text", "\u202e" * 40, Opaque("module.Type")]
    values += [torch.ones(2, 3, dtype=getattr(torch, name)) for name in channel.TORCH_DTYPES]
    values += [np.ones((3, 2), dtype=name) for name in channel.NUMPY_DTYPES]
    values += [torch.zeros(0, 4), np.zeros((2, 0, 3)), torch.tensor(1.5), torch.ones([1] * 8)]
    values += [[torch.ones(3), [1, 2, [3.0, None]]], {"key": [torch.ones(2)], "other": {"deep": {"er": "x"}}}]
    values += [[[[[[[[[[[1]]]]]]]]]], {str(number): number for number in range(40)}, list(range(300))]
    yield from (encode(Reply("returned", value)) for value in values)
    yield encode(Reply("raised", error="ValueError: no", file="linear.py", line=7, source="raise ValueError('no')"))
    yield encode(Reply("not_written", error="file not found", file="linear.py"))


def hostile() -> Iterator[bytes]:
    """What nobody sends by accident."""
    pack = msgspec.msgpack.encode
    exts = [msgspec.msgpack.Ext(code, data) for code in (1, 2, 3, 4, -1, 127) for data in (b"", b"\x90", b"\xff" * 300)]
    exts += [
        msgspec.msgpack.Ext(code, pack([name, shape]))
        for code, name, shape in itertools.product((1, 3), ("float32", "bool", "object", "bfloat16"), ANY_SHAPE)
    ]
    for ext in exts:
        for contents in (b"", bytes(24)):
            yield framed(START + pack(ext), contents)
            yield framed(START + b"\x81" + pack(ext) + b"\xc0", contents)  # as the key of a dict
            yield framed(START + b"\x81\x91" + pack(ext) + b"\xc0", contents)  # as a list that is the key of a dict
    for head in (b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff"):
        yield framed(START + head)
    yield framed(START + b"\x91" * 5000 + b"\xc0")
    yield framed(START + b"\x81\x91" * 2000 + b"\xc0")
    yield framed(START + b"\xd6\xff\xff\xff\xff\xff")  # a timestamp
    yield framed(b"\x82\xa7outcome\xa8returned\xa5error\xa4\xff\xfe\xed\xa0")
    yield framed(pack({"outcome": "returned", "value": 1, "line": 2**64 - 1, "error": "x" * 5000, "file": "\0" * 900}))
    yield b""
    yield b"\xff" * 4


def mutated(frame: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """The frame with a few changes: mostly of its outline, whose length is then right, so that the rest is read."""
    if chance.random() < 0.2 or len(frame) < channel.LENGTH.size:
        return changed(frame, others, chance)
    (length,) = channel.LENGTH.unpack_from(frame)
    outline, contents = frame[channel.LENGTH.size :][:length], frame[channel.LENGTH.size :][length:]
    if chance.random() < 0.2:
        return framed(outline, changed(contents, others, chance))
    return framed(changed(outline, others, chance), contents)


def changed(part: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """One to three changes."""
    data = bytearray(part)
    for _ in range(chance.randint(1, 3)):
        place, kind = chance.randrange(len(data) + 1), chance.randrange(8)
        if kind <= 1:
            data[place : place + 1] = bytes([chance.randrange(256)])
        elif kind == 2:
            data[place : place + 1] = bytes([chance.choice(TELLING)])
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
        del data[MOST:]
    return bytes(data)


def frames(seed: int, count: int) -> Iterator[bytes]:
    """So many: those made by hand first, then mutations of all."""
    good, bad, chance = [*honest()], [*hostile()], random.Random(seed)
    made = [*good, *bad]
    yield from made[:count]
    for _ in range(count - len(made)):
        yield mutated(chance.choice(chance.choice((good, bad))), made, chance)


def fuzz(seed: int, count: int) -> Counter[str]:
    """Decode them. How many were replies, and how many malformed, by the reason; raises what else is raised."""
    found: Counter[str] = Counter()
    for frame in frames(seed, count):
        try:
            decode_reply(frame)
        except Malformed as error:
            found[str(error)] += 1
        else:
            found["a reply"] += 1
    return found


def capped(seed: int, count: int) -> tuple[Counter[str], float]:
    """The same in a process of limited memory; and how much that has grown, in MiB."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = mapped + ROOM_MIB * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = fuzz(seed, count)
    return found, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10


def main() -> None:
    """As typed."""
    parser = argparse.ArgumentParser(prog="python -m scripts.fuzz_decoder", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--frames", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    began, total, grown = time.monotonic(), Counter[str](), 0.0
    each = asked.frames // asked.jobs
    with multiprocessing.get_context("spawn").Pool(asked.jobs) as pool:
        for found, mib in pool.starmap(capped, [(asked.seed + job, each) for job in range(asked.jobs)]):
            total += found
            grown = max(grown, mib)
    for reason, count in total.most_common():
        print(f"{count:>12,}  {reason}")
    seconds = time.monotonic() - began
    print(f"{total.total():>12,}  frames in {seconds:.0f} s; a process grew by {grown:.0f} MiB at most")


if __name__ == "__main__":
    main()
