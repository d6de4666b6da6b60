"""When two runs draw the same numbers."""


def repeats(library: str, first: int, second: int) -> bool:  # noqa: ARG001  (the same for every library)
    """Whether what `library` draws after the seed `first` is what it draws after the seed `second`."""
    return first == second
