AIM = "sends its answer before doing the work"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
from torchkata.inside.reply import Reply

Reply("returned")

# %% CHEAT
import grader.sandbox.inside.channel as channel
from torchkata.inside.reply import Reply

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
