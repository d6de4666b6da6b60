"""What happens to checkpoints: full disks, runs that are killed, hostile files, other devices; staged or heard here."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode


@contextmanager
def small_files_only(limit: int) -> Iterator[None]:
    """Let no file of this process grow beyond `limit` bytes, as if the disk were full."""
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
    """Fails when it is written to a file."""

    def __reduce__(self) -> str:
        raise OSError("the disk is full")


class Failing(nn.Module):
    """A model whose state can't be written to the end."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def get_extra_state(self) -> Unwritable:
        """Becomes part of `state_dict()`."""
        return Unwritable()


class FileEvents:
    """Notes what this process does to files while `notes` is a list: the event's name, from where, and to where."""

    notes: list[list[str]] | None = None
    folder = ""
    listening = False

    @classmethod
    def listen(cls, folder: str) -> None:
        """Begin, in this folder; the interpreter has no way to end it."""
        cls.folder = folder
        if not cls.listening:
            cls.listening = True
            sys.addaudithook(cls.hear)

    @classmethod
    def hear(cls, event: str, args: tuple[Any, ...]) -> None:
        """One event of the interpreter's."""
        if cls.notes is not None and event == "os.rename":
            cls.notes.append([event, cls.place(args[0], args[2]), cls.place(args[1], args[3])])
        elif cls.notes is not None and event == "os.remove":
            cls.notes.append([event, cls.place(args[0], args[1])])

    @classmethod
    def place(cls, name: Any, descriptor: int) -> str:
        """The whole path of a name that may be relative to an open directory."""
        inside = descriptor >= 0 and os.path.samestat(os.fstat(descriptor), os.stat(cls.folder))
        return os.path.realpath(os.path.join(cls.folder, os.fsdecode(name)) if inside else os.fsdecode(name))


class Payload:
    """Makes a file when it is unpickled by something that trusts it."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, (self.mark,)


class Moves(TorchFunctionMode):
    """Notes whether a tensor is explicitly brought to the CPU."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen = self.seen or func in (Tensor.cpu, Tensor.to)
        return func(*args, **(kwargs or {}))
