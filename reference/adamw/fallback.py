"""Replaces the student's `adamw` in katas that build on it, if the student's version fails its tests."""

from torch.optim import AdamW

__all__ = ["AdamW"]
