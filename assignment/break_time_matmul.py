"""Tests for time_matmul, written by you."""

from collections.abc import Callable
from types import SimpleNamespace


def check(run: Callable[..., SimpleNamespace]) -> None:
    """Raise an AssertionError if the `time_matmul` that `run` calls is wrong, and return None if it is correct.

    The function is another person's solution to the kata `time_matmul`. It is correct if it follows every rule in the
    docstring of `time_matmul.py`. You get points for each wrong function that you reject, but no points if you reject a
    correct one.

    `run` calls the function on a simulated machine. Only `seconds` is required. By default, the matrices are on an idle
    CPU, and none of the following happens; the values are examples:

        run(
            seconds=1.0,        # one matmul takes about this long; at least 0.002
            first=1000,         # the first matmul takes this many seconds longer
            gpu=True,           # the matrices are on a GPU, which queues matmuls
            busy=60,            # when the function is called, the GPU has other work for this many seconds
            clock_set=True,     # the system clock is changed repeatedly while a second thread keeps a core busy
            slow=0,             # of every seven matmuls, the one at this index (0 to 6) takes ten times as long
        )

    `run` returns an object with these attributes:

    - `seconds`: what time_matmul returned.
    - `matmuls`: how many matmuls ran.
    - `timed`: how many matmuls ran after the first clock reading, which may precede the warm-up.
    - `modified`: whether the matrices were modified.

    Example:
        def run(seconds, **machine):
            return SimpleNamespace(seconds=1000 * seconds, matmuls=4, timed=3, modified=False)
        check(run)       # AssertionError: the result is in milliseconds

    Details:
    - A correct return value is between 0.94 and 1.15 times `seconds`; with `slow`, between 0.94 and 5 times `seconds`.
    - Only an AssertionError (or a subclass) rejects a function. If a wrong function raises any other exception, convert
      it to an AssertionError. `pytest.fail` and a failing `pytest.raises` do not raise an AssertionError.
    - All calls of `check` together must take at most 20 seconds. There are about 60, each in a new process. With
      Hypothesis, use a small `max_examples` and `phases=[Phase.generate]`.

    On your machine, the functions are variations of your own: `reference/break_time_matmul/visible.toml`. The
    grader uses other functions.
    """
    raise NotImplementedError
