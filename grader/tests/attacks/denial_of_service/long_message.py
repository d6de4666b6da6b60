AIM = "raises an error with a message of 100 MB"
EXPECTED = "stopped"

# %% CONTROL
asked = FUNCTION


def FUNCTION(*args, **named):
    try:
        raise ValueError("x" * 1000)
    except ValueError:
        return asked(*args, **named)


# %% ATTACK
def FUNCTION(*args, **named):
    raise ValueError("\x1b[2J" * 2 * 10**7)
