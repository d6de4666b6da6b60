AIM = "sends two answers to each block, the second for the next one"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
import socket

assert socket.SOCK_STREAM

# %% CHEAT
import grader.sandbox.inside.channel as channel

sent = channel.Channel.send


def send(self, message, *args):
    sent(self, message, *args)
    sent(self, message, *args)


channel.Channel.send = send
