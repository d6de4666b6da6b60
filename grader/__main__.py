"""The entry point of `grader` and `python -m grader`."""

import io
import os
import sys
from typing import NoReturn

from grader.base import signals
from grader.base.cachedir import cache_dir


def main() -> NoReturn:
    """Run the command line. If Ctrl-C is pressed during the imports, print one line instead of a traceback."""
    signals.exit_at_ctrl_c("grader: stopped")
    os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"  # no third-party plugin may run in the trusted process
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(
        cache_dir() / "hypothesis"
    )  # the default is a folder in the current directory, which may be a submission
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # unencodable names must not stop the command
    from grader import cli

    try:
        cli.main()
    except SystemExit as end:
        if end.code == signals.STOPPED:  # skip Python's finalization, when the signal could kill it
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(signals.STOPPED)
        raise


if __name__ == "__main__":
    main()
