AIM = "never answers"
EXPECTED = "stopped"

# %% CONTROL
for _ in range(10_000):
    pass


# %% ATTACK
def FUNCTION(*args, **named):
    while True:
        pass
