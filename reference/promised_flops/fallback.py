"""Takes the place of `promised_flops` while what builds on it is graded."""


def mfu(flops: float, seconds: float, promised: float) -> float:
    """Reached over promised."""
    return flops / seconds / promised
