"""Probes for memmap_tokens that save the tokens, import the module again, and then load the tokens."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from torchkata import Text, typed

from .attempts import describe_error, refusal
from .residence import read_nothing_ahead, resident_bytes

CHUNK = 2**16
LOAD = "load_tokens(Path('tokens.npy'))"


def save_line(tokens: Tensor, literal: Callable[[Any], str], part: str = "") -> str:
    """Return the line of code that saves the tokens or a slice of them."""
    return f"save_tokens(Path('tokens.npy'), {literal(tokens.numpy())}{part})"


@contextmanager
def make_folder() -> Iterator[Path]:
    """Yield a temporary directory. Errors are ignored at the end because Windows cannot delete mapped files."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        yield Path(name)


def load_afresh(assignment: Any, path: str | Path) -> Any:
    """Load the tokens with a freshly imported module, as another process would.

    Raises RuntimeError if loading fails, but succeeds with the module that saved the tokens.
    """
    saver = assignment.memmap_tokens
    del assignment.memmap_tokens
    loader = assignment.memmap_tokens
    try:
        return loader.load_tokens(path)
    except Exception:
        if refusal(lambda: saver.load_tokens(path)):
            raise
        note = Text("another process can't load the tokens: only the one that saved them remembers what is needed")
        raise RuntimeError(note) from None


def copy_array(tokens: object) -> object:
    """Return a copy of an array, or a text if its byte order is not the machine's. Anything else is unchanged."""
    if isinstance(tokens, np.ndarray) and not tokens.dtype.isnative:
        return f"an array of dtype {tokens.dtype.str}, whose byte order is not the machine's"
    return np.array(tokens) if isinstance(tokens, np.ndarray) else tokens


@typed(lambda tokens, step, literal: f"{save_line(tokens, literal, f'[::{step}]' if step > 1 else '')}\n{LOAD}")
def round_trip(assignment: Any, tokens: Tensor, step: int) -> object:
    """Save every `step`-th token and load them."""
    with make_folder() as place:
        path = place / "tokens.npy"
        assignment.memmap_tokens.save_tokens(path, tokens.numpy()[::step])
        return copy_array(load_afresh(assignment, path))


@typed(
    lambda tokens, name, beside, _as_path, literal: "\n".join(
        [
            f"path, beside = {', '.join(f'Path({each!r})' if _as_path else repr(each) for each in (name, beside))}",
            f"save_tokens(path, {literal(tokens.numpy())})",
            "load_tokens(path)",
            "save_tokens(beside, np.arange(2, dtype=np.int64))",
            "load_tokens(path)",
            f"save_tokens(path, {literal(tokens.numpy())})",
            "load_tokens(beside)",
        ]
    )
)
def named(assignment: Any, tokens: Tensor, name: str, beside: str, _as_path: bool) -> dict[str, object]:
    """Return the names of the files written for `name`, and the tokens loaded from it.

    Then save other tokens to `beside`, and load the first ones again ("later"). Save the first ones again, and load the
    other ones ("beside").
    """
    with make_folder() as place:
        path, other = (place / each if _as_path else f"{place}/{each}" for each in (name, beside))
        assignment.memmap_tokens.save_tokens(path, tokens.numpy())
        files = sorted(file.name for file in place.iterdir() if file.is_file())
        if name not in files:
            return {"files": files}

        def load_again(again: str | Path) -> object:
            try:
                return copy_array(load_afresh(assignment, again))
            except Exception as error:
                return describe_error(error, assignment.memmap_tokens).replace(f"{place}/", "")

        reply = {"files": files, "tokens": copy_array(load_afresh(assignment, path))}
        assignment.memmap_tokens.save_tokens(other, np.arange(2, dtype=np.int64))
        reply["beside at first"] = load_again(other)
        reply["later"] = load_again(path)
        assignment.memmap_tokens.save_tokens(path, tokens.numpy())
        return reply | {"beside": load_again(other)}


@typed(lambda tokens, literal: f"{save_line(tokens, literal)}\nPath('tokens.npy').stat().st_size")
def bytes_on_disk(assignment: Any, tokens: Tensor) -> int:
    """Return the total size of all files written."""
    with make_folder() as place:
        assignment.memmap_tokens.save_tokens(place / "tokens.npy", tokens.numpy())
        return sum(file.stat().st_size for file in place.iterdir())


@typed(
    lambda first, second, literal: "\n".join(
        [
            f"first = {literal(first.numpy())}",
            f"second = {literal(second.numpy())}",
            "save_tokens(Path('tokens.npy'), first)",
            "save_tokens(Path('tokens.npy'), second)",
            LOAD,
        ]
    )
)
def saved_twice(assignment: Any, first: Tensor, second: Tensor) -> object:
    """Return the tokens loaded after two saves to the same path."""
    with make_folder() as place:
        path = place / "tokens.npy"
        for tokens in (first, second):
            assignment.memmap_tokens.save_tokens(path, tokens.numpy())
        return copy_array(load_afresh(assignment, path))


@typed(
    lambda tokens, literal: (
        f"{save_line(tokens, literal)}\ntokens = {LOAD}\ntry:\n    tokens[:] = 0\nexcept ValueError:\n    pass\n{LOAD}"
    )
)
def assigned_to(assignment: Any, tokens: Tensor) -> list[object]:
    """Return the tokens loaded before and after an attempt to overwrite every element."""
    with make_folder() as place:
        path = place / "tokens.npy"
        assignment.memmap_tokens.save_tokens(path, tokens.numpy())
        first = load_afresh(assignment, path)
        before = copy_array(first)
        if isinstance(first, np.ndarray):
            refusal(lambda: first.__setitem__(slice(None), 0))
        if isinstance(first, np.memmap):
            first.flush()
        return [before, copy_array(load_afresh(assignment, path))]


@typed(
    "\n".join(
        [
            "save_tokens(Path('tokens.npy'), np.zeros(count, dtype=np.uint16))",
            f"tokens = {LOAD}",
            "tokens[[0, count // 2, -1]].sum()",
        ]
    )
)
def bytes_in_memory(assignment: Any, count: int) -> object:
    """Return how many bytes are resident after three of `count` tokens have been accessed, and what owns them.

    On Windows, return None. A newly written file is still in the page cache. Therefore, load a sparse
    copy of it, in which all tokens are 0.
    """
    if sys.platform == "win32":
        return None
    with make_folder() as written, make_folder() as copied:
        assignment.memmap_tokens.save_tokens(written / "tokens.npy", np.zeros(count, dtype=np.uint16))
        load_afresh(assignment, written / "tokens.npy")  # if another process can't load them, say so
        for file in written.iterdir():
            copy_with_holes(file, copied / file.name)
        tokens = load_afresh(assignment, copied / "tokens.npy")
        if not isinstance(tokens, np.ndarray) or tokens.shape != (count,):
            return type(tokens).__name__
        read_nothing_ahead(tokens)
        tokens[[0, count // 2, -1]].sum()
        return {"bytes": resident_bytes(tokens, copied / "tokens.npy"), "memory": find_memory(tokens)}


def find_memory(tokens: np.ndarray) -> str:
    """Return the name of the type of the object whose memory an array uses."""
    owner: Any = tokens
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return type(owner).__name__


def copy_with_holes(source: Path, target: Path) -> None:
    """Create a sparse copy, in which blocks of zeros become holes that have never been in memory."""
    with source.open("rb") as old, target.open("wb") as new:
        while chunk := old.read(CHUNK):
            if chunk.count(0) < len(chunk):
                new.write(chunk)
            else:
                new.seek(len(chunk), 1)
        new.truncate(source.stat().st_size)
