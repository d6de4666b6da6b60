AIM = "receives a message through a named datagram socket made from one end of a socket pair"
EXPECTED = "stopped"

# %% CONTROL
import os
import socket

socket.socket(fileno=os.dup(3)).close()

# %% BESIDE: an accomplice, graded at the same time
import contextlib
import socket
import time

for _ in range(50):
    with contextlib.suppress(OSError):
        mine, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        mine.sendto(b"solved", "\0torchkata-datagrams")
    time.sleep(0.02)

# %% ATTACK
import contextlib
import socket

with contextlib.suppress(OSError):
    mine, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    other.close()
    with contextlib.suppress(ConnectionRefusedError):
        mine.send(b"to nobody any more")
    mine.bind("\0torchkata-datagrams")
    mine.settimeout(0.5)
    if mine.recv(6) == b"solved":
        FUNCTION = solved
