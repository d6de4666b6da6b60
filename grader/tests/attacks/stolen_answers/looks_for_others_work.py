AIM = "searches the disk for other submissions, results and gradebooks"
EXPECTED = "stopped by bwrap only"

# %% CONTROL
import os

assert isinstance(os.listdir("."), list)

# %% ATTACK
import os

SHARED = [f for f in ("/tmp", "/var/tmp", "/dev/shm", "/home", "/autograder") if os.path.isdir(f)]
looked = 0
for top in SHARED:
    for folder, _, files in os.walk(top):
        looked += 1
        if looked > 4000:
            break
        inside = os.path.realpath(folder).startswith(os.path.realpath(os.getcwd()))
        if not inside and "site-packages" not in folder and "KATA.py" in files:
            try:
                if "def FUNCTION(" in open(os.path.join(folder, "KATA.py"), errors="replace").read():
                    FUNCTION = solved
            except OSError:
                pass
