AIM = "doubles a bytearray up to 2 GiB"
EXPECTED = "stopped"

# %% CONTROL
assert len(bytearray(2**20)) == 2**20


# %% ATTACK
def FUNCTION(*args, **named):
    kept = bytearray(b"x")
    while len(kept) < 2**31:
        kept += kept
    return True
