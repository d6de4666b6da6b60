"""Casts the inputs of each matrix multiplication by hand, in a TorchFunctionMode."""

import torch
from torch.overrides import TorchFunctionMode

PRODUCTS = {torch.matmul, torch.Tensor.matmul, torch.Tensor.__matmul__, torch.nn.functional.linear}


class CastProducts(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in PRODUCTS:
            args = [arg.to(torch.bfloat16) if isinstance(arg, torch.Tensor) else arg for arg in args]
        return func(*args, **(kwargs or {}))


def train_step(model, optimizer, x, y):
    with CastProducts():
        prediction = model(x)
    loss = torch.mean((prediction.to(torch.float32) - y) ** 2)
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    return float(loss)
