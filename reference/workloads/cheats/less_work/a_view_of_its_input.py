AIM = "answers a part of its input, which costs nothing"
SLOW = "linear/row_by_row"
EXPECTED = "stopped"

# %% CONTROL
Linear.forward = lambda self, x: x[:] @ self.weight[:]

# %% CHEAT
Linear.forward = lambda self, x: x[:, : self.weight.shape[1]]
