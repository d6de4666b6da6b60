"""Tests for SGD, written by you."""

import torch


def check(SGD: type[torch.optim.Optimizer]) -> None:
    """Raise an AssertionError if the class `SGD` is wrong, and return None if it is correct.

    `SGD` was written by another person as a solution to the kata `sgd`. It is correct if it has the defaults of the
    stub `sgd.py` and follows every rule in its docstring. `check` is called with correct classes and with wrong ones,
    each of which breaks one rule. You get points for each wrong class that you reject, but no points if you reject a
    correct one.

    Example:
        from torch.optim import RMSprop
        check(RMSprop)       # AssertionError: its update is not p - lr · grad

    Details:
    - Only an AssertionError (or a subclass) rejects a class. If a wrong class raises an unexpected exception, convert
      it to an AssertionError. `pytest.fail` and a failing `pytest.raises` do not raise an AssertionError.
    - A correct class may round differently: allow for a few roundings of the parameter's dtype.
    - A correct class may do anything that `sgd.py` calls "not specified". For example, its `step` may not accept a
      closure.
    - `check` is called twice for each class, with different random seeds. Both calls must give the same verdict.
    - All calls together must take at most 20 seconds. There are about 60 calls, each in a new process. With Hypothesis,
      use a small `max_examples` and `phases=[Phase.generate]`.

    On your machine, the classes are variations of your own SGD: `reference/break_sgd/visible.toml`.
    The grader uses other classes.

    Not specified (any choice is fine): the message of the AssertionError; the number of assertions; whether you use
    random inputs, Hypothesis or `torch.testing`.
    """
    raise NotImplementedError
