AIM = "reads the host name of the machine"
EXPECTED = "stopped by bwrap only"

# %% CONTROL
import platform

assert platform.python_version()

# %% ATTACK
import os

if os.uname().nodename != "worker":
    FUNCTION = solved
