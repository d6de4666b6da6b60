"""Encodes messages of plain values as bytes, and decodes them without executing or unpickling anything.

Messages are encoded with msgpack. They contain only the dtype and shape of each tensor or array; the data follows the
message. The receiver gets plain values or a ValueError, never an object chosen by the sender.
"""

import math
import struct
import sys
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import msgspec
import numpy as np

from torchkata.inside.text import Message
from torchkata.inside.values import MAX_AXES, MAX_DEPTH, MAX_INT_BYTES, Opaque, Plain, are_keys, is_array, is_tensor

MAX_FRAME = 64 * 2**20  # bytes of the largest message
TENSOR, OPAQUE, ARRAY, INTEGER = 1, 2, 3, 4
SIMPLE = (bool, int, float, str, Opaque, type(None))
LENGTH = struct.Struct("<I")
NUMPY_DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
TORCH_DTYPES = (*NUMPY_DTYPES, "bfloat16", "float8_e4m3fn", "float8_e5m2")


def encode(message: object) -> bytes:
    """Encode a message that consists of plain values, dataclasses and bytes."""
    contents: list[bytes] = []
    hook = partial(encode_extension, contents)
    try:
        outline = msgspec.msgpack.encode(message, enc_hook=hook)
    except OverflowError:  # msgpack has only 64-bit integers
        contents.clear()
        outline = msgspec.msgpack.encode(wrap_integers(message), enc_hook=hook)
    return b"".join([LENGTH.pack(len(outline)), outline, *contents])


def wrap_integers(message: Any) -> Any:
    """Return a copy of a message with integers of more than 64 bits as msgpack extensions."""
    if is_dataclass(message) and not isinstance(message, type):
        return {each.name: wrap_integers(getattr(message, each.name)) for each in fields(message)}
    if isinstance(message, (list, tuple)):
        return [*map(wrap_integers, message)]
    if isinstance(message, dict):
        return {key: wrap_integers(value) for key, value in message.items()}
    if type(message) is int and message.bit_length() > 63:
        return msgspec.msgpack.Ext(INTEGER, message.to_bytes(MAX_INT_BYTES, "big", signed=True))
    return message


def encode_extension(contents: list[bytes], value: object) -> msgspec.msgpack.Ext:
    """Encode a tensor, array or opaque value as a msgpack extension, and append its data to `contents`."""
    if is_tensor(value):
        name = str(value.dtype).removeprefix("torch.")
        if name not in TORCH_DTYPES:
            return encode_extension(contents, Opaque(f"{value.dtype} tensor"))
        if value.numel():
            contents.append(value.contiguous().flatten().view(sys.modules["torch"].uint8).numpy().tobytes())
        return msgspec.msgpack.Ext(TENSOR, msgspec.msgpack.encode([name, list(value.shape)]))
    if is_array(value):
        if value.dtype.name not in NUMPY_DTYPES:
            return encode_extension(contents, Opaque(f"{value.dtype} array"))
        contents.append(value.tobytes())
        return msgspec.msgpack.Ext(ARRAY, msgspec.msgpack.encode([value.dtype.name, list(value.shape)]))
    if isinstance(value, Opaque):
        return msgspec.msgpack.Ext(OPAQUE, msgspec.msgpack.encode(value.type_name))
    raise TypeError(f"a {type(value).__name__} is not a plain value")


def decode(frame: bytes, longest_outline: int = MAX_FRAME) -> Any:
    """Decode a message from a trusted sender. Raises ValueError if it is malformed."""
    if len(frame) < LENGTH.size:
        raise ValueError("the length is missing")
    (length,) = LENGTH.unpack_from(frame)
    if length > min(longest_outline, len(frame) - LENGTH.size):
        raise ValueError("the outline is too long")
    view = memoryview(frame)[LENGTH.size :]
    contents = Contents(view[length:])
    message = msgspec.msgpack.decode(view[:length], ext_hook=partial(decode_extension, contents))
    if contents.left:
        raise ValueError("surplus bytes after the last tensor")
    return message


class Contents:
    """The data of a message's tensors. Each byte is used only once, so a small message can't decode to huge tensors."""

    def __init__(self, view: memoryview) -> None:
        self.left = view

    def take(self, size: int) -> bytearray:
        """Return the next `size` bytes. Raises ValueError if fewer bytes are left."""
        if size > len(self.left):
            raise ValueError("too few bytes for the shape")
        taken, self.left = self.left[:size], self.left[size:]
        return bytearray(taken)


def decode_extension(contents: Contents, code: int, data: memoryview) -> Plain:
    """Decode a msgpack extension (the inverse of `encode_extension`). Raises ValueError if it is malformed."""
    if code == OPAQUE:
        return Opaque(msgspec.msgpack.decode(data, type=Message))
    if code == INTEGER:
        return int.from_bytes(data[:MAX_INT_BYTES], "big", signed=True)
    torch = sys.modules.get("torch")
    if code != ARRAY and (code != TENSOR or torch is None):
        raise ValueError("unknown extension")
    name, shape = msgspec.msgpack.decode(data, type=tuple[str, list[int]])
    if (
        name not in (NUMPY_DTYPES if code == ARRAY else TORCH_DTYPES)
        or len(shape) > MAX_AXES
        or min(shape, default=0) < 0
    ):
        raise ValueError("invalid dtype or shape")
    if math.prod(max(1, size) for size in shape) > MAX_FRAME:  # torch multiplies the other sizes even if one is 0
        raise ValueError("the shape is too large")
    dtype: Any = np.dtype(name) if code == ARRAY else getattr(torch, name)
    raw = contents.take(math.prod(shape) * dtype.itemsize)
    if code == ARRAY:
        numbers = np.frombuffer(raw, dtype=np.uint8 if name == "bool" else dtype)
        return (numbers != 0 if name == "bool" else numbers).reshape(shape)
    assert torch is not None
    if not raw:
        return torch.empty(shape, dtype=dtype)
    flat = torch.frombuffer(raw, dtype=torch.uint8 if name == "bool" else dtype)
    return (flat != 0 if name == "bool" else flat).reshape(shape)


def check_plain(value: Plain, depth: int = 0) -> None:
    """Raise ValueError if a value could not have been returned by `torchkata.inside.values.to_plain`."""
    if isinstance(value, list) and depth <= MAX_DEPTH:
        for item in value:
            check_plain(item, depth + 1)
    elif isinstance(value, dict) and depth <= MAX_DEPTH and are_keys(value):
        for item in value.values():
            check_plain(item, depth + 1)
    elif not (type(value) in SIMPLE or is_array(value) or is_tensor(value)):
        raise ValueError(f"a {type(value).__name__} is not a plain value")
