"""Replaces the student's `adamw` in the katas that build on it if its tests fail."""

from torch.optim import AdamW

__all__ = ["AdamW"]
