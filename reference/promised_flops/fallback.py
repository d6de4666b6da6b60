"""Replaces `promised_flops` when katas that build on it are graded and the student's own does not pass."""


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Divide the achieved FLOP/s by the promised FLOP/s."""
    return flops / seconds / promised
