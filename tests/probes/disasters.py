"""Simulated failures for checkpoints (full disks, malicious files, other devices) and a log of file operations."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode


@contextmanager
def small_files_only(limit: int) -> Iterator[None]:
    """Limit the size of files written by this process to `limit` bytes, as if the disk were full."""
    if sys.platform == "win32":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class Unwritable:
    """An object that raises OSError when it is pickled."""

    def __reduce__(self) -> str:
        raise OSError("the disk is full")


class Failing(nn.Module):
    """A model whose state cannot be saved completely."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def get_extra_state(self) -> Unwritable:
        """Return the part of `state_dict()` that cannot be pickled."""
        return Unwritable()


class FileEvents:
    """A log of file renames and removals: event names and paths. Events are recorded while `notes` is a list."""

    notes: list[list[str]] | None = None
    folder = ""
    listening = False

    @classmethod
    def listen(cls, folder: str) -> None:
        """Start recording events in the given folder. The audit hook cannot be removed."""
        cls.folder = folder
        if not cls.listening:
            cls.listening = True
            sys.addaudithook(cls.record)

    @classmethod
    def record(cls, event: str, args: tuple[Any, ...]) -> None:
        """Record an audit event."""
        if cls.notes is not None and event == "os.rename":
            cls.notes.append([event, cls.resolve(args[0], args[2]), cls.resolve(args[1], args[3])])
        elif cls.notes is not None and event == "os.remove":
            cls.notes.append([event, cls.resolve(args[0], args[1])])

    @classmethod
    def resolve(cls, name: Any, descriptor: int) -> str:
        """Return the absolute path of a name that may be relative to an open directory."""
        inside = descriptor >= 0 and os.path.samestat(os.fstat(descriptor), os.stat(cls.folder))
        return os.path.realpath(os.path.join(cls.folder, os.fsdecode(name)) if inside else os.fsdecode(name))


class Payload:
    """An object that creates a folder when it is unpickled without protection."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, (self.mark,)


class Moves(TorchFunctionMode):
    """Records whether a tensor is moved explicitly with `cpu()` or `to()`."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen = self.seen or func in (Tensor.cpu, Tensor.to)
        return func(*args, **(kwargs or {}))
