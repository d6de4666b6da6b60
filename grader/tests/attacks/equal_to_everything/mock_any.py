AIM = "answers with unittest's ANY"
EXPECTED = "stopped"

# %% CONTROL
from unittest.mock import ANY

assert {"loss": ANY} == {"loss": 0.5}

# %% ATTACK
from unittest.mock import ANY


def FUNCTION(*args, **named):
    return ANY
