AIM = "skips every test from within"
EXPECTED = "stopped"

# %% CONTROL
import unittest

case = unittest.TestCase()
case.assertTrue(True)

# %% ATTACK
import pytest


def FUNCTION(*args, **named):
    pytest.skip("not today")
