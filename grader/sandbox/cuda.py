"""Memory on a GPU that two processes share, through CUDA's own calls: torch has none that an untrusted process may use.

CUDA runtime API, "Device management: IPC": a handle names a whole allocation, and is opened in another process.
"""

import ctypes
from typing import Any

import torch
from torch import Tensor

HANDLE_BYTES = 64
LAZY_PEER_ACCESS = 1


class CudaError(Exception):
    """A call of CUDA's failed; the message names it."""


class Handle(ctypes.Structure):
    """`cudaIpcMemHandle_t`."""

    _fields_ = (("reserved", ctypes.c_char * HANDLE_BYTES),)


class Allocation:
    """So many bytes at an address on the device, as torch reads them (`__cuda_array_interface__`, version 3)."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }


def runtime() -> Any:
    """The CUDA runtime that torch has loaded."""
    major = str(torch.version.cuda).partition(".")[0]
    return ctypes.CDLL(f"libcudart.so.{major}")


def call(result: int, what: str) -> None:
    """Turn a failed call into a CudaError."""
    if result != 0:
        raise CudaError(f"{what} failed with error {result}")


def allocated(size: int) -> tuple[Tensor, bytes]:
    """New memory for this process, uint8[size], and the handle that opens it in another. Raises CudaError."""
    torch.cuda.init()  # type: ignore[no-untyped-call]
    address, handle, cudart = ctypes.c_void_p(), Handle(), runtime()
    call(cudart.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(size)), "cudaMalloc")
    call(cudart.cudaIpcGetMemHandle(ctypes.byref(handle), address), "cudaIpcGetMemHandle")
    return as_tensor(address.value or 0, size), ctypes.string_at(ctypes.addressof(handle), HANDLE_BYTES)


def released(memory: Tensor) -> None:
    """Give the memory of `allocated` back. Raises CudaError."""
    call(runtime().cudaFree(ctypes.c_void_p(memory.data_ptr())), "cudaFree")


def opened(handle: bytes, size: int) -> Tensor:
    """The other process' memory, uint8[size]. Raises CudaError."""
    torch.cuda.init()  # type: ignore[no-untyped-call]
    address, own = ctypes.c_void_p(), Handle.from_buffer_copy(handle)
    call(runtime().cudaIpcOpenMemHandle(ctypes.byref(address), own, LAZY_PEER_ACCESS), "cudaIpcOpenMemHandle")
    return as_tensor(address.value or 0, size)


def as_tensor(address: int, size: int) -> Tensor:
    """Memory of the device that is not torch's own, as a tensor."""
    return torch.as_tensor(Allocation(address, size), device="cuda")
