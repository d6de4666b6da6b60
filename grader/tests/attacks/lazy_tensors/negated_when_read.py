AIM = "returns tensors that have the negative or conjugate bit set"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward
Linear.forward = lambda self, x: torch._neg_view(-asked(self, x))

# %% ATTACK
asked = Linear.forward
Linear.forward = lambda self, x: torch.complex(asked(self, x).double(), asked(self, x).double()).conj().imag
