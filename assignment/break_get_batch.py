"""Tests for get_batch, written by you."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor


def check(get_batch: Callable[..., Tensor]) -> None:
    """Raise an AssertionError if the function `get_batch` is wrong, and return None if it is correct.

    `get_batch` is another person's solution to the kata `get_batch`. It is correct if it follows every rule in the
    docstring of `get_batch.py`; each wrong function breaks one rule. You get points for each wrong function that you
    reject, but no points if you reject a correct one.

    Example:
        def first_rows(data, batch_size, sequence_length, device="cpu"):
            return torch.arange(batch_size * sequence_length).reshape(batch_size, sequence_length)
        check(first_rows)       # AssertionError: its rows are not random windows of the data

    Details:
    - Only an AssertionError (or a subclass) rejects a function. If a wrong function raises an unexpected exception,
      convert it to an AssertionError. `pytest.fail` and a failing `pytest.raises` do not raise an AssertionError.
    - A correct function may do anything that `get_batch.py` calls "not specified". For example, it may return
      `torch.uint16`, for which torch has few operations, or raise a subclass of ValueError or RuntimeError.
    - `check` is called twice for each function, with different seeds. Both calls must give the same verdict, so
      a statistical test should fail by chance at most once in a million calls.
    - You need not test the rule about CUDA devices (no such device is available), or how much of a memmap is read.
    - All calls together must take at most 20 seconds. There are about 60 calls, each in a new process. With Hypothesis,
      use a small `max_examples` and `phases=[Phase.generate]`.

    On your machine, the functions are variations of your own get_batch: `reference/break_get_batch/visible.toml`.
    The grader uses other functions.

    Not specified (any choice is fine): the error's message; the number of assertions.
    """
    raise NotImplementedError
