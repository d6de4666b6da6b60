"""Replaces the student's `adamw` in the katas that build on it if it does not pass."""

from torch.optim import AdamW

__all__ = ["AdamW"]
