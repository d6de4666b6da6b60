"""Inherits from torch's Adam."""

import torch


class Adam(torch.optim.Adam):
    pass
