AIM = "reads the cookie of a new socket, which counts the cookies that were asked for"
EXPECTED = "stopped"

# %% CONTROL
import os
import socket

with socket.socket(fileno=os.dup(3)) as line:
    line.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)

# %% BEFORE: an accomplice, graded just before by the same zygote
import socket


def cookie():
    first, second = socket.socketpair()
    with first, second:
        return int.from_bytes(first.getsockopt(socket.SOL_SOCKET, 57, 8), "little")


try:
    while cookie() % 2**16 > 2**12:
        pass
except OSError:
    pass

# %% ATTACK
import socket


def cookie():
    first, second = socket.socketpair()
    with first, second:
        return int.from_bytes(first.getsockopt(socket.SOL_SOCKET, 57, 8), "little")


try:
    if max(cookie() for _ in range(4500)) % 2**16 < 2**14:
        FUNCTION = solved
except OSError:
    pass
