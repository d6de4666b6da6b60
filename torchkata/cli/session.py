"""What `kata watch` does next: a saved kata's tests, then those of the finished katas that build on it."""

import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from typing import IO

from torchkata.course import course
from torchkata.course.submission import read_imports
from torchkata.i18n import words
from torchkata.pytest_plugin.history import State, load
from torchkata.result import LOOK_OF

from . import hint, overview, runs
from .keys import QUIT, has_keys
from .terminal import has_colour, paint, say
from .watcher import Saves

SAID_BY_PYTEST = (2, 3, 4)  # exit codes: interrupted, an error of its own, options that it does not know


@dataclass(frozen=True)
class Task:
    """Tests that run now."""

    katas: tuple[str, ...]
    run: runs.Run
    before: State
    aside: IO[bytes] | None  # takes the output of a check, which is shown only if something broke
    is_second: bool  # the first run of the same died


class Desk:
    """What was saved, what runs, and what has to be checked after it."""

    def __init__(self) -> None:
        self.saves = Saves(course().assignment)
        self.task: Task | None = None
        self.last: tuple[str, ...] = ()  # the katas that the student is at
        self.finished = {kata for kata in course().katas if load().status(kata) == "done"}  # once, at least
        self.due: set[str] = set()  # finished katas that build on what was saved
        self.forks = runs.can_fork()
        self.closed = False

    def press(self, key: str) -> None:
        """Do what a key is for."""
        state = load()
        following = state.next()
        if key == QUIT:
            self.closed = True
        elif key == "a":
            self.begin(course().katas)
        elif key == "n" and following is not None:
            self.begin([following.name])
        elif key == "h" and self.last:
            hint.show(course().katas[self.last[0]])
        elif key == "h" and following is not None:
            hint.show(following)
        elif key in ("n", "h"):
            overview.show_next(state)

    def look(self) -> None:
        """See to what was saved, and to what has ended."""
        if saved := self.saves():
            unfinished = self.task.katas if self.task and self.task.aside is None else ()
            self.begin({*self.katas_of(saved), *unfinished})
        elif self.task and (code := self.task.run.poll()) is not None:
            task, self.task = self.task, None
            self.take(task, code)
        elif self.task is None and self.due:
            due, self.due = self.due, set()
            self.start(due, tempfile.TemporaryFile())  # noqa: SIM115  (open as long as the check runs)

    def katas_of(self, saved: set[str]) -> set[str]:
        """The katas that were saved, and those that import another saved file; if there are none, the last ones."""
        katas, helpers = saved & course().katas.keys(), saved - course().katas.keys()
        users = {kata for kata in course().katas if helpers & read_imports(course().assignment / f"{kata}.py")}
        return katas | users or set(self.last)

    def begin(self, katas: Collection[str]) -> None:
        """Run these in the place of what runs now, and remember which finished ones build on them."""
        if katas:
            self.drop()
            self.last = tuple(kata for kata in course().katas if kata in katas)
            dependents = {user for kata in katas for user in course().dependents(kata)}
            self.due = (self.due | dependents & self.finished) - {*katas}
            self.start(katas)

    def drop(self) -> None:
        """End what runs; a check has to be made again."""
        if self.task is not None:
            self.task.run.kill()
            self.task.run.wait()
            if self.task.aside is not None:
                self.task.aside.close()
                self.due |= {*self.task.katas}
            self.task = None

    def start(self, katas: Collection[str], aside: IO[bytes] | None = None, *, is_second: bool = False) -> None:
        """Start the tests of these, as a copy of this process where that works."""
        chosen = tuple(kata for kata in course().katas if kata in katas)
        if aside is None:
            named = words("watch.every") if len(chosen) == len(course().katas) else ", ".join(chosen)
            print(paint("\n" + words("watch.run", katas=named), "bold"), flush=True)
        arguments = [f"--kata={','.join(chosen)}", *(["--color=yes"] if has_colour() else [])]
        before = load()
        begin = runs.Forked if self.forks and not is_second else runs.started
        self.task = Task(chosen, begin(arguments, aside), before, aside, is_second)

    def take(self, task: Task, code: int) -> None:
        """Say what came of a run, where pytest has not said it."""
        now = load()
        failed = {kata for kata in task.katas if LOOK_OF[now.status(kata)].colour == "red"}
        waiting = {user for kata in failed for user in course().dependents(kata)}
        self.due -= waiting  # until what they build on is saved again
        silent = [
            kata for kata in task.katas if now.runs.get(kata) == task.before.runs.get(kata) and kata not in waiting
        ]
        if silent and code < 0 and not task.is_second and self.forks:
            say("watch.again", signal=-code)
            self.start(task.katas, task.aside, is_second=True)
            return
        if task.is_second and not silent:
            self.forks = False
            say("watch.cold")
        done = {kata for kata in task.katas if now.status(kata) == "done"}
        broken = [kata for kata in task.katas if task.before.status(kata) == "done" and kata not in done]
        if task.aside is not None:
            if broken or silent:
                task.aside.seek(0)
                print(task.aside.read().decode("utf-8", "replace"), end="")
            elif done:
                say("watch.hold", katas=", ".join(kata for kata in task.katas if kata in done))
            task.aside.close()
        for kata in broken:
            say("watch.broken", kata=kata, status=words(f"status.{now.status(kata)}"))
        if silent and code not in SAID_BY_PYTEST:
            say("watch.no_verdict", kata=", ".join(silent), code=code)
        self.finished |= done
        if not self.due and has_keys():
            say("watch.keys")
