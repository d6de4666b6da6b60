AIM = "sends bytes that are not a valid frame"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
import msgspec

msgspec.msgpack.encode({"passed": 5})

# %% CHEAT
import grader.sandbox.inside.channel as channel

channel.Channel.send = lambda self, message, *_: self.socket.sendall(b"\\x10\\0\\0\\0passed, 5 points")
