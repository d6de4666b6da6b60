"""What is said of a crash fits the error that torch and NumPy really raise there."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from torchkata.diagnosis.crashes import PATTERNS, explain_crash
from torchkata.diagnosis.explain import explain
from torchkata.i18n import words
from torchkata.seam.failures import Crashed, Place, Wrong
from torchkata.seam.reply import LACKS_STATE, MAX_TEXT, Reply, format_error
from torchkata.seam.student import Call


def read_before_it_is_set() -> object:
    numbers: list[float] = []
    for value in numbers:
        last = value
    return last


def twice_through_one_graph() -> None:
    loss = nn.Parameter(torch.ones(2)).exp().sum()
    torch.autograd.backward(loss)
    torch.autograd.backward(loss)


def changed_in_place() -> None:
    y = nn.Parameter(torch.ones(2)).exp()
    y.add_(1)
    torch.autograd.backward(y.sum())


def on_the_gpu() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    torch.zeros(1, device="cuda")


class NoBase(nn.Module):
    """A layer that has not called `super().__init__()`; what it begins with is not its own."""

    def __init__(self, start: object = 1.0) -> None:
        self.start = start


class NoGroups(torch.optim.Optimizer):
    """An optimizer that has not called it."""

    def __init__(self) -> None:
        self.rate = 0.1


def by_name(*, B: int) -> int:
    """As the `get_batch` that train is given."""
    return B


def raised_by(code: Callable[[], object], place: Place) -> Crashed:
    """As a student's code that raised it."""
    with pytest.raises(Exception) as raised:  # noqa: PT011
        code()
    return Crashed(Reply("raised", error=format_error(raised.value)).error, place)


CRASHES: list[tuple[str, Callable[[], object]]] = [
    ("memory", lambda: torch.empty(2**50)),
    ("memory", lambda: np.empty(2**58)),
    ("no_graph", lambda: torch.autograd.backward(torch.ones(1).sum())),
    ("no_graph", lambda: torch.autograd.grad(torch.ones(1).sum(), torch.ones(1))),
    ("leaf", lambda: nn.Parameter(torch.ones(1)).add_(1)),
    ("leaf", lambda: nn.Parameter(torch.ones(2))[0].add_(1)),
    ("in_place", changed_in_place),
    ("second_time", twice_through_one_graph),
    ("cuda", on_the_gpu),
    ("no_tensors", lambda: torch.stack([])),
    ("no_tensors", lambda: torch.cat([])),
    ("no_tensors", lambda: np.stack([])),
    ("no_tensors", lambda: np.concatenate([])),
    ("numpy_dtype", lambda: torch.ones(1, dtype=torch.bfloat16).numpy()),
    ("numpy_graph", lambda: nn.Parameter(torch.ones(1)).numpy()),
    ("no_elements", lambda: torch.ones(0, 2).reshape(-1, 0)),
    ("view", lambda: torch.ones(2, 3).T.view(6)),
    ("product", lambda: torch.ones(2, 3) @ torch.ones(2, 3)),
    ("not_a_leaf", lambda: torch.optim.SGD([nn.Parameter(torch.ones(1)) * 2], lr=1.0)),
    ("unbound", read_before_it_is_set),
    ("none", lambda: 0.1 * torch.ones(1).grad),  # type: ignore[operator]
    ("none", lambda: torch.ones(1).grad.square()),  # type: ignore[union-attr]
    ("numpy_seed", lambda: np.random.seed(2**32)),
    ("too_large", lambda: np.int32(2**40)),
    ("too_large", lambda: np.zeros(1, np.int64) + 2**70 * np.ones(1, np.int64)),
    ("too_large", lambda: torch.full((1,), 2**70, dtype=torch.int64)),
    ("no_scalar", lambda: torch.autograd.backward(nn.Parameter(torch.ones(2)) * 2)),
    ("base_class", lambda: NoBase(nn.Parameter(torch.ones(1)))),
    ("base_class", lambda: NoBase(nn.Linear(1, 1))),
    ("base_class", lambda: NoBase().state_dict()),
    ("base_class", lambda: list(NoBase().parameters())),
    ("base_class", lambda: NoBase()(1)),
    ("base_class", lambda: NoBase().load_state_dict({})),
    ("base_class", lambda: NoGroups().param_groups),
    ("base_class", lambda: NoGroups().state),
    ("base_class", lambda: NoGroups().state_dict()),
    ("by_name", lambda: by_name(4)),  # type: ignore[call-arg]
    ("size", lambda: torch.randint(0, 5, 3)),  # type: ignore[call-overload]
    ("size", lambda: torch.randint(5, 3)),  # type: ignore[call-overload]
    ("size", lambda: torch.randint(0, high=5, size=3)),  # type: ignore[call-overload]
]


@pytest.mark.parametrize(("key", "crash"), CRASHES)
def test_a_crash_is_said_to_be_what_it_is(key: str, crash: Callable[[], object]) -> None:
    raised = raised_by(crash, Place("linear.py", 3, "as it was"))
    assert explain_crash(raised) == words(f"crash.{key}"), raised


def test_a_name_that_an_optimizers_state_lacks_is_told_from_that_of_another_dict() -> None:
    empty: dict[str, object] = {}
    for line, said in (('g2 = self.state[p]["g2"]', words("crash.empty_state")), ("return table[name]", "")):
        assert explain_crash(raised_by(lambda: empty["g2"], Place("adagrad.py", 3, line))) == said
    under_a_name = Crashed("KeyError: 'g2'" + LACKS_STATE, Place("adagrad.py", 3, 's["g2"]'))
    assert explain_crash(under_a_name) == words("crash.empty_state")


@pytest.mark.skipif(torch.cuda.is_available() or torch.backends.mps.is_available(), reason="memory can be pinned here")
def test_pinned_memory_without_a_gpu_is_said_to_be_that() -> None:
    assert explain_crash(raised_by(lambda: torch.ones(2).pin_memory(), Place("get_batch.py", 3))) == words(
        "crash.pinned"
    )


def test_every_sentence_is_of_a_real_error() -> None:
    assert {key for key, _ in CRASHES} | {"empty_state", "pinned"} == {*PATTERNS.values()}


def test_a_return_that_is_missing_is_asked_for_where_nothing_else_was_expected() -> None:
    def said(error: BaseException, answer: object) -> bool:
        call = Call(test_a_return_that_is_missing_is_asked_for_where_nothing_else_was_expected, (), answer)
        return words("crash.no_return") in explain("test_t", "claim", error, call, "pytest").message

    assert said(Wrong(expected="float32[2]", yours="None"), None)
    assert not said(Wrong(expected="float32[2]", yours="float32[1]"), torch.ones(1))
    assert not said(Wrong(expected="1", yours="x.grad: None"), {"x.grad": None})
    unpacked = "TypeError: cannot unpack non-iterable NoneType object"
    assert explain_crash(Crashed(unpacked, Place(source="a, b = f()"))) == words("crash.no_return")
    assert explain_crash(Crashed(unpacked, Place("sgd.py", 3, "a, b = f()"))) == ""


def test_nothing_is_said_of_an_error_that_says_enough() -> None:
    for error in ("ZeroDivisionError: division by zero", "OverflowError: int too large to convert to float"):
        assert explain_crash(Crashed(error, Place())) == ""
    assert explain_crash(raised_by(lambda: torch.randint(0, 2.5, (3,)), Place("get_batch.py", 3))) == ""  # type: ignore[call-overload]


def test_a_long_error_is_cut_between_words() -> None:
    with pytest.raises(TypeError) as raised:
        torch.randint(0, 5, 3)  # type: ignore[call-overload]
    text, whole = Reply("raised", error=format_error(raised.value)).error, " ".join(str(raised.value).split())
    assert len(text) <= MAX_TEXT
    assert text.endswith("…")
    assert whole.split()[: len(text.split()) - 2] == text.split()[1:-1]
