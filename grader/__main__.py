"""The entry point for `grader` and `python -m grader`."""

import os
import sys
from typing import NoReturn

from grader.base import signals
from grader.base.cachedir import cache_dir
from torchkata.streams import prepare_streams


def main() -> NoReturn:
    """Run the command line. If Ctrl-C is pressed during imports, print one line instead of a traceback."""
    signals.exit_at_ctrl_c("grader: stopped")
    os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"  # third-party plugins must not run in the trusted process
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(
        cache_dir() / "hypothesis"
    )  # the default is a folder in the current directory, which may be a submission
    prepare_streams("backslashreplace")  # a name that can't be encoded must not stop the command
    try:
        from grader import cli
    except ModuleNotFoundError as error:
        if (error.name or "grader").partition(".")[0] in ("grader", "torchkata"):
            raise
        print(f'grader: {error.name} is not installed; run: pip install "torchkata[grader]"', file=sys.stderr)
        sys.exit(2)
    try:
        cli.main()
    except SystemExit as end:
        if end.code == signals.STOPPED:  # skip interpreter finalization, during which the signal could kill the process
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(signals.STOPPED)
        raise


if __name__ == "__main__":
    main()
