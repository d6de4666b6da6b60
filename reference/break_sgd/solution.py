"""Tests for SGD."""

import copy
import math
from typing import Any

import torch
from torch import Tensor, nn

SHAPES = [(), (3,), (2, 3), (2, 1, 2)]


def check(SGD: type[torch.optim.Optimizer]) -> None:
    """Run all tests. If SGD raises an unexpected exception, convert it to an AssertionError."""
    try:
        check_default_rate(SGD)
        check_steps(SGD)
        check_scheduler(SGD)
        check_loading(SGD)
        check_nan(SGD)
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            check_in_place(SGD, dtype)
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"SGD raises {type(error).__name__}: {error}") from error
    finally:
        torch.set_grad_enabled(True)


def make_parameter(shape: tuple[int, ...], dtype: torch.dtype = torch.float64) -> nn.Parameter:
    """Return a parameter with normally distributed elements."""
    return nn.Parameter(torch.randn(shape, dtype=torch.float64).to(dtype))


def make_gradient(p: nn.Parameter) -> Tensor:
    """Return a gradient with elements of very different magnitudes."""
    powers = torch.empty(p.shape, dtype=torch.float64).uniform_(-6, 6)
    return (torch.randn(p.shape, dtype=torch.float64).sign() * 10**powers).to(p.dtype)


def assert_close(p: nn.Parameter, expected: Tensor, what: str) -> None:
    """Assert that a parameter equals `expected`, up to the rounding errors of terms as large as a few million."""
    assert p.shape == expected.shape and p.dtype == expected.dtype, what
    eps = torch.finfo(p.dtype).eps
    assert torch.allclose(p.detach(), expected, rtol=8 * eps, atol=1e-9, equal_nan=True), what


def check_default_rate(SGD: Any) -> None:
    """Assert that lr defaults to 0.01, that a group without its own lr uses the constructor's, and that 0 is valid."""
    SGD([make_parameter((2,))], lr=0.0).step()
    for options, lr in (({}, 0.01), ({"lr": 0.5}, 0.5)):
        p, q = make_parameter((2,)), make_parameter((2,))
        expected = [each.detach() - lr * torch.ones(2, dtype=torch.float64) for each in (p, q)]
        for each in (p, q):
            each.grad = torch.ones_like(each)
        for params in ([p], [{"params": [q]}]):
            optimizer = SGD(params, **options)
            assert isinstance(optimizer, torch.optim.Optimizer), "SGD is not an Optimizer"
            optimizer.step()
        assert_close(p, expected[0], "default lr")
        assert_close(q, expected[1], "default lr of a group")


def check_steps(SGD: Any) -> None:
    """Check several steps with changing learning rates, missing gradients, and a group that is added later."""
    groups = [[make_parameter(shape) for shape in SHAPES] for _ in range(3)]
    optimizer = SGD([{"params": groups[0]}, {"params": groups[1], "lr": 0.3}], lr=0.1)
    rates = [0.1, 0.3]
    for t in range(5):
        if t == 2:
            optimizer.add_param_group({"params": groups[2], "lr": 0.7})
            rates.append(0.7)
        if t == 3:
            rates = [0.0, 0.9, 0.2]
        if t == 4:
            rates = [0.4, 0.0, 0.6]
        for group, lr in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = lr
        expected = []
        for g, group in enumerate(groups):
            for i, p in enumerate(group):
                p.grad = None if (i + t + g) % 3 == 0 else make_gradient(p)
                lr = rates[g] if g < len(rates) else 0.0
                expected.append(p.detach().clone() if p.grad is None else p.detach() - lr * p.grad)
        optimizer.step()
        for p, value in zip((p for group in groups for p in group), expected, strict=True):
            assert_close(p, value, f"step {t}")


def check_scheduler(SGD: Any) -> None:
    """Assert that a scheduler can change the learning rate."""
    p = make_parameter((2,))
    optimizer = SGD([p], lr=0.5)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda t: (1.0, 0.5, 0.0, 3.0)[t])
    for factor in (1.0, 0.5, 0.0):
        p.grad = make_gradient(p)
        expected = p.detach() - 0.5 * factor * p.grad
        optimizer.step()
        scheduler.step()
        assert_close(p, expected, "scheduler")


def check_loading(SGD: Any) -> None:
    """Assert that a step uses the loaded learning rates."""
    p, q = make_parameter((2,)), make_parameter((2,))
    optimizer = SGD([{"params": [p]}, {"params": [q], "lr": 0.25}], lr=0.5)
    saved = copy.deepcopy(optimizer.state_dict())
    other = SGD([{"params": [p]}, {"params": [q]}], lr=0.125)
    other.load_state_dict(saved)
    p.grad, q.grad = make_gradient(p), make_gradient(q)
    expected = [p.detach() - 0.5 * p.grad, q.detach() - 0.25 * q.grad]
    other.step()
    assert_close(p, expected[0], "loaded lr")
    assert_close(q, expected[1], "loaded lr of the second group")


def check_nan(SGD: Any) -> None:
    """Assert that a gradient that contains NaN is applied."""
    p = make_parameter((2,))
    p.grad = torch.full_like(p, math.nan)
    SGD([p], lr=0.1).step()
    assert p.isnan().all(), "a gradient with NaN is not applied"


def check_in_place(SGD: Any, dtype: torch.dtype) -> None:
    """Assert that a step changes only the values of the parameters, even if one of them is not contiguous."""
    transposed = nn.Parameter(torch.randn(3, 2, dtype=torch.float64).to(dtype).t())
    params = [transposed, make_parameter((2, 3), dtype), make_parameter((), dtype), make_parameter((3,), dtype)]
    optimizer = SGD(params, lr=0.5)
    for p in params[:-1]:
        p.grad = make_gradient(p)
    grads = [p.grad for p in params]
    values = [None if grad is None else grad.clone() for grad in grads]
    places, strides = [p.data_ptr() for p in params], [p.stride() for p in params]
    expected = [p.detach().clone() if p.grad is None else p.detach() - 0.5 * p.grad for p in params]
    optimizer.step()
    assert torch.is_grad_enabled(), "autograd stays off"
    for i, p in enumerate(params):
        assert_close(p, expected[i], f"{dtype}")
        assert optimizer.param_groups[0]["params"][i] is p, "another Parameter"
        assert p.data_ptr() == places[i] and p.stride() == strides[i], "other memory"
        assert p.requires_grad and p.is_leaf, "requires_grad"
        assert p.grad is grads[i], "grad is replaced"
        value = values[i]
        assert p.grad is None or value is None or torch.equal(p.grad, value), "grad is changed"
