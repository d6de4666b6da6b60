"""Replacement of `promised_flops` while katas that build on it are graded."""


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Divide reached by promised FLOP/s."""
    return flops / seconds / promised
