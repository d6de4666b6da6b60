"""How drawn inputs are written down: msgpack of plain values, with a tag on everything that is not.

No pickle, and nothing that is read back can run code: classes and functions are looked up by name among the modules
that are imported already, and of classes only dataclasses are built.
"""

import dataclasses
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from torchkata.seam.values import is_tensor

if TYPE_CHECKING:
    from torch import Tensor

NOTHING = msgspec.msgpack.encode(None)  # of a test whose inputs can't be written down
LONGEST_INT = 63  # bits, beyond which msgpack has no number


class Unstorable(Exception):
    """An input holds something that has no written form, such as a source of further draws."""


class Damaged(Exception):
    """This was not written by us, or not for these tests."""


def encode(inputs: list[dict[str, Any]]) -> bytes:
    """The inputs of one test. Raises Unstorable."""
    return msgspec.msgpack.encode([{name: pack(value) for name, value in given.items()} for given in inputs])


def decode(content: bytes) -> list[dict[str, Any]] | None:
    """Undo `encode`; None for `NOTHING`. Raises Damaged."""
    try:
        packed = msgspec.msgpack.decode(content, type=list[dict[str, Any]] | None)
    except msgspec.MsgspecError:
        raise Damaged from None
    return None if packed is None else [{name: unpack(value) for name, value in given.items()} for given in packed]


def pack(value: Any) -> Any:
    """A plain value as it is, anything else as a list that begins with its tag. Raises Unstorable."""
    kind = type(value)
    if value is None or kind in (bool, float, str, bytes) or (kind is int and value.bit_length() <= LONGEST_INT):
        return value
    if is_tensor(value):
        return ["tensor", *pack_tensor(value)]
    if is_torch_dtype(value):
        return ["dtype", str(value).removeprefix("torch.")]
    if kind in PACKED:
        tag, packed = PACKED[kind]
        return [tag, *packed(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [pack(getattr(value, field.name)) for field in dataclasses.fields(value) if field.init]
        return ["dataclass", *name_of(kind), *fields]
    return ["named", *name_of(value)]


def is_torch_dtype(value: object) -> bool:
    """Whether it is one, which nothing is as long as torch is not imported."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.dtype)


def pack_tensor(tensor: "Tensor") -> list[Any]:
    """Dtype, shape, strides, where it begins in its storage, and all of that. Raises Unstorable."""
    import torch
    from torch import Tensor

    if type(tensor) is not Tensor or tensor.requires_grad or tensor.layout is not torch.strided:
        raise Unstorable(f"a tensor of {type(tensor).__name__}, {tensor.layout}")
    storage = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage()).numpy().tobytes()
    layout = [list(tensor.shape), list(tensor.stride()), tensor.storage_offset()]
    return [str(tensor.dtype).removeprefix("torch."), *layout, storage]


def unpack_tensor(dtype: str, shape: list[int], strides: list[int], offset: int, storage: bytes) -> "Tensor":
    """Undo `pack_tensor`."""
    import torch

    memory = torch.frombuffer(bytearray(storage), dtype=torch.uint8) if storage else torch.empty(0, dtype=torch.uint8)
    return torch.empty(0, dtype=getattr(torch, dtype)).set_(memory.untyped_storage(), offset, shape, strides)


def name_of(value: Any) -> list[str]:
    """Where a class or a function of a module is found. Raises Unstorable where it is not found there."""
    module = getattr(value, "__module__", None) or getattr(getattr(value, "__objclass__", None), "__module__", None)
    name = getattr(value, "__qualname__", None)
    try:
        if isinstance(module, str) and isinstance(name, str) and named(module, name) is value:
            return [module, name]
    except Damaged:
        pass
    raise Unstorable(f"a {type(value).__name__}")


def named(module: str, name: str) -> Any:
    """What has this name in a module that is imported. Raises Damaged where there is no such thing."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise Damaged
    return found


def unpack(value: Any) -> Any:
    """Undo `pack`. Raises Damaged."""
    if type(value) is not list:
        return value
    try:
        tag, *parts = value
        return UNPACKED[tag](*parts)
    except (ValueError, KeyError, TypeError, AttributeError, RuntimeError):
        raise Damaged from None


def build(module: str, name: str, *fields: Any) -> Any:
    """A dataclass, as it was. Raises Damaged."""
    kind = named(module, name)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        raise Damaged
    names = [field.name for field in dataclasses.fields(kind) if field.init]
    return kind(**dict(zip(names, map(unpack, fields), strict=True)))


PACKED: dict[type, tuple[str, Callable[[Any], Any]]] = {
    int: ("int", lambda value: [str(value)]),
    list: ("list", lambda value: map(pack, value)),
    tuple: ("tuple", lambda value: map(pack, value)),
    dict: ("dict", lambda value: [[pack(k), pack(v)] for k, v in value.items()]),
    np.ndarray: ("array", lambda value: [value.dtype.str, list(value.shape), value.tobytes()]),
}
UNPACKED: dict[str, Callable[..., Any]] = {
    "int": int,
    "list": lambda *items: [unpack(item) for item in items],
    "tuple": lambda *items: tuple(unpack(item) for item in items),
    "dict": lambda *items: {unpack(k): unpack(v) for k, v in items},
    "tensor": unpack_tensor,
    "dtype": lambda name: getattr(sys.modules["torch"], name),
    "array": lambda dtype, shape, content: np.frombuffer(bytearray(content), dtype=dtype).reshape(shape),
    "dataclass": build,
    "named": named,
}
