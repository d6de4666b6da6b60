"""Takes the place of `sgd` while what builds on it is graded."""

from collections.abc import Iterable
from typing import Any

import torch


class SGD(torch.optim.SGD):
    """Torch's own, with the kata's default rate."""

    def __init__(self, params: Iterable[Any], lr: float = 0.01) -> None:
        super().__init__(params, lr=lr)
