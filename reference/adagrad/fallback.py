"""Replaces the student's `adagrad` in the katas that build on it if it does not pass."""

from collections.abc import Iterable
from typing import Any

import torch


class AdaGrad(torch.optim.Adagrad):
    """Torch's AdaGrad, whose epsilon differs from the kata's but which also has a state to save."""

    def __init__(self, params: Iterable[Any], lr: float = 0.01) -> None:
        super().__init__(params, lr=lr)
