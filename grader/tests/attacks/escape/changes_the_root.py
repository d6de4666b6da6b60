AIM = "changes the root directory, or creates a device file"
EXPECTED = "stopped"

# %% CONTROL
import os

os.umask(0o022)

# %% ATTACK
import os

for attempt in (lambda: os.chroot("/"), lambda: os.mknod("disk", 0o60600, os.makedev(259, 0)), lambda: os.setuid(0)):
    try:
        attempt()
        FUNCTION = solved
    except OSError:
        pass
