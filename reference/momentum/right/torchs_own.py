"""Inherits from torch's SGD, with a different default momentum."""

import torch


class Momentum(torch.optim.SGD):
    def __init__(self, params, lr=0.001, momentum=0.9, dampening=0.0, nesterov=False):
        super().__init__(params, lr=lr, momentum=momentum, dampening=dampening, nesterov=nesterov)
