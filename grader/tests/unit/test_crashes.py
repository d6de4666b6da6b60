"""What is said of a crash fits the error that torch and NumPy really raise there."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from torchkata.crashes import MEANT, meaning
from torchkata.languages import words


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
]


@pytest.mark.parametrize(("key", "crash"), CRASHES)
def test_a_crash_is_said_to_be_what_it_is(key: str, crash: Callable[[], object]) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011
        crash()
    error = f"{type(raised.value).__name__}: {raised.value}"
    assert meaning(error) == words(f"crash.{key}"), error


def test_every_sentence_is_of_a_real_error() -> None:
    assert {key for key, _ in CRASHES} == {*MEANT.values()}


def test_nothing_is_said_of_an_error_that_says_enough() -> None:
    assert meaning("ZeroDivisionError: division by zero") == ""
    assert meaning("OverflowError: int too large to convert to float") == ""
