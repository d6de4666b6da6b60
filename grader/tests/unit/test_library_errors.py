"""Errors in the words of torch and Python, as the installed versions raise them, have their note."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from torchkata.explain import explain
from torchkata.failures import Crashed, Place, Wrong
from torchkata.languages import words
from torchkata.library_errors import note_on
from torchkata.reply import MAX_TEXT, Reply, text_of
from torchkata.student import Call


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


def parameter() -> nn.Parameter:
    """One that requires grad."""
    return nn.Parameter(torch.ones(2))


RAISED: list[tuple[str, Callable[[], object]]] = [
    ("met.no_grad", lambda: parameter().sub_(1)),
    ("met.no_grad", lambda: parameter()[0].sub_(1)),
    ("met.scalar", lambda: torch.autograd.backward(parameter() * 2)),
    ("met.base_class", lambda: NoBase(nn.Parameter(torch.ones(1)))),
    ("met.base_class", lambda: NoBase(nn.Linear(1, 1))),
    ("met.base_class", lambda: NoBase().state_dict()),
    ("met.base_class", lambda: list(NoBase().parameters())),
    ("met.base_class", lambda: NoBase()(1)),
    ("met.base_class", lambda: NoBase().load_state_dict({})),
    ("met.base_class", lambda: NoGroups().param_groups),
    ("met.base_class", lambda: NoGroups().state),
    ("met.base_class", lambda: NoGroups().state_dict()),
    ("met.by_name", lambda: by_name(4)),  # type: ignore[call-arg]
    ("met.size", lambda: torch.randint(0, 5, 3)),  # type: ignore[call-overload]
    ("met.size", lambda: torch.randint(5, 3)),  # type: ignore[call-overload]
    ("met.size", lambda: torch.randint(0, high=5, size=3)),  # type: ignore[call-overload]
]


def raised_by(code: Callable[[], object], place: Place) -> Crashed:
    """As a student's code that raised it."""
    with pytest.raises((RuntimeError, AttributeError, TypeError, KeyError)) as raised:
        code()
    return Crashed(Reply("raised", error=text_of(raised.value)).error, place)


@pytest.mark.parametrize(("key", "code"), RAISED)
def test_an_error_of_torchs_that_beginners_meet_has_its_note(key: str, code: Callable[[], object]) -> None:
    assert note_on(raised_by(code, Place("linear.py", 3, "as it was"))) == words(key)


@pytest.mark.skipif(torch.cuda.is_available() or torch.backends.mps.is_available(), reason="memory can be pinned here")
def test_pinned_memory_without_a_gpu_has_its_note() -> None:
    assert note_on(raised_by(torch.ones(2).pin_memory, Place("get_batch.py", 3))) == words("met.pinned")


def test_a_name_that_an_optimizers_state_lacks_has_its_note_and_another_dicts_has_none() -> None:
    empty: dict[str, Tensor] = {}
    for line, note in (('g2 = self.state[p]["g2"]', words("met.state")), ("return table[name]", "")):
        assert note_on(raised_by(lambda: empty["g2"], Place("adagrad.py", 3, line))) == note


def test_a_return_that_is_missing_is_asked_for_where_nothing_else_was_expected() -> None:
    def said(error: BaseException, answer: object) -> bool:
        call = Call(test_a_return_that_is_missing_is_asked_for_where_nothing_else_was_expected, (), answer)
        return words("met.no_return") in explain("test_t", "claim", error, call, "pytest").message

    assert said(Wrong(expected="float32[2]", yours="None"), None)
    assert not said(Wrong(expected="float32[2]", yours="float32[1]"), torch.ones(1))
    assert not said(Wrong(expected="1", yours="x.grad: None"), {"x.grad": None})
    assert said(Crashed("TypeError: cannot unpack non-iterable NoneType object", Place(source="a, b = f()")), None)
    own = Place("sgd.py", 3, "p.grad.mul(2)")
    assert not said(Crashed("AttributeError: 'NoneType' object has no attribute 'mul'", own), None)


def test_an_error_that_explains_itself_has_no_note() -> None:
    place = Place("linear.py", 3, "return x @ self.weight")
    assert note_on(raised_by(lambda: torch.ones(2, 3) @ torch.ones(2, 3), place)) == ""
    assert note_on(raised_by(lambda: torch.randint(0, 2.5, (3,)), place)) == ""  # type: ignore[call-overload]


def test_a_long_error_is_cut_between_words() -> None:
    text = raised_by(lambda: torch.randint(0, 5, 3), Place()).error  # type: ignore[call-overload]
    with pytest.raises(TypeError) as raised:
        torch.randint(0, 5, 3)  # type: ignore[call-overload]
    whole = " ".join(str(raised.value).split())
    assert len(text) <= MAX_TEXT
    assert text.endswith("…")
    assert whole.split()[: len(text.split()) - 2] == text.split()[1:-1]
