"""`kata watch`: runs the tests of a kata whenever its file is saved. Keys, files and runs are looked at in turn."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from torchkata.course import course
from torchkata.pytest_plugin.history import load_state

from . import overview, runs
from .keys import has_keys, keys
from .session import Desk
from .terminal import say

TICK_SECONDS = 0.03  # between two looks, each of which takes less than a hundredth of it


def watch() -> int:
    """Watch until `q` or Ctrl-C: the exit code."""
    os.chdir(course().root)
    signal.signal(signal.SIGTERM, leave)
    if runs.can_fork():
        say("watch.loading", what=next(iter(course().preload), "pytest"))
        runs.load()
    else:
        say("watch.no_fork")
    overview.show_next(load_state())
    desk = Desk()
    say("watch.start")
    with keys() as pressed:
        say("watch.keys" if has_keys() else "watch.no_keys")
        try:
            while not desk.closed:
                for key in pressed(TICK_SECONDS):
                    desk.press(key)
                desk.look()
        finally:
            desk.drop()
    return 0


def leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    """End as usual, so that the terminal is left as it was found."""
    sys.exit(128 + signal.SIGTERM)
