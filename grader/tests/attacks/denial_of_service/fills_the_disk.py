AIM = "writes 512 MiB to its folder"
EXPECTED = "stopped"

# %% CONTROL
import tempfile

with tempfile.TemporaryFile() as file:
    file.write(bytes(2**16))

# %% ATTACK
kept = []
for number in range(8):
    with open(f"fill{number}", "wb") as file:
        file.write(bytes(2**26))
