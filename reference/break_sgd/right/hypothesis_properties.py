"""Lets Hypothesis draw the parameters, gradients and learning rates."""

import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

SHAPES = st.sampled_from([(), (1,), (2, 3)])
GRADS = st.sampled_from([None, 1e-6, 0.5, -3.0, 1e7, float("nan")])
RATES = st.permutations([0.0, 0.125, 0.5])
GROUPS = st.lists(
    st.lists(st.tuples(SHAPES, st.lists(GRADS, min_size=3, max_size=3)), min_size=1, max_size=3), min_size=2, max_size=3
)


def check(SGD):
    @settings(
        max_examples=12,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(GROUPS, st.lists(RATES, min_size=3, max_size=3), st.booleans())
    def follow(groups, rates, load):
        params = [[torch.nn.Parameter(torch.full(shape, 0.75).double()) for shape, _ in group] for group in groups]
        optimizer = SGD(params[0], lr=0.01)
        for group in params[1:]:
            optimizer.add_param_group({"params": group})
        for step, row in enumerate(rates):
            for group, lr in zip(optimizer.param_groups, row, strict=False):
                group["lr"] = lr
            if load:
                fresh = SGD([{"params": group} for group in params], lr=9.0)
                fresh.load_state_dict(optimizer.state_dict())
                optimizer = fresh
            take(optimizer, params, [[grads[step] for _, grads in group] for group in groups], row)

    try:
        follow()
        p = torch.nn.Parameter(torch.ones(2).double())
        take(SGD([p], lr=0), [[p]], [[5.0]], [0.0])
        take(SGD([p]), [[p]], [[1.0]], [0.01])
    except BaseException as error:
        if isinstance(error, (AssertionError, KeyboardInterrupt)):
            raise
        raise AssertionError(repr(error)) from error
    finally:
        torch.set_grad_enabled(True)


def take(optimizer, params, grads, rates):
    before = []
    for group, values, lr in zip(params, grads, rates, strict=False):
        for p, value in zip(group, values, strict=True):
            p.grad = None if value is None else torch.full_like(p, value)
            before.append((p, p.grad, p.data_ptr(), p.detach().clone() - (0 if value is None else lr * p.grad), value))
    optimizer.step()
    assert isinstance(optimizer, torch.optim.Optimizer)
    assert torch.is_grad_enabled()
    for p, grad, place, expected, value in before:
        assert p.grad is grad
        assert p.data_ptr() == place
        assert p.requires_grad
        assert value is None or value != value or (grad == value).all()
        assert torch.allclose(p, expected, rtol=1e-9, atol=1e-12, equal_nan=True)
