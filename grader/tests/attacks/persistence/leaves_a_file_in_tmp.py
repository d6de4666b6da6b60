AIM = "finds the solution that an accomplice left in /tmp"
EXPECTED = "stopped by bwrap only"

# %% CONTROL
import tempfile

with tempfile.NamedTemporaryFile() as file:
    file.write(b"mine")

# %% BEFORE: an accomplice, graded just before by the same zygote
try:
    with open("/tmp/torchkata-left-behind", "w") as file:
        file.write("FUNCTION = solved")
except OSError:
    pass

# %% ATTACK
try:
    exec(open("/tmp/torchkata-left-behind").read())
except OSError:
    pass
