"""Runs the tests for `kata watch`: first those of a saved kata, then those of the finished katas that build on it."""

import tempfile
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from torchkata.course import course
from torchkata.course.submission import read_imports
from torchkata.i18n import _, translate
from torchkata.pytest_plugin.history import State, load_state
from torchkata.pytest_plugin.rewards import format_bar
from torchkata.result import LOOK_OF

from . import hint, overview, runs
from .keys import QUIT, has_keys
from .terminal import has_color, paint, report_silence, say
from .watcher import Watcher

REPORTED_BY_PYTEST = (2, 3, 4)  # exit codes for an interrupted run, an internal error and a usage error


@dataclass(frozen=True)
class BackgroundRun:
    """A test run in the background."""

    katas: tuple[str, ...]
    run: runs.Run
    before: State
    output: IO[bytes] | None  # output of a check of dependents, which is shown only if a kata no longer passes
    is_retry: bool  # whether this is a retry because the first run crashed


class Session:
    """Decides which tests to run after a key press or a saved file, and reports outcomes that pytest does not print."""

    def __init__(self) -> None:
        self.watcher = Watcher(course().assignment)
        self.task: BackgroundRun | None = None
        self.last: tuple[str, ...] = ()  # katas in the last run started by the student
        self.finished = {kata for kata in course().katas if load_state().status(kata) == "done"}  # done at some point
        self.due: set[str] = set()  # finished katas that build on saved katas and still have to be checked
        self.forks = runs.can_fork()
        self.closed = False

    def press(self, key: str) -> None:
        """Handle a key press."""
        state = load_state()
        following = state.next()
        if key == QUIT:
            self.closed = True
        elif key == "a":
            self.begin(course().katas)
        elif key == "n" and following is not None:
            self.begin([following.name])
        elif key == "h" and (kata := course().katas[self.last[0]] if self.last else following):
            hint.show(kata)
        elif key in ("n", "h"):
            overview.show_next(state)

    def poll(self) -> None:
        """Start the tests of saved katas, report a finished run, or start the scheduled checks of dependents."""
        if saved := self.watcher.poll():
            unfinished = self.task.katas if self.task and self.task.output is None else ()
            self.begin({*self.affected_katas(saved), *unfinished})
        elif self.task and (code := self.task.run.poll()) is not None:
            task, self.task = self.task, None
            self.report(task, code)
        elif self.task is None and self.due:
            due, self.due = self.due, set()
            self.start(due, tempfile.TemporaryFile())  # noqa: SIM115  (open until the check has ended)

    def affected_katas(self, saved: set[str]) -> set[str]:
        """Return the katas that are saved or import a saved helper, or those of the last run if there are none."""
        katas, helpers = saved & course().katas.keys(), saved - course().katas.keys()
        users = {kata for kata in course().katas if helpers & read_imports(course().assignment / f"{kata}.py")}
        return katas | users or set(self.last)

    def begin(self, katas: Collection[str]) -> None:
        """Cancel the current run, start the tests of these katas, and schedule checks of their dependents."""
        if katas:
            self.stop()
            self.last = tuple(kata for kata in course().katas if kata in katas)
            dependents = {user for kata in katas for user in course().dependents(kata)}
            self.due = (self.due | dependents & self.finished) - {*katas}
            self.start(katas)

    def stop(self) -> None:
        """Kill the current run. If it was a check of dependents, schedule it again."""
        if self.task is not None:
            self.task.run.kill()
            self.task.run.wait()
            if self.task.output is not None:
                self.task.output.close()
                self.due |= {*self.task.katas}
            self.task = None

    def start(self, katas: Collection[str], output: IO[bytes] | None = None, *, is_retry: bool = False) -> None:
        """Start the tests of these katas, if possible in a fork of this process."""
        chosen = tuple(kata for kata in course().katas if kata in katas)
        if output is None:
            names = _("all katas") if len(chosen) == len(course().katas) else ", ".join(chosen)
            print(paint("\n" + _("── {katas} ──", katas=names), "bold"), flush=True)
        arguments = ["--watched", f"--kata={','.join(chosen)}", *(["--color=yes"] if has_color() else [])]
        before = load_state()
        start = runs.Forked if self.forks and not is_retry else runs.start
        if start is runs.Forked:
            with suppress(ImportError):  # the run reports a missing library
                runs.load(module for kata in chosen for module in course().katas[kata].preload)
        self.task = BackgroundRun(chosen, start(arguments, output), before, output, is_retry)

    def report(self, task: BackgroundRun, code: int) -> None:
        """Print outcomes that pytest has not printed. If the run crashed, retry it."""
        now = load_state()
        failed = {kata for kata in task.katas if LOOK_OF[now.status(kata)].color == "red"}
        waiting = {user for kata in failed for user in course().dependents(kata)}
        self.due -= waiting  # these are checked when the failed katas are saved again
        silent = [
            kata for kata in task.katas if now.runs.get(kata) == task.before.runs.get(kata) and kata not in waiting
        ]
        if silent and code < 0 and not task.is_retry and self.forks:
            say("The run crashed (signal {signal}); retrying in a new process.", signal=-code)
            self.start(task.katas, task.output, is_retry=True)
            return
        if task.is_retry and not silent:
            self.forks = False
            say("From now on, every run starts a new process, which is slower but works on this machine.")
        done = {kata for kata in task.katas if now.status(kata) == "done"}
        broken = [kata for kata in task.katas if task.before.status(kata) == "done" and kata not in done]
        if task.output is not None:
            if broken or silent:
                task.output.seek(0)
                print(task.output.read().decode("utf-8", "replace"), end="")
            elif done:
                say("still done: {katas}", katas=", ".join(kata for kata in task.katas if kata in done))
            task.output.close()
        for kata in broken:
            say("{kata} used to pass; now: {status}", kata=kata, status=translate(LOOK_OF[now.status(kata)].word))
        if silent and code not in REPORTED_BY_PYTEST:
            report_silence(", ".join(silent), code)
        self.finished |= done
        if not self.due and has_keys():
            is_told = task.output is None and done == {*task.katas}  # pytest shows the bar when a kata is done
            print(*([] if is_told else [format_bar(now)]), _("n next · h hint · a all · q quit"), sep="   ", flush=True)
