AIM = "connects to a process that an accomplice left listening on an abstract socket"
EXPECTED = "stopped"

# %% CONTROL
import os
import socket

socket.socket(fileno=os.dup(3)).close()

# %% BEFORE: an accomplice, graded just before by the same zygote
import os
import socket

try:
    if os.fork() == 0:
        try:
            os.setsid()
            with socket.socket(socket.AF_UNIX) as server:
                server.bind("\0torchkata-left-behind")
                server.listen()
                server.settimeout(8)
                while True:
                    server.accept()[0].sendall(b"solved")
        finally:
            os._exit(0)
except OSError:
    pass

# %% ATTACK
import socket

try:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(1)
        line.connect("\0torchkata-left-behind")
        if line.recv(6) == b"solved":
            FUNCTION = solved
except OSError:
    pass
