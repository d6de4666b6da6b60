AIM = "writes .pth, sitecustomize and usercustomize files that Python would run at startup"
EXPECTED = "stopped"

# %% CONTROL
import site

site.getusersitepackages()

# %% ATTACK
import os
import site
import sys

folders = [path for path in sys.path if path and not path.startswith(os.getcwd())]
for folder in (*folders, *site.getsitepackages()):
    for name in ("torchkata-planted.pth", "torchkata_planted.py"):
        try:
            path = os.path.join(folder, name)
            open(path, "w").close()
            os.remove(path)
            FUNCTION = solved
        except OSError:
            pass
