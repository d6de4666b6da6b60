AIM = "multiplies in float16 (on a GPU: in float8 with two bits of mantissa)"
SLOW = "linear/left_in_float64"
EXPECTED = "stopped"

# %% CONTROL
Linear.forward = lambda self, x: torch.nn.functional.linear(x, self.weight.T)


# %% CHEAT
def forward(self, x):
    if not x.is_cuda:
        return (x.half() @ self.weight.half()).float()
    one, weight = torch.ones((), device=x.device), self.weight.T.to(torch.float8_e4m3fn).contiguous().T
    return torch._scaled_mm(x.to(torch.float8_e5m2), weight, one, one, out_dtype=x.dtype)


Linear.forward = forward
