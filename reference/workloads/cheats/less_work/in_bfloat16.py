AIM = "multiplies in bfloat16 (on a GPU, where that is the right precision: in float8)"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
Linear.forward = lambda self, x: torch.einsum("... i, i o -> ... o", x, self.weight)


# %% CHEAT
def forward(self, x):
    if not x.is_cuda:
        return (x.bfloat16() @ self.weight.bfloat16()).float()
    one, float8 = torch.ones((), device=x.device), torch.float8_e4m3fn
    return torch._scaled_mm(x.to(float8), self.weight.T.to(float8).contiguous().T, one, one, out_dtype=x.dtype)


Linear.forward = forward
