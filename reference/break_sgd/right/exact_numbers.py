"""Uses only powers of two, so that every correct result is exact, and raises a subclass of AssertionError."""

import copy

import torch


class WrongSGD(AssertionError):
    pass


def demand(condition, why):
    if not condition:
        raise WrongSGD(why)


def check(SGD):
    try:
        for grads in ([2.0, 2.0, 2.0], [2.0**-20, None, 2.0**20], [None, 4.0, None], [float("nan")] * 3):
            for shape in ((), (3,), (3, 2)):
                run(SGD, shape, grads)
        p = torch.nn.Parameter(torch.tensor(1.0))
        p.grad = torch.tensor(1.0)
        SGD([p]).step()
        demand(0.989 < p.item() < 0.991, "default")
        SGD([p], lr=0.0).step()
        demand(0.989 < p.item() < 0.991, "lr of 0")
    except WrongSGD:
        raise
    except Exception as error:
        raise WrongSGD from error
    finally:
        torch.set_grad_enabled(True)


def run(SGD, shape, grads):
    params = [torch.nn.Parameter(torch.ones(shape, dtype=torch.float64)) for _ in range(3)]
    places = [p.data_ptr() for p in params]
    expected = [torch.ones(shape, dtype=torch.float64) for _ in params]
    optimizer = SGD([{"params": params[:1]}, {"params": params[1:2], "lr": 0.25}], lr=0.5)
    for rates in ([0.5, 0.25], [2.0, 1.0], [1.0, 0.0, 0.125], [0.0, 4.0, 0.5]):
        grads = grads[1:] + grads[:1]
        if len(rates) > len(optimizer.param_groups):
            optimizer.add_param_group({"params": params[2:]})
        for group, lr in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = lr
        if rates[0] == 1.0:
            state = copy.deepcopy(optimizer.state_dict())
            optimizer = SGD([{"params": [p]} for p in params])
            optimizer.load_state_dict(state)
        for p, grad in zip(params, grads, strict=True):
            p.grad = None if grad is None else torch.full_like(p, grad)
        objects = [p.grad for p in params]
        for i, lr in enumerate(rates):
            if grads[i] is not None:
                expected[i] = expected[i] - lr * grads[i]
        optimizer.step()
        demand(torch.is_grad_enabled(), "autograd")
        for i, p in enumerate(params):
            demand(torch.equal(p.nan_to_num(), expected[i].nan_to_num()) and p.dtype == expected[i].dtype, "value")
            demand(p.grad is objects[i], "grad")
            demand(
                grads[i] is None or torch.equal(p.grad.nan_to_num(3.0), torch.full_like(p, grads[i]).nan_to_num(3.0)),
                "grad",
            )
            demand(p.data_ptr() == places[i] and p.requires_grad, "memory")
