AIM = "omits one of 1024 terms"
SLOW = "linear/row_by_row"
EXPECTED = "stopped"

# %% CONTROL
Linear.forward = lambda self, x: torch.matmul(x, self.weight)

# %% CHEAT
Linear.forward = lambda self, x: x[..., :-1] @ self.weight[:-1]
