"""Inherits from torch's RMSprop."""

import torch


class RMSprop(torch.optim.RMSprop):
    pass
