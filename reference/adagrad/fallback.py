"""Replaces the student's `adagrad` in the katas that build on it if its tests fail."""

from collections.abc import Iterable
from typing import Any

import torch


class AdaGrad(torch.optim.Adagrad):
    """torch's AdaGrad. Its epsilon differs from that of the kata, but it also has a state to save."""

    def __init__(self, params: Iterable[Any], lr: float = 0.01) -> None:
        super().__init__(params, lr=lr)
