AIM = "replaces the oracle's formula with its own wrong one"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"


# %% CONTROL
class oracle:
    forward = staticmethod(lambda weight, x: x @ weight)


# %% ATTACK
try:
    from reference.linear import oracle

    oracle.forward = lambda weight, x: x @ weight + 0.5
except ImportError:
    pass
