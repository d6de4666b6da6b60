"""Inherits from torch's AdamW."""

import torch


class AdamW(torch.optim.AdamW):
    pass
