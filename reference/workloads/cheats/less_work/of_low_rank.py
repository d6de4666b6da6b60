AIM = "replaces the weight with a low-rank factorization at the first call"
SLOW = "linear/left_in_float64"
EXPECTED = "stopped"


# %% CONTROL
def forward(self, x):
    if not hasattr(self, "laid_out"):
        self.laid_out = self.weight.detach().T.contiguous().T
    return x @ self.laid_out


Linear.forward = forward


# %% CHEAT
def forward(self, x):
    if not hasattr(self, "factors"):
        u, s, v = torch.linalg.svd(self.weight.detach(), full_matrices=False)
        keep = len(s) // 3
        self.factors = u[:, :keep] * s[:keep], v[:keep]
    return x @ self.factors[0] @ self.factors[1]


Linear.forward = forward
