"""Memory of a GPU that two processes share by file descriptor.

CUDA driver API, "Virtual Memory Management". Whoever has the descriptor can map the memory, in any PID namespace and as
any user. It lives until the last mapping and the last handle are gone, so a worker that maps it may end at any time.
"""

import contextlib
import ctypes
from ctypes import POINTER, byref, c_int, c_size_t, c_ubyte, c_uint64, c_ushort, c_void_p
from functools import cache
from typing import Any

import torch
from torch import Tensor

PINNED, ON_DEVICE, POSIX_DESCRIPTOR, MINIMUM, READ_WRITE = 1, 1, 1, 0, 3  # of the driver's enumerations
DEVICE = 0  # CUDA_VISIBLE_DEVICES shows no other one
NEEDED = {  # attributes of a device
    102: "it has no virtual memory management",
    103: "it can't share memory by file descriptor",
}


class CudaError(Exception):
    """A call of CUDA's failed; the message names it."""


class Location(ctypes.Structure):
    """`CUmemLocation`."""

    _fields_ = (("type", c_int), ("id", c_int))


class Flags(ctypes.Structure):
    """`allocFlags` of `CUmemAllocationProp`."""

    _fields_ = (("compression", c_ubyte), ("rdma", c_ubyte), ("usage", c_ushort), ("reserved", c_ubyte * 4))


class Properties(ctypes.Structure):
    """`CUmemAllocationProp`."""

    _fields_ = (("type", c_int), ("handles", c_int), ("location", Location), ("win32", c_void_p), ("flags", Flags))


class Access(ctypes.Structure):
    """`CUmemAccessDesc`."""

    _fields_ = (("location", Location), ("flags", c_int))


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
    """The CUDA driver's library. Raises CudaError where there is none."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise CudaError(f"the CUDA driver can't be loaded ({error})") from None
    for name, arguments in SIGNATURES.items():
        getattr(library, name).argtypes, getattr(library, name).restype = arguments, c_int
    return library


def call(name: str, *arguments: Any) -> None:
    """One call of the driver. Raises CudaError where it fails."""
    result = getattr(driver(), name)(*arguments)
    if result != 0:
        raise CudaError(f"{name} failed with error {result}")


def lacking() -> str:
    """Why the device can't share its memory, "" if it can. Starts CUDA. Raises CudaError."""
    call("cuInit", 0)
    for attribute, words in NEEDED.items():
        has = c_int()
        call("cuDeviceGetAttribute", byref(has), attribute, DEVICE)
        if not has.value:
            return words
    return ""


class DeviceMemory:
    """So many bytes of a device, mapped into this process; `tensor` is all of them, uint8[bytes]."""

    def __init__(self, size: int, descriptor: int | None = None) -> None:
        """New memory, or what a descriptor of another process' stands for. Raises CudaError."""
        start_context()
        properties = Properties(PINNED, POSIX_DESCRIPTOR, Location(ON_DEVICE, DEVICE), None, Flags())
        unit, handle, address = c_size_t(), c_uint64(), c_uint64()
        call("cuMemGetAllocationGranularity", byref(unit), byref(properties), MINIMUM)
        whole = -(-size // unit.value) * unit.value
        with contextlib.ExitStack() as undo:
            if descriptor is None:
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
        """A file descriptor of it, to be sent to another process and closed here. Raises CudaError."""
        found = c_int(-1)
        call("cuMemExportToShareableHandle", byref(found), self.handle, POSIX_DESCRIPTOR, 0)
        return found.value

    def release(self) -> None:
        """Give it back, once nothing that was queued here uses it any more. Raises CudaError."""
        torch.cuda.synchronize()
        del self.tensor
        self.undo.close()


class Allocation:
    """So many bytes at an address on the device, as torch reads them (`__cuda_array_interface__`, version 3)."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }


def start_context() -> None:
    """Let torch make the device's context, which the driver's calls of this thread then use."""
    torch.empty(1, device="cuda")


def as_tensor(address: int, size: int) -> Tensor:
    """Memory of the device that is not torch's own, as a tensor."""
    return torch.as_tensor(Allocation(address, size), device="cuda")


class Cuda:
    """The first device that CUDA shows."""

    def memory(self, size: int, descriptor: int | None = None) -> DeviceMemory:
        """New memory, or what a descriptor of another process' stands for. Raises CudaError."""
        return DeviceMemory(size, descriptor)

    def synchronize(self) -> None:
        """Wait until the device has done what this process has queued."""
        torch.cuda.synchronize()

    def free_bytes(self) -> int:
        """How much of its memory would be free if torch held none for this process."""
        return torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved()


CUDA = Cuda()
