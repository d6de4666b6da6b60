"""Replaces the student's `adagrad`, if it does not pass, in the katas that build on it."""

from collections.abc import Iterable
from typing import Any

import torch


class AdaGrad(torch.optim.Adagrad):
    """Torch's AdaGrad: its epsilon differs from the kata's, but it has a state to save."""

    def __init__(self, params: Iterable[Any], lr: float = 0.01) -> None:
        super().__init__(params, lr=lr)
