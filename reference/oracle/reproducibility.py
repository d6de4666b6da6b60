"""When two runs draw the same numbers."""


def repeats(drawn_by: str, first: int, second: int) -> bool:  # noqa: ARG001  (the same for all)
    """Whether what is drawn by a library, or by a whole run, after the seed `first` is drawn again after `second`."""
    return first == second
