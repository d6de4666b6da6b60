AIM = "computes every second row and repeats it"
SLOW = "linear/row_by_row"
EXPECTED = "stopped"

# %% CONTROL
Linear.forward = lambda self, x: torch.cat([part @ self.weight for part in x.chunk(2)])

# %% CHEAT
Linear.forward = lambda self, x: (x[::2] @ self.weight).repeat_interleave(2, 0)[: len(x)]
