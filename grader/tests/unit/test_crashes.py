"""Tests of the explanations of crashes, using errors that torch and NumPy actually raise."""

import copy
import importlib
import io
import multiprocessing
import pathlib
from collections.abc import Callable
from typing import Any
from unittest.mock import ANY

import einops
import numpy as np
import pytest
import torch
from torch import autograd, nn

from tests.probes.loading import load
from torchkata.course import course
from torchkata.diagnosis.crashes import PATTERNS, explain_crash
from torchkata.diagnosis.explain import explain
from torchkata.inside.assignment import Assignment
from torchkata.inside.reply import LACKS_STATE, Reply, format_error
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


def import_from_init() -> None:
    Assignment(course().assignment)
    exec("from assignment import no_such_name")


def change_in_place() -> None:
    y = make_param().exp()
    y.add_(1)
    autograd.backward(y.sum())


def copy_result() -> None:
    copy.deepcopy({"m": make_param() * 2})


class NoSelf:
    """A class with a method that lacks `self`."""

    def __init__(self, x: int) -> None:
        pass

    def forward(x: Any) -> Any:  # noqa: N805
        return x


class NoBase(nn.Module):
    """A layer that does not call `super().__init__()`."""

    def __init__(self, start: object = 1.0) -> None:
        self.start = start


class PlainWeight(nn.Module):
    """A layer whose weight is not a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.ones(2)


class NumberForDefaults(torch.optim.Optimizer):
    """An optimizer that passes a number where torch expects a dict."""

    def __init__(self, params: Any, lr: Any) -> None:
        super().__init__(params, lr)


def call_without_end() -> None:
    call_without_end()


def load_whole_model() -> None:
    torch.save({"model": nn.Linear(1, 1)}, file := io.BytesIO())
    file.seek(0)
    torch.load(file, weights_only=True)


def load_two_results() -> None:
    file = io.BytesIO()
    for part in (nn.Linear(1, 1).state_dict(), {"step": 1}):
        torch.save(part, file)
    file.seek(0)
    torch.load(file)


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
    "this module belongs to the course": [
        lambda: importlib.import_module("reference.no_such_kata"),
        lambda: importlib.import_module("torchkata.no_such_module"),
    ],
    "calls itself without end": [call_without_end],
    "its __init__.py never runs": [import_from_init],
    "out of memory": [lambda: torch.empty(2**50), lambda: np.empty(2**58)],
    "no graph to backpropagate": [
        lambda: autograd.backward(torch.ones(1)),
        lambda: autograd.grad(torch.ones(1), torch.ones(1)),
    ],
    "modified in place outside": [lambda: make_param().add_(1), lambda: make_param()[0].add_(1)],
    "uninitialized memory": [
        lambda: torch.ones(3)[torch.tensor([2**63 - 1])],
        lambda: np.ones(3)[np.array([2**63 - 1])],
    ],
    "backward pass still needs": [change_in_place],
    "still attached to the autograd graph": [copy_result],
    "is a plain tensor": [load_into_plain_tensor],
    "a second time": [backward_twice],
    "a device (cuda or mps) is used": [
        lambda: torch.zeros(1, device="cuda"),
        lambda: torch.zeros(1, device="mps"),
        lambda: torch.zeros(1).to("mps"),
    ],
    "works only once in a process": [
        lambda: [*map(torch.set_num_interop_threads, [torch.get_num_interop_threads()] * 2)],
        lambda: [torch.library.Library("kata", "DEF") for _ in range(2)],  # type: ignore[no-untyped-call]
        lambda: [multiprocessing.set_start_method(multiprocessing.get_start_method()) for _ in range(2)],
    ],
    "with an empty list": [
        lambda: torch.stack([]),
        lambda: torch.cat([]),
        lambda: np.stack([]),
        lambda: np.concatenate([]),
    ],
    "does not support its dtype": [lambda: torch.ones(1, dtype=torch.bfloat16).numpy()],
    "cannot track gradients": [lambda: make_param().numpy()],
    "a size of -1": [lambda: torch.ones(0, 2).reshape(-1, 0)],
    "no element at this index": [lambda: nn.ModuleList()[0], lambda: nn.Sequential(nn.ReLU())[1]],
    "view() cannot": [lambda: torch.ones(2, 3).T.view(6)],
    "of einsum": [lambda: torch.einsum("b...i,io->b...o", torch.ones(2), torch.ones(2, 3))],
    "no dimension other than 0": [lambda: torch.ones(2).transpose(-2, -1), lambda: torch.ones(()).sum(1)],
    "another number of dimensions": [
        lambda: torch.ones(2, 3, 4).t(),
        lambda: torch.ones(2, 3, 4).mm(torch.ones(4, 5)),
        lambda: torch.mm(torch.ones(2, 3, 4), torch.ones(4, 5)),
        lambda: torch.bmm(torch.ones(2, 3, 4), torch.ones(4, 5)),
    ],
    "inner dimensions": [lambda: torch.ones(2, 3) @ torch.ones(2, 3)],
    "divided by 0": [lambda: torch.multinomial(torch.tensor([0.0, torch.nan]), 1)],
    "classes in dimension 1": [
        lambda: nn.functional.cross_entropy(torch.ones(2, 3, 4), torch.zeros(2, 3).long()),
        lambda: nn.functional.cross_entropy(torch.ones(2, 4), torch.zeros(6).long()),
    ],
    "instead of a Parameter": [lambda: torch.optim.SGD([make_param() * 2], lr=1.0)],
    "before it is assigned": [read_before_assignment],
    "None is used": [lambda: 0.1 * make_param().grad, lambda: make_param().grad.square()],  # type: ignore[operator, union-attr]
    "the NumPy seed": [lambda: np.random.seed(2**32)],
    "fixed-width integer": [
        lambda: np.int32(2**40),
        lambda: np.zeros(1, np.int64) + 2**70 * np.ones(1, np.int64),
        lambda: torch.full((1,), 2**70, dtype=torch.int64),
    ],
    "does not exist there": [
        lambda: pathlib.Path("no/such.pt").read_text(),
        lambda: np.load("no/such.pt"),
        lambda: np.loadtxt("no/such.pt"),
        lambda: torch.load("no/such.pt"),
    ],
    "not installed here": [lambda: importlib.import_module("no_such_package")],
    "exit() and quit()": [lambda: eval("exit()", {"__builtins__": {}}), lambda: eval("quit(1)", {"__builtins__": {}})],
    "nobody can type": [lambda: input()],
    "only on a scalar": [lambda: autograd.backward(make_param() * 2)],
    "super().__init__": [
        lambda: NoBase(make_param()),
        lambda: NoBase().state_dict(),
        lambda: list(NoBase().parameters()),
        lambda: NoBase()(1),
        lambda: NoGroups().param_groups,
        lambda: NoGroups().state_dict(),
    ],
    "save its state_dict": [load_whole_model],
    "with a single torch.save": [load_two_results, lambda: torch.load(io.BytesIO(b"PK"))],
    "as a dict, such as": [lambda: NumberForDefaults([make_param()], 0.1)],
    "used as a condition": [lambda: bool(torch.ones(2))],
    "super is not called": [lambda: super.__init__()],  # type: ignore[call-overload]
    "once per side": [lambda: einops.reduce(torch.ones(2, 2), "i i -> i", "sum")],
    "for numbers, use": [lambda: torch.sqrt(3)],  # type: ignore[arg-type]
    "is `self`": [lambda: NoSelf(1).forward(2), lambda: NoSelf(*[0], **{"x": 1})],  # type: ignore[call-arg]
    "keyword-only": [lambda: get_batch(4)],  # type: ignore[call-arg]
    "randint must": [
        lambda: torch.randint(0, 5, 3),  # type: ignore[call-overload]
        lambda: torch.randint(5, 3),  # type: ignore[call-overload]
        lambda: torch.randint(0, high=5, size=3),  # type: ignore[call-overload]
    ],
}


@pytest.mark.parametrize(("part", "crash"), [(part, crash) for part, crashes in CRASHES.items() for crash in crashes])
def test_common_crash_is_explained(part: str, crash: Callable[[], object]) -> None:
    if part.startswith("a device ") and (torch.cuda.is_available() or torch.backends.mps.is_available()):
        pytest.skip("there is a GPU here")
    raised = catch(crash, Place("linear.py", 3, "as it was"))
    explanation = str(explain_crash(raised))
    assert part in explanation, raised
    assert "{" not in explanation, "a value is missing"


def test_every_explanation_matches_a_real_error() -> None:
    parts = [*CRASHES, "has no such key", "keepdim=True missing", "pinned memory", "use `.mT`"]
    assert [[part for part in parts if part in str(text)] for text in PATTERNS.values()] == [[ANY]] * len(parts)


def test_advice_to_trust_a_file_is_not_shown() -> None:
    for crash in (load_whole_model, *CRASHES["with a single torch.save"]):
        error = catch(crash, Place("checkpoint.py", 3)).error
        assert "will likely succeed" not in error
        assert explain_crash(Crashed(error, Place("checkpoint.py", 3)))


def test_missing_temporary_file_is_not_missing_in_zip(tmp_path: pathlib.Path) -> None:
    raised = catch(lambda: (tmp_path / "run.pt.tmp").unlink(), Place("checkpoint.py", 3))
    assert explain_crash(raised) == ""
    own = catch(lambda: (tmp_path / "assignment/gain.json").read_text(), Place("linear.py", 3))
    assert "assignment/gain.json does not exist there" in str(explain_crash(own))


def test_inplace_method_on_leaf_tensor_is_named() -> None:
    raised = catch(lambda: make_param().mul_(2), Place("linear.py", 3, "return self.scale.mul_(2) @ x"))
    named = "`mul_()` changes a tensor that requires grad in place: use `mul()`"
    assert str(explain_crash(raised)).startswith(named)


def test_key_error_from_empty_optimizer_state_is_explained() -> None:
    empty: dict[str, object] = {}
    lines = ('g2 = self.state[p]["g2"]', "return table[name]")
    direct, other = (catch(lambda: empty["g2"], Place("adagrad.py", 3, line)) for line in lines)
    aliased = Crashed("KeyError: 'g2'" + LACKS_STATE, Place("adagrad.py", 3, 's["g2"]'))
    assert str(explain_crash(direct)).startswith("self.state[p] has no such key")
    assert explain_crash(direct) == explain_crash(aliased)
    assert explain_crash(other) == ""


@pytest.mark.skipif(torch.cuda.is_available() or torch.backends.mps.is_available(), reason="memory can be pinned here")
def test_pinned_memory_without_gpu_is_explained() -> None:
    raised = catch(lambda: torch.ones(2).pin_memory(), Place("get_batch.py", 3))
    assert str(explain_crash(raised)).startswith("pinned memory requires a GPU")


def test_lost_dimension_is_explained_where_it_is_lost() -> None:
    rows, lines = torch.ones(3, 2), ("x / x.mean(-1)", "x / x.mean(-1, keepdim=True)", "x / y")
    crashes = [catch(lambda: rows / rows.mean(-1), Place("puzzles.py", 3, line)) for line in lines]
    assert ["keepdim=True missing" in str(explain_crash(crash)) for crash in crashes] == [True, False, False]


def test_transpose_of_leading_dimensions_is_explained() -> None:
    q, lines = torch.ones(2, 1, 1), ("q @ k.transpose(0, 1)", "q @ k.T", "q @ k.mT")
    crashes = [catch(lambda: q @ q.transpose(0, 1), Place("attention.py", 3, line)) for line in lines]
    assert ["use `.mT`" in str(explain_crash(crash)) for crash in crashes] == [True, True, False]


def test_missing_return_is_explained() -> None:
    for error, answer, missing in (
        (Wrong(expected="float32[2]", yours="None"), None, True),
        (Wrong(expected="float32[2]", yours="float32[1]"), torch.ones(1), False),
        (Wrong(expected="1", yours="x.grad: None"), {"x.grad": None}, False),
    ):
        call = Call(test_missing_return_is_explained, (), answer)
        message = explain("test_t", "claim", error, call, "pytest").message
        assert ("nothing is returned" in message) == missing
    unpacked = "TypeError: cannot unpack non-iterable NoneType object"
    assert "nothing is returned" in str(explain_crash(Crashed(unpacked, Place(source="a, b = f()"))))
    assert explain_crash(Crashed(unpacked, Place("sgd.py", 3, "a, b = f()"))) == ""


def test_self_explanatory_error_gets_no_explanation() -> None:
    for error in ("ZeroDivisionError: division by zero", "OverflowError: int too large to convert to float"):
        assert explain_crash(Crashed(error, Place())) == ""
    assert explain_crash(catch(lambda: torch.randint(0, 2.5, (3,)), Place("get_batch.py", 3))) == ""  # type: ignore[call-overload]
