"""Tests for time_matmul, written by you."""

from collections.abc import Callable
from types import SimpleNamespace


def check(run: Callable[..., SimpleNamespace]) -> None:
    """Raise an AssertionError if a function `time_matmul` is wrong, and return None if it is right.

    The function was written by another person as a solution to the kata `time_matmul`. It is right if it follows every
    rule in the docstring of `time_matmul.py`. You get points for the wrong ones that you reject, but no points if you
    reject a right one.

    `run(seconds)` calls the function on a simulated machine, where one matmul takes about `seconds` (0.002 or more).
    Further arguments:

    - `first`: additional seconds of the first matmul, such as 1000.
    - `gpu=True`: the matrices are on a GPU, which queues matmuls.
    - `busy`: the seconds of other work that the GPU does at the start.
    - `clock_set=True`: the system clock is set meanwhile, and a second thread is busy.
    - `slow`: a number from 0 to 6. Of every seven matmuls, the one at this index takes ten times as long.

    Its result has the attributes `seconds` (what time_matmul returned), `matmuls` (their number), `timed` (the number
    after the first clock reading, which may precede the warm-up) and `modified` (whether the matrices were modified).

    Example:
        def run(seconds, **machine):
            return SimpleNamespace(seconds=1000 * seconds, matmuls=4, timed=3, modified=False)
        check(run)       # AssertionError: the result is in milliseconds

    Details:
    - A right result is between 0.94 and 1.15 times `seconds`, or with `slow`, between 0.94 and 5 times.
    - Only an AssertionError (or a subclass) rejects a function. If a wrong function raises another exception, raise an
      AssertionError instead. `pytest.raises` and `pytest.fail` raise other exceptions.
    - All calls together may take 20 seconds. There are about 60 calls, each in a new process. With
      Hypothesis, use a small `max_examples` and `phases=[Phase.generate]`.

    On your machine, the functions are variations of your own: `reference/break_time_matmul/visible.toml`. The
    grader uses other functions.
    """
    raise NotImplementedError
