"""`grader` and `python -m grader`."""

import os
import sys
from typing import NoReturn

from grader.base import signals
from grader.base.cachedir import cache_dir


def main() -> NoReturn:
    """The command line, which takes a moment to import: Ctrl-C in it is one line, too."""
    signals.exit_at_ctrl_c("grader: stopped")
    os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"  # nothing that happens to be installed belongs in the trusted process
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(cache_dir() / "hypothesis")  # it would read what lies here
    from grader import cli

    try:
        cli.main()
    except SystemExit as end:
        if end.code == signals.STOPPED:  # in its own end Python has been seen to die of the signal that it had handled
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(signals.STOPPED)
        raise


if __name__ == "__main__":
    main()
