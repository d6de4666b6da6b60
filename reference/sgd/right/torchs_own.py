"""Inherits from torch's SGD, whose default lr differed in older versions."""

import torch


class SGD(torch.optim.SGD):
    def __init__(self, params, lr=0.01):
        super().__init__(params, lr=lr)
