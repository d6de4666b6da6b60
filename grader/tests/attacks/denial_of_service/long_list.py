AIM = "answers with a list of 10⁹ elements"
EXPECTED = "stopped"

# %% CONTROL
assert sum([0] * 10**5) == 0


# %% ATTACK
def FUNCTION(*args, **named):
    return [0] * 10**9
