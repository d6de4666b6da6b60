"""Replaces the student's `adagrad` in katas that build on it, if the student's version fails its tests."""

from collections.abc import Iterable
from typing import Any

import torch


class AdaGrad(torch.optim.Adagrad):
    """torch's AdaGrad. Its epsilon differs from the kata's, but like the kata's AdaGrad, it has a state to save."""

    def __init__(self, params: Iterable[Any], lr: float = 0.01) -> None:
        super().__init__(params, lr=lr)
