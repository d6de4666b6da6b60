AIM = "raises KeyboardInterrupt, which no test catches"
EXPECTED = "stopped"

# %% CONTROL
asked = FUNCTION


def FUNCTION(*args, **named):
    try:
        return asked(*args, **named)
    except KeyboardInterrupt:
        raise


# %% ATTACK
def FUNCTION(*args, **named):
    raise KeyboardInterrupt
