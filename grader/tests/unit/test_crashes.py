"""Tests of the explanations of crashes, using errors that torch and NumPy actually raise."""

import copy
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import autograd, nn

from tests.probes.loading import load
from torchkata.diagnosis.crashes import PATTERNS, explain_crash
from torchkata.diagnosis.explain import explain
from torchkata.i18n import _
from torchkata.inside.reply import LACKS_STATE, Reply, format_error
from torchkata.inside.text import Text
from torchkata.seam.failures import Crashed, Place, Wrong
from torchkata.seam.student import Call


def read_before_assignment() -> object:
    numbers: list[float] = []
    for value in numbers:
        last = value
    return last


def backward_twice() -> None:
    loss = make_param().exp().sum()
    autograd.backward(loss)
    autograd.backward(loss)


def change_in_place() -> None:
    y = make_param().exp()
    y.add_(1)
    autograd.backward(y.sum())


def copy_result() -> None:
    copy.deepcopy({"m": make_param() * 2})


class NoBase(nn.Module):
    """A layer that does not call `super().__init__()`."""

    def __init__(self, start: object = 1.0) -> None:
        self.start = start


class PlainWeight(nn.Module):
    """A layer whose weight is not a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.ones(2)


def load_into_plain_tensor() -> None:
    load(PlainWeight(), {"weight": torch.ones(2)})


class NoGroups(torch.optim.Optimizer):
    """An optimizer that does not call `super().__init__()`."""

    def __init__(self) -> None:
        self.rate = 0.1


def get_batch(*, B: int) -> int:
    """Return B, which must be passed by keyword, as in the kata `train`."""
    return B


def make_param() -> nn.Parameter:
    """Return a parameter with two elements."""
    return nn.Parameter(torch.ones(2))


def catch(code: Callable[[], object], place: Place) -> Crashed:
    """Return the crash caused by the given student code."""
    with pytest.raises(Exception) as raised:  # noqa: PT011
        code()
    return Crashed(Reply("raised", error=format_error(raised.value)).error, place)


CRASHES: dict[str, list[Callable[[], Any]]] = {
    "out of memory: a tensor or array is far too large": [lambda: torch.empty(2**50), lambda: np.empty(2**58)],
    "there is no graph to backpropagate through: autograd is off, no tensor requires grad, or the graph was detached": [
        lambda: autograd.backward(torch.ones(1)),
        lambda: autograd.grad(torch.ones(1), torch.ones(1)),
    ],
    "a tensor that requires grad is modified in place outside `with torch.no_grad():`": [
        lambda: make_param().add_(1),
        lambda: make_param()[0].add_(1),
    ],
    "an index is read from uninitialized memory, for example from torch.empty (the tests fill "
    "it with the largest integer)": [
        lambda: torch.ones(3)[torch.tensor([2**63 - 1])],
        lambda: np.ones(3)[np.array([2**63 - 1])],
    ],
    "a tensor that the backward pass still needs was modified in place": [change_in_place],
    "a tensor in the optimizer state is still attached to the autograd graph: compute it "
    "inside `with torch.no_grad():`": [copy_result],
    "an attribute is a plain tensor, which is not included in state_dict(): use nn.Parameter": [load_into_plain_tensor],
    "backward() runs through the same graph a second time, but the graph was freed by an earlier backward pass": [
        backward_twice
    ],
    "CUDA is used, but it is not available on this machine": [lambda: torch.zeros(1, device="cuda")],
    "torch.stack or torch.cat was called with an empty list": [
        lambda: torch.stack([]),
        lambda: torch.cat([]),
        lambda: np.stack([]),
        lambda: np.concatenate([]),
    ],
    "a tensor is converted to a NumPy array, but NumPy does not support its dtype": [
        lambda: torch.ones(1, dtype=torch.bfloat16).numpy()
    ],
    "a tensor that requires grad is converted to a NumPy array, but NumPy cannot track gradients": [
        lambda: make_param().numpy()
    ],
    "a size of -1 cannot be inferred for an empty tensor: give the size explicitly": [
        lambda: torch.ones(0, 2).reshape(-1, 0)
    ],
    "view() cannot produce this shape: the elements are not in that order in memory": [
        lambda: torch.ones(2, 3).T.view(6)
    ],
    "the inner dimensions of a matrix multiplication do not match": [lambda: torch.ones(2, 3) @ torch.ones(2, 3)],
    "the optimizer was passed the result of a computation instead of a Parameter": [
        lambda: torch.optim.SGD([make_param() * 2], lr=1.0)
    ],
    "a variable is used before it is assigned, for example because a loop ran zero times": [read_before_assignment],
    "None is used where a tensor is expected, for example the .grad of a parameter that has no gradient": [
        lambda: 0.1 * make_param().grad,  # type: ignore[operator]
        lambda: make_param().grad.square(),  # type: ignore[union-attr]
    ],
    "the NumPy seed must be between 0 and 2**32 - 1": [lambda: np.random.seed(2**32)],
    "a number is too large for a fixed-width integer (Python's own int has no limit)": [
        lambda: np.int32(2**40),
        lambda: np.zeros(1, np.int64) + 2**70 * np.ones(1, np.int64),
        lambda: torch.full((1,), 2**70, dtype=torch.int64),
    ],
    "this package is not installed here; use only packages of the course: {packages}": [
        lambda: importlib.import_module("no_such_package")
    ],
    "exit() and quit() exist only in an interactive Python: remove the call": [
        lambda: eval("exit()", {"__builtins__": {}}),
        lambda: eval("quit(1)", {"__builtins__": {}}),
    ],
    "nobody can type into the tests: take the value as an argument, or put input() under `if "
    '__name__ == "__main__":`': [lambda: input()],
    "backward() can be called only on a scalar: is a mean or a sum missing?": [
        lambda: autograd.backward(make_param() * 2)
    ],
    "__init__ must call super().__init__(…) first": [
        lambda: NoBase(make_param()),
        lambda: NoBase().state_dict(),
        lambda: list(NoBase().parameters()),
        lambda: NoBase()(1),
        lambda: NoGroups().param_groups,
        lambda: NoGroups().state_dict(),
    ],
    "a function with keyword-only arguments is called with positional arguments: write f(x=x)": [lambda: get_batch(4)],  # type: ignore[call-arg]
    "the size passed to randint must be a tuple: (n,) for n numbers": [
        lambda: torch.randint(0, 5, 3),  # type: ignore[call-overload]
        lambda: torch.randint(5, 3),  # type: ignore[call-overload]
        lambda: torch.randint(0, high=5, size=3),  # type: ignore[call-overload]
    ],
}


@pytest.mark.parametrize(("why", "crash"), [(why, crash) for why, crashes in CRASHES.items() for crash in crashes])
def test_common_crash_is_explained(why: str, crash: Callable[[], object]) -> None:
    if why.startswith("CUDA") and torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    raised = catch(crash, Place("linear.py", 3, "as it was"))
    assert str(explain_crash(raised)) == why.format(packages="einops, jaxtyping, numpy, plotille, torch"), raised


def test_every_explanation_matches_a_real_error() -> None:
    others = ("self.state[p] has no such key yet", "pinned memory requires a GPU")  # tested below
    assert {*CRASHES} == {text.english for text in PATTERNS.values() if not text.english.startswith(others)}


def test_inplace_method_on_leaf_tensor_is_named() -> None:
    raised = catch(lambda: make_param().mul_(2), Place("linear.py", 3, "return self.scale.mul_(2) @ x"))
    assert explain_crash(raised) == Text(
        "`{method}` changes a tensor that requires grad in place: use `{plain}`, or for the "
        "update of a parameter `with torch.no_grad():`",
        method="mul_()",
        plain="mul()",
    )


def test_key_error_from_empty_optimizer_state_is_explained() -> None:
    empty: dict[str, object] = {}
    lines = ('g2 = self.state[p]["g2"]', "return table[name]")
    direct, other = (catch(lambda: empty["g2"], Place("adagrad.py", 3, line)) for line in lines)
    aliased = Crashed("KeyError: 'g2'" + LACKS_STATE, Place("adagrad.py", 3, 's["g2"]'))
    assert (
        explain_crash(direct)
        == explain_crash(aliased)
        == Text(
            "self.state[p] has no such key yet: it is empty before the first step. Create the state "
            "in step(), because add_param_group() can add parameters after __init__()"
        )
    )
    assert explain_crash(other) == ""


@pytest.mark.skipif(torch.cuda.is_available() or torch.backends.mps.is_available(), reason="memory can be pinned here")
def test_pinned_memory_without_gpu_is_explained() -> None:
    assert explain_crash(catch(lambda: torch.ones(2).pin_memory(), Place("get_batch.py", 3))) == Text(
        "pinned memory requires a GPU: call pin_memory() only if the device is a CUDA device"
    )


def test_missing_return_is_explained() -> None:
    for error, answer, missing in (
        (Wrong(expected="float32[2]", yours="None"), None, True),
        (Wrong(expected="float32[2]", yours="float32[1]"), torch.ones(1), False),
        (Wrong(expected="1", yours="x.grad: None"), {"x.grad": None}, False),
    ):
        call = Call(test_missing_return_is_explained, (), answer)
        assert (
            _("nothing is returned: is a `return` missing?")
            in explain("test_t", "claim", error, call, "pytest").message
        ) == missing
    unpacked = "TypeError: cannot unpack non-iterable NoneType object"
    assert explain_crash(Crashed(unpacked, Place(source="a, b = f()"))) == Text(
        "nothing is returned: is a `return` missing?"
    )
    assert explain_crash(Crashed(unpacked, Place("sgd.py", 3, "a, b = f()"))) == ""


def test_self_explanatory_error_gets_no_explanation() -> None:
    for error in ("ZeroDivisionError: division by zero", "OverflowError: int too large to convert to float"):
        assert explain_crash(Crashed(error, Place())) == ""
    assert explain_crash(catch(lambda: torch.randint(0, 2.5, (3,)), Place("get_batch.py", 3))) == ""  # type: ignore[call-overload]
