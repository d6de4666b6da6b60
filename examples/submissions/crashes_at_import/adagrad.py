"""Kata 6, importing a package that is not installed."""

import adagrad_magic
import torch


class AdaGrad(torch.optim.Optimizer):
    """An optimizer from another package."""

    step = adagrad_magic.step
