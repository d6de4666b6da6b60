"""Replaces the student's `sgd` in katas that build on it, if the student's version fails its tests."""

from collections.abc import Iterable
from typing import Any

import torch


class SGD(torch.optim.SGD):
    """Torch's SGD with the kata's default learning rate."""

    def __init__(self, params: Iterable[Any], lr: float = 0.01) -> None:
        super().__init__(params, lr=lr)
