"""Plain values: the only values that may be passed between a test and the student's code.

Plain values are None, bool, int, float, str, lists, dicts whose keys are str or int, numeric NumPy arrays, and dense,
detached CPU tensors with at most `MAX_AXES` axes. Tuples become lists. Any other object is replaced by an `Opaque`,
which contains only the name of its type. Because no other objects are passed, no code is passed either.

torch is imported only if the course uses it.
"""

import sys
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from torchkata.inside.text import Message, Text

if TYPE_CHECKING:
    from torch import Tensor

MAX_DEPTH = 12
MAX_INT_BYTES = 32  # maximum size of an int; counts of real models need more than 8 bytes
MAX_AXES = 8  # maximum number of axes; many axes of size 1 would produce deeply nested lists of a few numbers
MAX_INT_KEYS = 4096  # in one dict; unlike those of strings, hashes of ints can be chosen so that the dict becomes slow
MAX_KEY = 2**63 - 1  # largest int that is a key
MAX_TYPE_NAME = 200  # maximum number of characters of the name of a type
PLAIN_VALUES = (
    "only None, bool, int, float, str, tensors, arrays of numbers, and lists, tuples and dicts of these can be passed "
    "to or compared with a student's code (keys of dicts: str or int)"
)
NUMBERS = "biufc"  # kinds of plain dtypes: bool, signed and unsigned integers, floats, complex numbers


def is_tensor(value: object) -> "TypeGuard[Tensor]":
    """Return whether a value is a tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def contains_tensor(value: object) -> bool:
    """Return whether a value is a tensor, or a list or dict with a tensor at any depth."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return is_tensor(value) or any(map(contains_tensor, inner))


def is_array(value: object) -> TypeGuard[np.ndarray[Any, Any]]:
    """Return whether a value is a numeric array, excluding instances of subclasses."""
    return type(value) is np.ndarray and value.dtype.kind in NUMBERS and value.dtype.isnative


class Opaque:
    """A placeholder for an object that is not a plain value. It does not compare equal to any plain value.

    `type_name` is the name of its type, or our description of the object.
    """

    def __init__(self, type_name: Message) -> None:
        name = "".join(c if c.isprintable() else " " for c in str(type_name)[:MAX_TYPE_NAME])
        self.type_name = type_name if name == str(type_name) else name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and other.type_name == self.type_name

    def __hash__(self) -> int:
        return hash(self.type_name)


class AnswerRead(Exception):
    """Raised when a test inspects an `Unread` answer."""


class Unread:
    """A placeholder for an answer. The assertions accept it, and any other use raises `AnswerRead`.

    If a test fails even with such answers, it fails regardless of the answer.
    """

    def refuse(self, *_: object, **__: object) -> Any:
        """Raise `AnswerRead` for any operation."""
        raise AnswerRead

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = refuse
    __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __call__ = __getattr__ = refuse
    __int__ = __float__ = __index__ = __abs__ = __neg__ = __str__ = __repr__ = __array__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = refuse


Plain: TypeAlias = Any
"""The type of plain values: None, bool, int, float, str, Tensor, ndarray, and lists and dicts of plain values."""


def to_plain(value: object, depth: int = 0) -> Plain:
    """Copy `value`, converting tuples to lists and unsupported objects to `Opaque`."""
    if value is None or type(value) in (bool, float, Opaque):
        return value
    if is_tensor(value):
        return to_plain_tensor(value)
    if is_array(value):
        if value.ndim > MAX_AXES:
            return Opaque(Text("array of {count} axes", count=value.ndim))
        return np.array(value, order="C")
    if isinstance(value, int):
        return int(value) if value.bit_length() < 8 * MAX_INT_BYTES else Opaque(Text("int of more than 255 bits"))
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, np.generic) and value.dtype.kind in NUMBERS:
        return Opaque(f"np.{value.dtype}({value.item()})")  # for example np.int64(3)
    name = name_type(value)
    if isinstance(value, (list, tuple, dict)) and depth >= MAX_DEPTH:
        return Opaque(Text("{type} inside {count} others", type=name, count=depth))
    if isinstance(value, (list, tuple)):
        return [to_plain(item, depth + 1) for item in value]
    if isinstance(value, dict):
        if are_keys(value):
            return {to_plain(key): to_plain(item, depth + 1) for key, item in value.items()}
        kinds = ", ".join(sorted({name_type(key) for key in value} - {"int", "str"}))
        if not kinds:
            return Opaque(Text("{type} with too many or too large ints as keys", type=name))
        return Opaque(Text("{type} with keys of type {keys}", type=name, keys=kinds))
    return Opaque(name)


def name_type(value: object) -> str:
    """Return the name of the type of a value, with the name of its module unless it is built in."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def are_keys(keys: Collection[object]) -> bool:
    """Return whether a plain dict can have these keys."""
    ints = [key for key in keys if type(key) is int and abs(key) <= MAX_KEY]
    return len(ints) <= MAX_INT_KEYS and len(ints) + sum(type(key) is str for key in keys) == len(keys)


def find_unsupported(value: object, plain: Plain) -> Message:
    """Return what the first part of a value is that `to_plain` could not copy to `plain`, or "" if it copied all."""
    if isinstance(plain, Opaque):
        return "" if isinstance(value, (Opaque, Unread)) else plain.type_name
    inner: Iterable[tuple[object, Plain]] = ()
    if isinstance(value, (list, tuple)):
        inner = zip(value, plain, strict=True)
    elif isinstance(value, dict):
        inner = zip(value.values(), plain.values(), strict=True)
    return next((kind for pair in inner if (kind := find_unsupported(*pair))), "")


def require_plain(value: object, what: str) -> Plain:
    """Return a copy of `value` as a plain value. Raises TypeError, which names it `what`, if that is impossible."""
    plain = to_plain(value)
    if kind := find_unsupported(value, plain):
        raise TypeError(f"{what} contains ({kind}), but {PLAIN_VALUES}")
    return plain


def to_plain_tensor(tensor: "Tensor") -> "Tensor | Opaque":
    """Return a contiguous, detached copy on the CPU, as a plain Tensor, or an `Opaque` if this is impossible."""
    import torch
    from torch import Tensor

    tensor = tensor.detach()
    if type(tensor) is not Tensor:
        tensor = tensor.as_subclass(Tensor)
    if tensor.layout is not torch.strided or tensor.is_quantized:
        return Opaque(f"{tensor.layout} tensor")
    if tensor.device.type == "meta":
        return Opaque(Text("tensor on the meta device"))
    if tensor.dim() > MAX_AXES:
        return Opaque(Text("tensor of {count} axes", count=tensor.dim()))
    return tensor.cpu().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
