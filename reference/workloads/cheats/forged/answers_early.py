AIM = "sends its answer before doing the work"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
from torchkata.seam.reply import Reply

Reply("returned")

# %% CHEAT
import grader.sandbox.channel as channel
from torchkata.seam.reply import Reply

sent, received = channel.Channel.send, channel.Channel.receive
early = []


def receive(self, *args):
    frame = received(self, *args)
    if "block" in channel.decode(frame):
        sent(self, Reply("returned"))
        early.append(True)
    return frame


def send(self, message, *args):
    return early.pop() if early else sent(self, message, *args)


channel.Channel.receive, channel.Channel.send = receive, send
