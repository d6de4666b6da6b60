"""Replacement for `promised_flops` when katas that build on it are graded."""


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Divide the achieved by the promised FLOP/s."""
    return flops / seconds / promised
