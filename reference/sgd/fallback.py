"""Replaces the student's `sgd` in the katas that build on it if its tests fail."""

from collections.abc import Iterable
from typing import Any

import torch


class SGD(torch.optim.SGD):
    """Torch's SGD with the kata's default learning rate."""

    def __init__(self, params: Iterable[Any], lr: float = 0.01) -> None:
        super().__init__(params, lr=lr)
