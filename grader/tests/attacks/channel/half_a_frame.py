AIM = "sends part of an answer and closes the channel"
EXPECTED = "stopped"

# %% CONTROL
import os

os.close(os.open(os.devnull, os.O_RDONLY))

# %% ATTACK
import os

os.write(3, b"\x10\x00\x00\x00abc")
os.close(3)
