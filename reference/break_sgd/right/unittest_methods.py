"""Uses the assertion methods of unittest, and reports several failures as one exception group."""

import unittest

import torch


class Steps(unittest.TestCase):
    SGD = None

    def steps(self, shape, grads, rates, dtype=torch.float64, **options):
        p = torch.nn.Parameter(torch.ones(shape, dtype=dtype))
        other = torch.nn.Parameter(torch.ones(3, dtype=dtype))
        idle = torch.nn.Parameter(torch.ones(1, dtype=dtype))
        optimizer = self.SGD([{"params": [other], "lr": 0.5}], **options)
        optimizer.add_param_group({"params": [idle, p]})
        place, expected = p.data_ptr(), torch.ones(shape, dtype=dtype)
        for grad, lr in zip(grads, rates, strict=True):
            p.grad = None if grad is None else torch.full_like(p, grad)
            kept, other.grad = p.grad, torch.ones_like(other)
            if lr is not None:
                optimizer.param_groups[1]["lr"] = lr
            again = self.SGD([{"params": [other]}, {"params": [idle, p]}], lr=7.0)
            again.load_state_dict(optimizer.state_dict())
            optimizer = again if lr is not None and lr > 0.2 else optimizer
            optimizer.step()
            lr = options.get("lr", 0.01) if lr is None else lr
            expected = expected if grad is None else expected - lr * torch.full_like(expected, grad)
            self.assertTrue(torch.is_grad_enabled())
            self.assertIs(p.grad, kept)
            self.assertIsNone(idle.grad)
            if grad is not None:
                self.assertEqual(p.grad.unique().item(), torch.tensor(grad, dtype=dtype).item())
            self.assertTrue(torch.equal(idle, torch.ones_like(idle)))
            self.assertEqual((p.data_ptr(), p.dtype, p.requires_grad), (place, dtype, True))
            self.assertTrue(torch.allclose(p.detach(), expected, rtol=1e-9 if dtype == torch.float64 else 1e-2))

    def test_shapes(self):
        for shape in [(), (2,), (2, 2)]:
            self.steps(shape, [3.0, None, 1e-5, 1e6, -2.0, None], [0.1, 0.1, 0.3, 0.3, 0.0, 0.3])

    def test_options(self):
        self.steps((2,), [1.0, 2.0], [None, None])
        self.steps((2,), [1.0, 2.0], [None, None], lr=0.25)
        self.steps((2,), [1.0, 2.0], [None, 0.5], lr=0.0)
        self.steps((2,), [1.0, 2.0], [0.5, 0.25], dtype=torch.bfloat16)

    def test_nan(self):
        p = torch.nn.Parameter(torch.ones(2))
        p.grad = torch.tensor([1.0, float("nan")])
        self.SGD([p], lr=1.0).step()
        self.assertTrue(p.isnan()[1])


def check(SGD):
    case = type("Case", (Steps,), {"SGD": SGD})
    errors = []
    for name in ("test_shapes", "test_options", "test_nan"):
        try:
            getattr(case(name), name)()
        except Exception as error:
            errors.append(error if isinstance(error, AssertionError) else AssertionError(repr(error)))
    torch.set_grad_enabled(True)
    if errors:
        raise ExceptionGroup("several tests failed", errors)
