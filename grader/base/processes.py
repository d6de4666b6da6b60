"""Starts Python without importing from the current directory, which may be a submission, and runs forked children."""

import os
import sys
from collections.abc import Callable
from typing import NoReturn

from grader.base.signals import end_with_parent
from grader.base.text import one_line


def python(*arguments: str) -> list[str]:
    """Return the command that runs this Python interpreter so that it can import only installed packages."""
    return [sys.executable, "-P", *arguments]


def run_in_child(work: Callable[[], None], name: str, parent: int) -> NoReturn:
    """Run `work` in this forked child, then exit. Print any error, unless the parent has closed the connection."""
    status = 1
    try:
        end_with_parent(parent)
        work()
        status = 0
    except BrokenPipeError:
        pass
    except BaseException as error:
        print(one_line(f"{name}: {type(error).__name__}: {error}"), file=sys.stderr, flush=True)
    finally:
        os._exit(status)
