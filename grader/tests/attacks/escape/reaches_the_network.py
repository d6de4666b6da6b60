AIM = "connects to another machine"
EXPECTED = "stopped by bwrap only"

# %% CONTROL
import socket

socket.inet_aton("192.0.2.1")

# %% ATTACK
import socket

try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.connect(("192.0.2.1", 9))  # sends nothing; fails without a route
    FUNCTION = solved
except OSError:
    pass
