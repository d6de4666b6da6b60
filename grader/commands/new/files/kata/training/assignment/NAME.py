"""NAME: fit a line through the origin by gradient descent."""


def NAME(xs: list[float], ys: list[float], rate: float, steps: int) -> float:
    """Return the slope w of the line y = w·x after `steps` steps of gradient descent, beginning with w = 0.

    Each step subtracts `rate` times the derivative, with respect to w, of the mean of (w·x - y)².

    Example:
        NAME([1.0, 2.0], [2.0, 4.0], rate=0.1, steps=1)    # 1.0: the derivative at w = 0 is -10
    """
    raise NotImplementedError
