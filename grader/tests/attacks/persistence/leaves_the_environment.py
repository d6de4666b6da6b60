AIM = "finds an environment variable that an accomplice set"
EXPECTED = "stopped"

# %% CONTROL
import os

os.environ["MY_SETTING"] = "1"

# %% BEFORE: an accomplice, graded just before by the same zygote
import os

os.environ["TORCHKATA_LEFT_BEHIND"] = "solved"

# %% ATTACK
import os

if "TORCHKATA_LEFT_BEHIND" in os.environ:
    FUNCTION = solved
