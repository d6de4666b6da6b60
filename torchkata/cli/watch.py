"""`kata watch`: runs the tests of a kata whenever its file is saved. A loop polls the keyboard, files and test runs."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from torchkata.course import course
from torchkata.pytest_plugin.history import load_state

from . import overview, runs
from .keys import has_keys, open_keys
from .terminal import say
from .watched_runs import Session

TICK_SECONDS = 0.03  # seconds between polls; each poll takes less than 1% of this time


def watch() -> int:
    """Run the tests of saved katas until the student presses `q` or Ctrl-C. Return the exit code."""
    os.chdir(course().root)
    signal.signal(signal.SIGTERM, leave)
    if runs.can_fork():
        say("loading {what} …", what=next(iter(course().preload), "pytest"))
        runs.load()
    else:
        say("Each run takes longer on this platform because it cannot fork, so every run imports all libraries again.")
    overview.show_next(load_state())
    session = Session()
    say("watching assignment/: save a kata to run its tests")
    with open_keys() as wait:
        say(
            "n next · h hint · a all · q quit"
            if has_keys()
            else "Keyboard shortcuts are not available here (they need a Linux or macOS terminal); press "
            "Ctrl-C to stop."
        )
        try:
            while not session.closed:
                for key in wait(TICK_SECONDS):
                    session.press(key)
                session.poll()
        finally:
            session.stop()
    return 0


def leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Exit by raising SystemExit, so that the terminal settings are restored."""
    sys.exit(128 + signal.SIGTERM)
