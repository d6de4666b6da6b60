AIM = "tells pytest to stop with exit code 0"
EXPECTED = "stopped"

# %% CONTROL
try:
    import pytest
except ImportError:
    pytest = None

# %% ATTACK
import pytest


def FUNCTION(*args, **named):
    pytest.exit("all done", returncode=0)
