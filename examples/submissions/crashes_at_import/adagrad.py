"""Kata 6, with a package that is not there."""

import adagrad_magic
import torch


class AdaGrad(torch.optim.Optimizer):
    """Somebody else's."""

    step = adagrad_magic.step
