"""Replaces the student's `promised_flops`, if it does not pass, in the katas that build on it."""


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Divide the achieved FLOP/s by the promised FLOP/s."""
    return flops / seconds / promised
