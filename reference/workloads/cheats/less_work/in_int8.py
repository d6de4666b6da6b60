AIM = "multiplies in int8, with a scale for each row and column, forward and backward"
SLOW = "cruncher/looks_first"
EXPECTED = "stopped"

# %% CONTROL
import torch


def forward(self, x):
    for layer in self.layers:
        x = torch.mm(x, layer.weight)
    return torch.mv(x, self.final.weight.squeeze(-1))


Cruncher.forward = forward


# %% CHEAT
import torch


def shrink(matrix, dim):
    scale = matrix.abs().amax(dim, keepdim=True) / 127
    return (matrix / scale).round().to(torch.int8).contiguous(), scale.float()


def multiply(a, b):
    (left, left_scale), (right, right_scale) = shrink(a, 1), shrink(b, 0)
    return (torch._int_mm(left, right) * left_scale * right_scale).to(a.dtype)


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return multiply(x, weight)

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return multiply(grad, weight.T) if ctx.needs_input_grad[0] else None, multiply(x.T, grad)


def forward(self, x):
    for layer in self.layers:
        x = Product.apply(x, layer.weight)
    return torch.mv(x, self.final.weight.squeeze(-1))


Cruncher.forward = forward
