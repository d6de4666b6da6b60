"""The interface of a device that the grader and its workers share: CUDA, or a fake device in tests."""

from typing import Protocol

from torch import Tensor


class SharedMemory(Protocol):
    """Device memory that is mapped into this process; `tensor` covers all of it, uint8[bytes]."""

    tensor: Tensor

    def descriptor(self) -> int:
        """Return a new file descriptor of the memory to send to another process; the caller closes it."""

    def release(self) -> None:
        """Unmap the memory. Work that this process has queued must no longer use the memory."""


class Accelerator(Protocol):
    """A device that runs queued work asynchronously."""

    def memory(self, size: int, descriptor: int | None = None) -> SharedMemory:
        """Allocate memory, or map another process's memory if its `descriptor` is given."""

    def synchronize(self) -> None:
        """Wait until the device has finished the work that this process has queued."""

    def free_bytes(self) -> int:
        """Return the free bytes of device memory. Memory in this process's torch cache counts as free."""
