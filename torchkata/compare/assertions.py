"""Assertions on plain values: type, dtype and shape first, then numbers, within a bound that the arithmetic allows."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray as Array

from torchkata.course import course
from torchkata.i18n import words
from torchkata.i18n.notes import translate
from torchkata.seam.failures import Unmet, Wrong
from torchkata.seam.values import Plain, Unread, is_array, is_tensor

from .show import MAX_ITEMS, MAX_WIDTH, dtype_name, kind, number, show, show_both

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor
    from torch import dtype as TorchDtype

of_a_mistake = ContextVar("of_a_mistake", default=False)  # whether what is expected is a known mistake's
watcher: ContextVar[Callable[[Plain, Plain, str, bool], None] | None] = ContextVar("watcher", default=None)
ROUNDINGS = 8  # a right product of matrices was seen 1.9 roundings of its scale away from the exact one


def assert_close(
    yours: Plain,
    expected: "Float[Array, '*shape'] | float | None",
    *,
    dtype: "TorchDtype | np.dtype[Any] | type | None" = None,
    scale: "Float[Array, '*#shape'] | float",
    roundings: float = ROUNDINGS,
    what: str = "",
) -> None:
    """Assert that `yours` has the expected form, and that each of its elements is within rounding of `expected`.

    The bound of an element is `roundings · eps(dtype) · scale`: it follows the length of a sum and the size of its
    terms. If `scale` exceeds the largest number of the dtype, only the form is checked: right code may overflow there.

    Args:
        yours: The student's answer: a tensor, or an array if `dtype` is a dtype of NumPy.
        expected: The exact values in float64. Only a known mistake may expect None, NaN or infinity.
        dtype: The dtype that the answer must have. Default: torch.float32, or float64 in a course without torch.
        scale: The sum of the absolute values of each element's terms, for a product `|x| @ |W|`. It is broadcast.
        roundings: How many roundings of `scale` are allowed.
        what: What is compared, for the message.

    Raises:
        Wrong: The type, dtype, shape or an element differs.

    Example:
        assert_close(y, x @ weight, scale=abs(x) @ abs(weight), what="y")
    """
    if expected is None:
        assert_equal(yours, None, what=what)
        return
    exact = np.asarray(expected, dtype=np.float64)
    finite = np.isfinite(exact)
    if not (of_a_mistake.get() or finite.all()):
        raise differs(yours, expected, what, words("note.not_finite"))
    wanted, limits = in_dtype(exact, dtype)
    if isinstance(yours, Unread):
        laid_over(exact.shape, scale)
        return
    if type(yours) is not type(wanted) or yours.dtype != wanted.dtype or yours.shape != wanted.shape:
        raise differs(yours, wanted, what, form_note(yours, wanted))
    numbers, known = as_float64(yours), np.where(finite, exact, 0.0)
    size = np.maximum(laid_over(exact.shape, scale), np.abs(known))
    bound = roundings * (limits.eps * size + limits.smallest_normal)
    close = (np.abs(numbers - known) <= bound) | (size > limits.max)
    excess = ~np.where(finite, close, np.isnan(numbers) & np.isnan(exact))
    if excess.any():
        raise differs(yours, wanted, what, where_note(excess, wanted, yours))
    compared(yours, wanted, what)


def in_dtype(exact: Any, dtype: Any) -> tuple[Any, Any]:
    """Numbers as a tensor or an array of this dtype, with the dtype's `finfo`."""
    if dtype is None and "torch" not in course().preload:
        dtype = np.float64
    if dtype is not None and (isinstance(dtype, (np.dtype, type))):
        return exact.astype(dtype), np.finfo(dtype)
    import torch

    wanted = torch.from_numpy(exact.copy()).to(dtype or torch.float32)
    return wanted, torch.finfo(wanted.dtype)


def laid_over(shape: tuple[int, ...], scale: Any) -> Any:
    """The scale of each element; a known mistake may turn its sign, or be of another shape: then the largest."""
    sizes = np.abs(np.asarray(scale, dtype=np.float64))
    try:
        return np.broadcast_to(sizes, shape)
    except ValueError:
        return sizes.max(initial=0.0)


def assert_equal(yours: Plain, expected: Plain, *, what: str = "", note: str = "", mistake: str = "") -> None:
    """Assert that `yours` has the same type as `expected` and, bit for bit, the same values; NaN equals NaN.

    Args:
        yours: The student's answer.
        expected: The value that it must equal.
        what: What is compared, for the message.
        note: A sentence that explains the difference.
        mistake: What the student's code does, if the assertion can fail for one reason only.

    Raises:
        Wrong: They differ.

    Example:
        assert_equal(student.call(call, "sieve", "sieve", 10), [2, 3, 5, 7])
    """
    if isinstance(yours, Unread):
        return
    if not same(yours, expected):
        wrong = differs(yours, expected, what, note)
        wrong.mistake = mistake
        raise wrong
    compared(yours, expected, what)


def check(condition: object, note: str = "", *, mistake: str = "", yours: Plain = None, expected: str = "") -> None:
    """Assert `condition`, which the test computes from plain values.

    Args:
        condition: True, or a NumPy bool that is true. Anything else fails.
        note: What is wrong with the answer.
        mistake: What the student's code does, if the condition can fail for one reason only. The failure shows it
            after "looks like: ".
        yours: The student's value, or a text about it, for the message.
        expected: A text about what is expected, for the message.

    Raises:
        Wrong: The condition does not hold.

    Example:
        check(len(batch) == 4, "the batch has too few rows", yours=batch)
    """
    if condition is not True and not (isinstance(condition, np.bool_) and bool(condition)):
        raise Wrong(expected=translate(expected), yours=in_words(yours), note=translate(note), mistake=mistake)


def require(condition: object, note: str = "", *, mistake: str = "", yours: Plain = None, expected: str = "") -> None:
    """Assert what this test needs and another test is about: a failure says that this test could not be asked.

    Raises:
        Unmet: The condition does not hold.

    Example:
        require(isinstance(weight, Tensor), "weight is no tensor")
    """
    with precondition(note):
        check(condition, note, mistake=mistake, yours=yours, expected=expected)


@contextmanager
def precondition(note: str = "") -> Iterator[None]:
    """Turn each failed assertion in this context into one of `require`.

    Args:
        note: A sentence to show in place of the assertion's own.

    Raises:
        Unmet: An assertion in the context failed.

    Example:
        with precondition("the file can't be read back"):
            assert_equal(loaded, tokens)
    """
    try:
        yield
    except Wrong as wrong:
        unmet = Unmet(
            expected=wrong.expected, yours=wrong.yours, note=translate(note) or wrong.note, mistake=wrong.mistake
        )
        unmet.asked = wrong.asked
        raise unmet from None


@contextmanager
def asking(code: str) -> Iterator[None]:
    """Show `code` as the input of any assertion that fails in this context.

    Use it for a probe that makes several calls of which one is judged.

    Example:
        with asking(f"storage_index({strides}, {index})"):
            assert_equal(yours, expected)
    """
    try:
        yield
    except Wrong as wrong:
        wrong.asked = code
        raise


def in_words(yours: Plain) -> str:
    """A value as it is shown, or what a test says of it."""
    return translate(yours) if isinstance(yours, str) else "" if yours is None else show(yours)


def as_float64(values: "Tensor | Array[Any, Any]") -> "Float[Array, '*shape']":
    """Return the exact values of a floating tensor or array as a float64 array of the same shape, for the oracle.

    Example:
        oracle.forward(as_float64(weight), as_float64(x))
    """
    array: Float[Array, "*shape"] = values.double().numpy() if is_tensor(values) else np.asarray(values, np.float64)
    return array


def same(a: Plain, b: Plain) -> bool:
    """Return whether two plain values agree in type, shape and every bit; any NaN equals any NaN.

    Example:
        check(not same(first, second), "two calls in a row return the same batch")
    """
    if type(a) is not type(b):
        return False
    if is_tensor(a):
        return a.dtype == b.dtype and a.shape == b.shape and same_elements(a, b)
    if is_array(a):
        return a.dtype == b.dtype and a.shape == b.shape and same_numbers(a, b)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(a == b) or (a != a and b != b)


def same_numbers(a: Any, b: Any) -> bool:
    """Equality of two arrays of one dtype and shape."""
    if a.dtype.kind == "c":
        return same_numbers(a.real, b.real) and same_numbers(a.imag, b.imag)
    if a.dtype.kind == "f":
        return bool(np.all((a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)))
    return bool(np.array_equal(a, b))


def same_elements(a: "Tensor", b: "Tensor") -> bool:
    """Equality of two tensors of one dtype; torch itself can't compare uint16."""
    import torch

    if a.is_complex():
        return same_elements(torch.view_as_real(a), torch.view_as_real(b))
    if a.is_floating_point():
        same_number = (a == b) & (a.signbit() == b.signbit())
        return bool(torch.all(same_number | (a.isnan() & b.isnan())))
    return bool(np.array_equal(a.numpy(), b.numpy()))


def compared(yours: Plain, expected: Plain, what: str, *, right: bool = True) -> None:
    """Show a comparison to who watches: whoever asks how right and wrong answers hang together."""
    if watch := watcher.get():
        watch(yours, expected, what, right)


def differs(yours: Plain, expected: Plain, what: str, note: str) -> Wrong:
    """The failure, with what is compared named before each side: where that is too long for a line, what differs first.

    Where two lists or dicts begin alike and one ends, a note says so.
    """
    compared(yours, expected, what, right=False)
    if of_a_mistake.get():
        return Wrong()  # which nobody reads: a known mistake that explains this answer no longer
    what, note = translate(what), translate(note)
    shown = show_both(expected, yours, MAX_WIDTH - len(what) - 2)
    if shown[0] == shown[1] or any("…" in side for side in shown):
        path, expected, yours = first_difference(expected, yours)
        what = f"{what}{path}"
        shown = show_both(expected, yours, MAX_WIDTH - len(what) - 2)
        note = note or length_note(yours, expected)
    prefix = f"{what}: " if what else ""
    return Wrong(expected=prefix + shown[0], yours=prefix + shown[1], note=note)


def first_difference(expected: Plain, yours: Plain, path: str = "") -> tuple[str, Plain, Plain]:
    """Where two lists or dicts differ first, as it is typed behind their name, and what stands there."""
    if isinstance(expected, list) and isinstance(yours, list):
        keys: Iterable[Any] = range(min(len(expected), len(yours)))
    elif isinstance(expected, dict) and isinstance(yours, dict) and expected.keys() == yours.keys():
        keys = expected
    else:
        return path, expected, yours
    for key in keys:
        if not same(yours[key], expected[key]):
            return first_difference(expected[key], yours[key], f"{path}[{key!r}]")
    return path, expected, yours


def length_note(yours: Plain, expected: Plain) -> str:
    """One line on two lists of which one is longer, or two dicts with other keys; "" for anything else."""
    if isinstance(yours, list) and isinstance(expected, list) and len(yours) != len(expected):
        return words("note.length", wanted=len(expected), found=len(yours))
    if isinstance(yours, dict) and isinstance(expected, dict) and yours.keys() != expected.keys():
        missing, further = (
            ", ".join(map(repr, one.keys() - other.keys())) for one, other in ((expected, yours), (yours, expected))
        )
        found = {"note.missing": missing, "note.further": further}
        return "; ".join(words(key, keys=keys) for key, keys in found.items() if keys)
    return ""


def form_note(yours: Any, wanted: Any) -> str:
    """One line on a wrong type, dtype or shape."""
    if type(yours) is not type(wanted):
        return words("note.array" if is_array(wanted) else "note.tensor", found=kind(yours))
    if yours.shape != wanted.shape:
        return words("note.shape", wanted=list(wanted.shape), found=list(yours.shape))
    return words("note.dtype", wanted=dtype_name(wanted), found=dtype_name(yours))


def where_note(excess: Any, wanted: Any, yours: Any) -> str:
    """How much of a result is off, and where the first such element is; of a long one, both numbers, too."""
    if excess.size == 1:
        return ""
    index = tuple(int(i) for i in np.argwhere(excess)[0])
    values = {"wrong": int(excess.sum()), "all": excess.size, "index": list(index)}
    if excess.size <= MAX_ITEMS:
        return words("note.differ", **values)
    shown, shown_yours = (number(side[index].item()) for side in (wanted, yours))
    return words("note.differ_in", **values, expected=shown, yours=shown_yours)
