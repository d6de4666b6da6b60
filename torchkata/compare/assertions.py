"""Assertions about plain values: they check type, dtype and shape, then compare numbers up to rounding errors."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray as Array

from torchkata.course import course
from torchkata.i18n import _, translate
from torchkata.inside.text import Message
from torchkata.inside.values import Plain, Unread, is_tensor, require_plain
from torchkata.seam.comparisons import count_comparison
from torchkata.seam.failures import Crashed, Unmet, Wrong

from .difference import describe_difference, explain_elements, explain_form
from .equality import same
from .show import show

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor
    from torch import dtype as TorchDtype

oracle_is_mistaken = ContextVar("oracle_is_mistaken", default=False)  # whether a known mistake replaces the oracle
watcher: ContextVar[Callable[[Plain, Plain, Message, bool], None] | None] = ContextVar("watcher", default=None)
LOOSE = 1e-9  # error allowed without a `scale`, relative to the largest expected number or to 1
ROUNDINGS = 8  # correct matrix products differ from the exact result by up to 1.9 roundings of their scale


def assert_close(
    yours: Plain,
    expected: "Float[Array, '*shape'] | Sequence[Any] | float | None",
    *,
    dtype: "TorchDtype | np.dtype[Any] | type | None" = None,
    scale: "Float[Array, '*#shape'] | float | None" = None,
    roundings: float = ROUNDINGS,
    what: Message = "",
    mistake: Message = "",
) -> None:
    """Assert that `yours` has the right type, dtype and shape, and that its elements equal `expected` up to rounding.

    The tolerance of an element is `roundings * eps(dtype) * scale`, so it increases with the number and magnitude of
    the terms in a sum. Elements whose `scale` exceeds the largest finite number of the dtype are ignored, because
    correct code may overflow.

    Args:
        yours: The student's answer: a tensor, an array if `dtype` is a NumPy dtype, or numbers if `dtype` is float.
        expected: The exact values in float64. Only a known mistake may expect None, NaN or infinity.
        dtype: The required dtype. `float` requires a number or a (nested) list of numbers. Default: float if `expected`
            is a list, or a number in a course without torch. Otherwise torch.float32, or float64 without torch.
        scale: The sum of the absolute values of each element's terms, for example `|x| @ |W|`. It is broadcast. Numbers
            need no scale: by default, an error of 1e-9, relative to the largest expected number or to 1, is allowed.
        roundings: The number of roundings of `scale` to allow.
        what: The name of the compared value, for the message.
        mistake: The mistake in the student's code, if the assertion can fail for only one reason.

    Raises:
        Wrong: The type, dtype, shape or an element differs.
        TypeError: `scale` is missing for a tensor or an array.

    Example:
        assert_close(y, x @ weight, scale=abs(x) @ abs(weight), what="y")
        assert_close(student.call("weights", 4), [0.1, 0.2, 0.3, 0.4])
    """
    count_comparison()
    if expected is None:
        assert_equal(yours, None, what=what, mistake=mistake)
        return
    exact = np.asarray(expected, dtype=np.float64)
    numeric = dtype is float or (dtype is None and (isinstance(expected, (list, tuple)) or is_number(exact)))
    if scale is None:
        if not numeric:
            raise TypeError("assert_close needs a scale for a tensor or an array")
        scale, roundings = np.abs(exact).max(initial=1.0), LOOSE / sys.float_info.epsilon
    finite = np.isfinite(exact)
    if not (oracle_is_mistaken.get() or finite.all()):
        note = _("the expected values are computed from your values, some of which are NaN or infinite")
        raise make_failure(yours, expected, what, note, mistake)
    wanted, limits = convert_to_dtype(exact, np.float64 if numeric else dtype)
    given, shown = (read_numbers(yours), exact.tolist()) if numeric else (yours, wanted)
    if isinstance(yours, Unread):
        broadcast_scale(exact.shape, scale)  # raises AnswerRead if the scale depends on the answer
        return
    if type(given) is not type(wanted) or given.dtype != wanted.dtype or given.shape != wanted.shape:
        raise make_failure(yours, shown, what, explain_form(given, wanted, numeric=numeric), mistake)
    numbers, known = as_float64(given), np.where(finite, exact, 0.0)
    size = np.maximum(broadcast_scale(exact.shape, scale), np.abs(known))
    bound = roundings * (limits.eps * size + limits.smallest_normal)
    close = (np.abs(numbers - known) <= bound) | (size > limits.max)
    excess = ~np.where(finite, close, np.isnan(numbers) & np.isnan(exact))
    if excess.any():
        invalid = int((np.isnan(numbers) & finite).sum())
        note = explain_elements(excess, wanted, given, invalid, translate(what))
        raise make_failure(yours, shown, what, note, mistake, None if numeric else excess)
    report_comparison(yours, shown, what)


def is_number(exact: Any) -> bool:
    """Return whether an expected value is a single number, in a course whose students have no tensors."""
    return exact.ndim == 0 and "torch" not in course().preload


def read_numbers(yours: Plain) -> Plain:
    """Return a number or a nested list of numbers as a float64 array, or None for any other value."""

    def are_numbers(value: Plain) -> bool:
        return all(map(are_numbers, value)) if type(value) is list else type(value) in (int, float)

    with suppress(ValueError):  # lists of different lengths
        return np.array(yours, dtype=np.float64) if are_numbers(yours) else None
    return None


def convert_to_dtype(exact: Any, dtype: Any) -> tuple[Any, Any]:
    """Convert the exact numbers to a tensor or an array of this dtype. Return the result and the dtype's `finfo`."""
    if dtype is None and "torch" not in course().preload:
        dtype = np.float64
    if dtype is not None and (isinstance(dtype, (np.dtype, type))):
        return exact.astype(dtype), np.finfo(dtype)
    import torch

    wanted = torch.from_numpy(exact.copy()).to(dtype or torch.float32)
    return wanted, torch.finfo(wanted.dtype)


def broadcast_scale(shape: tuple[int, ...], scale: Any) -> Any:
    """Broadcast the scale to all elements, or return its maximum if a known mistake computes it with another shape."""
    sizes = np.abs(np.asarray(scale, dtype=np.float64))
    try:
        return np.broadcast_to(sizes, shape)
    except ValueError:
        return sizes.max(initial=0.0)


def assert_equal(
    yours: Plain, expected: Plain, *, what: Message = "", note: Message = "", mistake: Message = ""
) -> None:
    """Assert that `yours` and `expected` have the same type and are bitwise identical. NaNs compare equal.

    A tuple equals a list of the same items, because tuples become lists on the way to the student's code and back.

    Args:
        yours: The student's answer.
        expected: The value that it must equal.
        what: The name of the compared value, for the message.
        note: A sentence that explains the difference.
        mistake: The mistake in the student's code, if the assertion can fail for only one reason.

    Raises:
        Wrong: The values or their types differ.
        TypeError: `expected` is not a plain value.

    Example:
        assert_equal(student.call("sieve", 10), [2, 3, 5, 7])
    """
    count_comparison()
    if isinstance(yours, Unread):
        require_plain(expected, "the expected value")
        return
    if not same(yours, expected) and not same(yours, expected := require_plain(expected, "the expected value")):
        raise make_failure(yours, expected, what, note, mistake)
    report_comparison(yours, expected, what)


def check(
    condition: object, note: Message = "", *, mistake: Message = "", yours: Plain = None, expected: Message = ""
) -> None:
    """Assert a condition that the test has computed from plain values.

    Args:
        condition: True or `np.True_`. Any other value fails.
        note: A sentence that says why the answer is wrong.
        mistake: The mistake in the student's code, if the condition can fail for only one reason. The failure shows
            it after "looks like: ".
        yours: The student's value, or a description of it, for the message.
        expected: A description of the expected value, for the message.

    Raises:
        Wrong: The condition does not hold.

    Example:
        check(len(batch) == 4, "the batch has too few rows", yours=batch)
    """
    count_comparison()
    if condition is not True and not (isinstance(condition, np.bool_) and bool(condition)):
        raise Wrong(expected=translate(expected), yours=describe_value(yours), note=translate(note), mistake=mistake)


def require(
    condition: object, note: Message = "", *, mistake: Message = "", yours: Plain = None, expected: Message = ""
) -> None:
    """Assert a precondition that another test checks. The failure says that this property cannot be tested yet.

    Raises:
        Unmet: The condition does not hold.

    Example:
        require(isinstance(weight, Tensor), "weight is not a tensor")
    """
    with precondition(note):
        check(condition, note, mistake=mistake, yours=yours, expected=expected)


@contextmanager
def precondition(note: Message = "") -> Iterator[None]:
    """Treat assertions in this context as preconditions, like `require`, and also exceptions of the student's code.

    Args:
        note: A sentence that replaces the message of the assertion.

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
    except Crashed as crash:
        crash.is_unmet = True
        raise


@contextmanager
def asking(code: str) -> Iterator[None]:
    """Show `code` as the input if an assertion in this context fails.

    Use this context manager if a probe makes several calls but the assertion concerns only one of them.

    Example:
        with asking(f"storage_index({strides}, {index})"):
            assert_equal(yours, expected)
    """
    try:
        yield
    except Wrong as wrong:
        wrong.asked = code
        raise


def describe_value(yours: Plain) -> str:
    """Return a description in the student's language, format any other value, and return "" for None."""
    return translate(yours) if isinstance(yours, Message) else "" if yours is None else show(yours)


def as_float64(values: "Tensor | Array[Any, Any]") -> "Float[Array, '*shape']":
    """Return the exact values of a floating-point tensor or array as a float64 array of the same shape, for the oracle.

    Example:
        oracle.forward(as_float64(weight), as_float64(x))
    """
    array: Float[Array, "*shape"] = values.double().numpy() if is_tensor(values) else np.asarray(values, np.float64)
    return array


def report_comparison(yours: Plain, expected: Plain, what: Message, *, right: bool = True) -> None:
    """Notify the `watcher`, if there is one, of a comparison."""
    if watch := watcher.get():
        watch(yours, expected, what, right)


def make_failure(
    yours: Plain, expected: Plain, what: Message, note: Message, mistake: Message = "", excess: Any = None
) -> Wrong:
    """Notify the `watcher` of a failed comparison, and return its exception (see `describe_difference`)."""
    report_comparison(yours, expected, what, right=False)
    if oracle_is_mistaken.get():
        return Wrong()  # the text of the failure is never shown, since the known mistake does not explain the answer
    wrong = describe_difference(yours, expected, what, note, excess)
    wrong.mistake = mistake
    return wrong
