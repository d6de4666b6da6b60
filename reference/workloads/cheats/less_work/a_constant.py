AIM = "answers zeros, the expected value of the result"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
Linear.forward = lambda self, x: (x @ self.weight).reshape(len(x), -1)

# %% CHEAT
Linear.forward = lambda self, x: x.new_zeros(len(x), self.weight.shape[1])
