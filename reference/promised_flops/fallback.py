"""Replaces the student's `promised_flops` in the katas that build on it if its tests fail."""


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Divide the achieved FLOP/s by the promised FLOP/s."""
    return flops / seconds / promised
