"""Shares GPU memory between two processes through a file descriptor.

This module uses the virtual memory management functions of the CUDA driver API. Any process that has the descriptor can
map the memory, regardless of its PID namespace and user. The memory is freed when its last mapping and handle are
released, so a worker that has mapped the memory can be killed at any time.
"""

import contextlib
import ctypes
from ctypes import POINTER, byref, c_int, c_size_t, c_ubyte, c_uint64, c_ushort, c_void_p
from functools import cache
from typing import Any

import torch
from torch import Tensor

PINNED, ON_DEVICE, POSIX_DESCRIPTOR, MINIMUM, READ_WRITE = 1, 1, 1, 0, 3  # enum values of the driver API
DEVICE = 0  # CUDA_VISIBLE_DEVICES contains only one device
NEEDED = {  # required device attributes, and the message if an attribute is missing
    102: "it has no virtual memory management",
    103: "it can't share memory by file descriptor",
}


class CudaError(Exception):
    """Raised if a call of the CUDA driver fails. The message contains the name of the call."""


def define_structure(name: str, **fields: type) -> Any:
    """Define a C structure of the driver's API."""
    return type(name, (ctypes.Structure,), {"_fields_": tuple(fields.items())})


Location = define_structure("CUmemLocation", type=c_int, id=c_int)
Flags = define_structure("allocFlags", compression=c_ubyte, rdma=c_ubyte, usage=c_ushort, reserved=c_ubyte * 4)
Properties = define_structure(
    "CUmemAllocationProp", type=c_int, handles=c_int, location=Location, win32=c_void_p, flags=Flags
)
Access = define_structure("CUmemAccessDesc", location=Location, flags=c_int)
SIGNATURES = {
    "cuInit": (ctypes.c_uint,),
    "cuDeviceGetAttribute": (POINTER(c_int), c_int, c_int),
    "cuMemGetAllocationGranularity": (POINTER(c_size_t), POINTER(Properties), c_int),
    "cuMemCreate": (POINTER(c_uint64), c_size_t, POINTER(Properties), c_uint64),
    "cuMemExportToShareableHandle": (c_void_p, c_uint64, c_int, c_uint64),
    "cuMemImportFromShareableHandle": (POINTER(c_uint64), c_void_p, c_int),
    "cuMemAddressReserve": (POINTER(c_uint64), c_size_t, c_size_t, c_uint64, c_uint64),
    "cuMemMap": (c_uint64, c_size_t, c_size_t, c_uint64, c_uint64),
    "cuMemSetAccess": (c_uint64, c_size_t, POINTER(Access), c_size_t),
    "cuMemUnmap": (c_uint64, c_size_t),
    "cuMemAddressFree": (c_uint64, c_size_t),
    "cuMemRelease": (c_uint64,),
}


@cache
def driver() -> Any:
    """Load the CUDA driver library. Raises CudaError if that fails."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise CudaError(f"the CUDA driver can't be loaded ({error})") from None
    for name, arguments in SIGNATURES.items():
        getattr(library, name).argtypes, getattr(library, name).restype = arguments, c_int
    return library


def call(name: str, *arguments: Any) -> None:
    """Call a driver function. Raises CudaError if it fails."""
    result = getattr(driver(), name)(*arguments)
    if result != 0:
        raise CudaError(f"{name} failed with error {result}")


def lacking() -> str:
    """Return why the device can't share its memory, or "" if it can.

    This initializes CUDA. Raises CudaError if a driver call fails.
    """
    call("cuInit", 0)
    for attribute, words in NEEDED.items():
        has = c_int()
        call("cuDeviceGetAttribute", byref(has), attribute, DEVICE)
        if not has.value:
            return words
    return ""


class DeviceMemory:
    """Device memory that is mapped into this process. `tensor` covers all of it as uint8[bytes]."""

    def __init__(self, size: int, descriptor: int | None = None) -> None:
        """Allocate memory, or map the memory of another process if its `descriptor` is given.

        Raises CudaError if that fails.
        """
        start_context()
        properties = Properties(PINNED, POSIX_DESCRIPTOR, Location(ON_DEVICE, DEVICE), None, Flags())
        unit, handle, address = c_size_t(), c_uint64(), c_uint64()
        call("cuMemGetAllocationGranularity", byref(unit), byref(properties), MINIMUM)
        whole = -(-size // unit.value) * unit.value
        with contextlib.ExitStack() as undo:
            if descriptor is None:
                torch.cuda.empty_cache()  # the driver can't use memory that torch keeps
                call("cuMemCreate", byref(handle), whole, byref(properties), 0)
            else:
                call("cuMemImportFromShareableHandle", byref(handle), c_void_p(descriptor), POSIX_DESCRIPTOR)
            self.handle = handle.value
            undo.callback(call, "cuMemRelease", self.handle)
            call("cuMemAddressReserve", byref(address), whole, 0, 0, 0)
            undo.callback(call, "cuMemAddressFree", address, whole)
            call("cuMemMap", address, whole, 0, self.handle, 0)
            undo.callback(call, "cuMemUnmap", address, whole)
            access = Access(properties.location, READ_WRITE)
            call("cuMemSetAccess", address, whole, byref(access), 1)
            self.tensor = as_tensor(address.value, size)
            self.undo = undo.pop_all()

    def descriptor(self) -> int:
        """Return a new file descriptor for the memory, which the caller must close. Raises CudaError if that fails."""
        found = c_int(-1)
        call("cuMemExportToShareableHandle", byref(found), self.handle, POSIX_DESCRIPTOR, 0)
        return found.value

    def release(self) -> None:
        """Wait for queued work to finish and unmap the memory. Raises CudaError if unmapping fails."""
        torch.cuda.synchronize()
        del self.tensor
        self.undo.close()


class Allocation:
    """Device memory in the form that torch can import (`__cuda_array_interface__`, version 3)."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


def start_context() -> None:
    """Let torch create the device context, which is used by later driver calls in this thread."""
    torch.empty(1, device="cuda")


def as_tensor(address: int, size: int) -> Tensor:
    """Return a tensor that uses device memory not allocated by torch."""
    return torch.as_tensor(Allocation(address, size), device="cuda")


class Cuda:
    """The first device that is visible to CUDA."""

    def memory(self, size: int, descriptor: int | None = None) -> DeviceMemory:
        """Allocate memory, or map the memory of another process if its `descriptor` is given.

        Raises CudaError if that fails.
        """
        return DeviceMemory(size, descriptor)

    def synchronize(self) -> None:
        """Wait until the device has finished all work queued by this process."""
        torch.cuda.synchronize()

    def free_bytes(self) -> int:
        """Return the free device memory, including the unused part of this process's torch cache."""
        return torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved()


CUDA = Cuda()
