"""Replaces the student's `promised_flops` in katas that build on it, if the student's version fails its tests."""


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Divide the achieved FLOP/s by the promised FLOP/s."""
    return flops / seconds / promised
