AIM = "patches the encoder of answers"
EXPECTED = "stopped"

# %% CONTROL
import json

assert json.loads(json.dumps({"value": True})) == {"value": True}

# %% ATTACK
import sys

channel = sys.modules.get("grader.sandbox.inside.channel")
if channel is not None:
    real = channel.encode
    channel.encode = lambda message: real({"outcome": "returned", "value": True, "passed": True, "score": 100})
    import msgspec

    msgspec.msgpack.encode = lambda *args, **kwargs: b"\xc3"
