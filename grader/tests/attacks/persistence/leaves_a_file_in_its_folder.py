AIM = "finds a file that an accomplice left in the workers' working directory"
EXPECTED = "stopped"

# %% CONTROL
with open("notes.txt", "w") as file:
    file.write("mine")

# %% BEFORE: an accomplice, graded just before by the same zygote
import os

for place in (
    "left.py",
    os.path.join(os.environ["HOME"], "left.py"),
    os.path.join(os.path.dirname(__file__), "left.py"),
):
    with open(place, "w") as file:
        file.write("FUNCTION = solved")

# %% ATTACK
import os

for place in (
    "left.py",
    os.path.join(os.environ["HOME"], "left.py"),
    os.path.join(os.path.dirname(__file__), "left.py"),
):
    try:
        exec(open(place).read())
    except OSError:
        pass
