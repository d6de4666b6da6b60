"""What the grader and its workers ask of a device beside torch's operations: CUDA, or what a test puts in its place."""

from typing import Protocol

from torch import Tensor


class SharedMemory(Protocol):
    """Memory of a device, mapped into this process; `tensor` is all of it, uint8[bytes]."""

    tensor: Tensor

    def descriptor(self) -> int:
        """A file descriptor of it, to be sent to another process and closed here."""

    def release(self) -> None:
        """Give it back, once nothing that was queued here uses it any more."""


class Accelerator(Protocol):
    """One device, on which work is queued and done later."""

    def memory(self, size: int, descriptor: int | None = None) -> SharedMemory:
        """New memory, or what a descriptor of another process' stands for."""

    def synchronize(self) -> None:
        """Wait until the device has done what this process has queued."""

    def free_bytes(self) -> int:
        """How much of its memory would be free if torch held none for this process."""
