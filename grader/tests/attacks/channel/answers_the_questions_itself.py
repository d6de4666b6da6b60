AIM = "takes over the channel, reads the calls and answers each with True"
EXPECTED = "stopped"

# %% CONTROL
import os
import socket

socket.socket(fileno=os.dup(3)).close()

# %% ATTACK
import os
import socket

from grader.sandbox.inside.channel import Channel
from torchkata.inside.reply import Reply

line = Channel(socket.socket(fileno=os.dup(3)))
while True:
    line.send(Reply("returned", True))
    line.receive()
