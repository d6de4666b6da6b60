"""Probes of memmap_tokens: files that are written, and read by a module that knows nothing of the writing."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from torchkata import typed

from .attempts import refusal
from .residence import read_nothing_ahead, resident_bytes

CHUNK = 2**16
LOAD = "load_tokens(Path('tokens.bin'))"


def saved(tokens: Tensor, literal: Callable[[Any], str], part: str = "") -> str:
    """The tokens, or a part of them, and what saves them, as it is typed."""
    return f"save_tokens(Path('tokens.bin'), {literal(tokens.numpy())}{part})"


@contextmanager
def folder() -> Iterator[Path]:
    """A directory for one probe; Windows keeps what is still mapped."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        yield Path(name)


def loaded(assignment: Any, path: str | Path) -> Any:
    """What a freshly imported module loads."""
    assignment.forget("memmap_tokens")
    return assignment.memmap_tokens.load_tokens(path)


def copy_of(tokens: object) -> object:
    """A copy of an array; anything else as it is."""
    return np.array(tokens) if isinstance(tokens, np.ndarray) else tokens


@typed(lambda tokens, step, literal: f"{saved(tokens, literal, f'[::{step}]' if step > 1 else '')}\n{LOAD}")
def round_trip(assignment: Any, tokens: Tensor, step: int) -> object:
    """Every `step`-th token saved and loaded."""
    with folder() as place:
        path = place / "tokens.bin"
        assignment.memmap_tokens.save_tokens(path, tokens.numpy()[::step])
        return copy_of(loaded(assignment, path))


@typed(
    lambda tokens, name, _as_path, literal: "\n".join(
        [
            f"path = Path({name!r})" if _as_path else f"path = {name!r}",
            f"save_tokens(path, {literal(tokens.numpy())})",
            "load_tokens(path)",
        ]
    )
)
def named(assignment: Any, tokens: Tensor, name: str, _as_path: bool) -> dict[str, object]:
    """The names of the files that saving under this name has written, and what is loaded if that name is among them.

    Before it is loaded, other tokens are saved beside it, under a name that ends in something else.
    """
    with folder() as place:
        path = place / name if _as_path else f"{place}/{name}"
        assignment.memmap_tokens.save_tokens(path, tokens.numpy())
        files = sorted(file.name for file in place.iterdir() if file.is_file())
        assignment.memmap_tokens.save_tokens((place / name).with_suffix(".other"), np.arange(2, dtype=np.int64))
        return {"files": files, "tokens": copy_of(loaded(assignment, path)) if name in files else None}


@typed(lambda tokens, literal: f"{saved(tokens, literal)}\nPath('tokens.bin').stat().st_size")
def bytes_on_disk(assignment: Any, tokens: Tensor) -> int:
    """What all files take that were written."""
    with folder() as place:
        assignment.memmap_tokens.save_tokens(place / "tokens.bin", tokens.numpy())
        return sum(file.stat().st_size for file in place.iterdir())


@typed(
    lambda first, second, literal: "\n".join(
        [
            f"first = {literal(first.numpy())}",
            f"second = {literal(second.numpy())}",
            "save_tokens(Path('tokens.bin'), first)",
            LOAD,
            "save_tokens(Path('tokens.bin'), second)",
            LOAD,
        ]
    )
)
def saved_twice(assignment: Any, first: Tensor, second: Tensor) -> list[object]:
    """What is loaded of the first, and after the second has been saved under its name."""
    with folder() as place:
        path, found = place / "tokens.bin", []
        for tokens in (first, second):
            assignment.memmap_tokens.save_tokens(path, tokens.numpy())
            found.append(copy_of(loaded(assignment, path)))
        return found


@typed(
    lambda tokens, literal: (
        f"{saved(tokens, literal)}\ntokens = {LOAD}\ntry:\n    tokens[:] = 0\nexcept ValueError:\n    pass\n{LOAD}"
    )
)
def assigned_to(assignment: Any, tokens: Tensor) -> list[object]:
    """What is loaded, and what a second load gives after every element of it was overwritten, or could not be."""
    with folder() as place:
        path = place / "tokens.bin"
        assignment.memmap_tokens.save_tokens(path, tokens.numpy())
        first = loaded(assignment, path)
        before = copy_of(first)
        if isinstance(first, np.ndarray):
            refusal(lambda: first.__setitem__(slice(None), 0))
        if isinstance(first, np.memmap):
            first.flush()
        return [before, copy_of(loaded(assignment, path))]


@typed(
    "\n".join(
        [
            "save_tokens(Path('tokens.bin'), np.zeros(count, dtype=np.uint16))",
            f"tokens = {LOAD}",
            "tokens[[0, count // 2, -1]].sum()",
        ]
    )
)
def bytes_in_memory(assignment: Any, count: int) -> object:
    """How much of `count` tokens is in memory after three have been read, by the system's account; None on Windows.

    What has just been written is still in memory. So the files, zeros but for their headers, are copied with holes.
    """
    if sys.platform == "win32":
        return None
    with folder() as written, folder() as copied:
        assignment.memmap_tokens.save_tokens(written / "tokens.bin", np.zeros(count, dtype=np.uint16))
        for file in written.iterdir():
            copy_with_holes(file, copied / file.name)
        tokens = loaded(assignment, copied / "tokens.bin")
        if not isinstance(tokens, np.ndarray) or tokens.shape != (count,):
            return type(tokens).__name__
        read_nothing_ahead(tokens)
        tokens[[0, count // 2, -1]].sum()
        return resident_bytes(tokens)


def copy_with_holes(source: Path, target: Path) -> None:
    """Write only what is not zero; the rest of the copy has never been in memory."""
    with source.open("rb") as old, target.open("wb") as new:
        while chunk := old.read(CHUNK):
            if chunk.count(0) < len(chunk):
                new.write(chunk)
            else:
                new.seek(len(chunk), 1)
        new.truncate(source.stat().st_size)
