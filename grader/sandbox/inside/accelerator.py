"""The interface of a device shared by the grader and its workers: CUDA, or a fake device in tests."""

from typing import Protocol

from torch import Tensor


class SharedMemory(Protocol):
    """Device memory that is mapped into this process. `tensor` covers all of it as uint8[bytes]."""

    tensor: Tensor

    def descriptor(self) -> int:
        """Return a new file descriptor for the memory, which can be sent to another process.

        The caller must close the descriptor.
        """

    def release(self) -> None:
        """Unmap the memory. The caller must ensure that no queued work of this process still uses it."""


class Accelerator(Protocol):
    """A device that executes queued work asynchronously."""

    def memory(self, size: int, descriptor: int | None = None) -> SharedMemory:
        """Allocate memory, or map the memory of another process if its `descriptor` is given."""

    def synchronize(self) -> None:
        """Wait until the device has finished all work queued by this process."""

    def free_bytes(self) -> int:
        """Return the number of free bytes of device memory, including the unused part of this process's torch cache."""
