"""Compares random runs with torch's own SGD, using `torch.testing.assert_close`."""

import copy

import torch

SHAPES = [(2, 3), (), (4,)]


def check(SGD):
    try:
        for seed in range(5):
            torch.manual_seed(seed)
            compare(SGD)
        defaults(SGD)
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError from error


def compare(SGD):
    params = [torch.nn.Parameter(torch.randn(shape, dtype=torch.float64)) for shape in SHAPES * 2]
    copies = copy.deepcopy(params)
    groups = [{"params": params[:3], "lr": 0.1}, {"params": params[3:5]}]
    copied = [{"params": copies[:3], "lr": 0.1}, {"params": copies[3:5]}]
    mine, other = torch.optim.SGD(copied, lr=0.5), SGD(groups, lr=0.5)
    assert isinstance(other, torch.optim.Optimizer)
    places, saved = [p.data_ptr() for p in params], []
    for step in range(6):
        if step == 2:
            mine.add_param_group({"params": copies[5:]})
            other.add_param_group({"params": params[5:]})
        if step == 4:
            mine.load_state_dict(saved[0])
            other.load_state_dict(saved[1])
        if step == 3:
            saved[:] = [copy.deepcopy(optimizer.state_dict()) for optimizer in (mine, other)]
        for optimizer in (mine, other):
            for i, group in enumerate(optimizer.param_groups):
                group["lr"] = [0.1, 0.5, 0.3, 0.0, group["lr"], 0.2][step] * (i + 1)
        for p, c in zip(params, copies, strict=True):
            p.grad = None
            if torch.rand(()) > 0.3:
                p.grad = torch.randn_like(p) * 10 ** torch.empty_like(p).uniform_(-6, 6)
                if step == 5:
                    p.grad[...] = torch.nan
            c.grad = None if p.grad is None else p.grad.clone()
        mine.step()
        other.step()
        assert torch.is_grad_enabled()
        for p, c, place in zip(params, copies, places, strict=True):
            torch.testing.assert_close(p, c, equal_nan=True, rtol=1e-10, atol=1e-12)
            assert (p.grad is None) == (c.grad is None)
            assert p.grad is None or torch.equal(p.grad.nan_to_num(), c.grad.nan_to_num())
            assert p.data_ptr() == place
            assert p.requires_grad
            assert p.is_leaf


def defaults(SGD):
    p = torch.nn.Parameter(torch.zeros(1))
    p.grad = torch.ones(1)
    SGD([p], lr=0.0).step()
    assert p == 0
    SGD([p]).step()
    assert abs(p + 0.01) < 1e-6
