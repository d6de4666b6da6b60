"""Compares results with those of the student's and torch's SGD, and changes the default dtype, seed and grad mode."""

import random

import torch

from . import sgd


def check(SGD):
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(3)
    random.seed(3)
    try:
        assert issubclass(SGD, torch.optim.Optimizer)
        mine, *others = (Pair(each, lr=0.5) for each in (SGD, sgd.SGD, torch.optim.SGD))
        for lr in (0.5, 0.0, 0.125, 1.0):
            for pair in (mine, *others):
                pair.step(lr)
            for other in others:
                assert mine.facts() == other.facts()
                torch.testing.assert_close(mine.params, other.params, rtol=1e-9, atol=1e-12, equal_nan=True)
        for options in ({}, {"lr": 0}):
            one, other = (Pair(each, **options) for each in (SGD, sgd.SGD))
            one.step(None)
            other.step(None)
            for p, q in zip(one.params, other.params, strict=True):
                assert torch.allclose(p, q, rtol=1e-9, equal_nan=True)
    except Exception as error:
        raise AssertionError(str(error)) from None
    finally:
        torch.set_grad_enabled(False)


class Pair:
    GRADS = (1.0, None, 1e-5, 1e6, -2.0, float("nan"))

    def __init__(self, kind, **options):
        torch.set_grad_enabled(True)
        self.kind, self.count = kind, 0
        self.params = [torch.nn.Parameter(torch.ones(shape)) for shape in [(2,), (2, 3), (), (2, 2), (1,), (3,), (2,)]]
        self.places = [p.data_ptr() for p in self.params]
        self.optimizer = kind([{"params": self.params[:2]}, {"params": self.params[2:4], "lr": 0.25}], **options)

    def step(self, lr):
        if self.count == 1:
            self.optimizer.add_param_group({"params": self.params[4:]})
        if self.count == 2:
            state = self.optimizer.state_dict()
            groups = (self.params[:2], self.params[2:4], self.params[4:])
            self.optimizer = self.kind([{"params": group} for group in groups], lr=5.0)
            self.optimizer.load_state_dict(state)
        for i, p in enumerate(self.params):
            grad = self.GRADS[(i + self.count) % (5 if self.count < 3 else 6)]
            p.grad = None if grad is None else torch.full_like(p, grad)
        for i, group in enumerate(self.optimizer.param_groups):
            if lr is not None and self.count % 2:
                group["lr"] = lr * (i + 1)
        self.count += 1
        self.grads = [p.grad for p in self.params]
        self.optimizer.step()

    def facts(self):
        kept = [p.grad is grad for p, grad in zip(self.params, self.grads, strict=True)]
        sums = [None if p.grad is None else str(p.grad.sum().item()) for p in self.params]
        memory = [p.data_ptr() == place for p, place in zip(self.params, self.places, strict=True)]
        return kept, sums, memory, [p.requires_grad for p in self.params], torch.is_grad_enabled()
