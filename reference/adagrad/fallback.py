"""Replaces `adagrad` when katas that build on it are graded and the student's own does not pass."""

from collections.abc import Iterable
from typing import Any

import torch


class AdaGrad(torch.optim.Adagrad):
    """Torch's AdaGrad: its epsilon differs from the kata's, but it has a state to save."""

    def __init__(self, params: Iterable[Any], lr: float = 0.01) -> None:
        super().__init__(params, lr=lr)
