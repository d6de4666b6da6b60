AIM = "raises SystemExit(0), which ends a test run without a failure"
EXPECTED = "stopped"

# %% CONTROL
if __name__ == "__main__":
    import sys

    sys.exit(0)

# %% ATTACK
import sys

sys.exit(0)
