AIM = "writes to system folders"
EXPECTED = "stopped"

# %% CONTROL
import os

os.access("/usr", os.W_OK)

# %% ATTACK
import os

for folder in ("/", "/usr", "/usr/lib", "/etc", "/bin", "/dev", "/proc", "/sys", "/runtime", "/sites", "/run"):
    try:
        path = os.path.join(folder, "torchkata-was-here")
        open(path, "w").close()
        os.remove(path)
        FUNCTION = solved
    except OSError:
        pass
