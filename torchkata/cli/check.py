"""`kata check`: runs the tests in the same way as the grader, and prints the points.

The command tests the files that `kata export` would include, with the same number of inputs and time limits as the
grader. pytest runs in a child process that uses this module as a plugin, so code that hangs or exits Python affects
only its own kata. The child process is not a sandbox.
"""

import json
import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from torchkata.course import Kata, course
from torchkata.i18n import words, wrap
from torchkata.pytest_plugin.first_pass import NewInputs
from torchkata.pytest_plugin.history import load_state
from torchkata.pytest_plugin.report import WIDTH, sum_points
from torchkata.pytest_plugin.run_state import get_state
from torchkata.seam.failures import TimedOut, describe_exit
from torchkata.seam.reply import Probe, Reply
from torchkata.seam.student import InProcess, Student
from torchkata.seam.values import Plain

from .export import collect_files
from .runs import EXPECTED, Run, start
from .terminal import paint

SEEDS = 10**6
POLL_SECONDS = 0.1
SLACK = 5.0  # additional seconds for a test to check results and shrink inputs
RUNNING = "running"  # name of the file that contains the name of the running test
POINTS = "points.json"  # name of the file to which the points of each kata are written at the end


def check(katas: Sequence[Kata]) -> int:
    """Test these katas (default: all graded katas) and print the points. Return the exit code of pytest."""
    chosen = katas or [kata for kata in course().katas.values() if kata.track in course().graded]
    files, notes = collect_files(course().assignment)
    with tempfile.TemporaryDirectory(prefix="torchkata-check-") as folder:
        submission = Path(folder) / "assignment"
        submission.mkdir()
        for name, content in files.items():
            (submission / name).write_bytes(content)
        code, points, deaths = run_all(chosen, Path(folder))
    if code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        print_points(chosen, points, deaths)
        for note in notes:
            if note.file.removesuffix(".py") in {kata.name for kata in chosen}:
                print(words("export.note", name=note.file, text=note.text, width=width_of(chosen) + len(".py")))
        print(*wrap(words("check.differs"), WIDTH, 0), sep="\n")
    return code


def run_all(katas: Sequence[Kata], folder: Path) -> tuple[int, dict[str, float], dict[str, str]]:
    """Run the tests. If a kata crashes pytest or hangs, run again without it and without the katas that build on it.

    Returns:
        The exit code of pytest, the points of each kata, and the reason for each kata that ended a run.
    """
    left, deaths = [kata.name for kata in katas], dict[str, str]()
    seed = random.SystemRandom().randrange(SEEDS)
    while left:
        options = ["-p", __name__, f"--graded={folder}", "--hypothesis-profile=grade", f"--seed={seed}"]
        (folder / RUNNING).write_text("")
        run = start([EXPECTED, *options, f"--kata={','.join(left)}"], None)
        code, how = wait(run, folder / RUNNING)
        if (folder / POINTS).exists():
            return code or int(bool(deaths)), json.loads((folder / POINTS).read_text()), deaths
        kata, _, test = (folder / RUNNING).read_text().partition("::")
        if not kata:
            return code, {}, deaths
        deaths[kata] = f"{test}: {how or describe_exit(code)}"
        left = [name for name in left if name != kata and name not in course().dependents(kata)]
    return 1, {}, deaths


def wait(run: Run, running: Path) -> tuple[int, str]:
    """Wait for pytest, and kill it if a test hangs. Return the exit code and the reason for killing it, or ""."""
    most = 3 * course().limits.test_seconds + SLACK  # a failing test is also shrunk and explained
    test, since = "", time.monotonic()
    try:
        while (code := run.poll()) is None:
            if (now := running.read_text()) != test:
                test, since = now, time.monotonic()
            if test and time.monotonic() - since > most:
                return -1, words("check.hangs", seconds=f"{most:g}")
            time.sleep(POLL_SECONDS)
        return code, ""
    except KeyboardInterrupt:  # pytest also receives Ctrl-C and prints its summary
        time.sleep(POLL_SECONDS)
        raise
    finally:
        if run.poll() is None:
            run.kill()
            run.wait()


def print_points(katas: Sequence[Kata], points: Mapping[str, float], deaths: Mapping[str, str]) -> None:
    """Print the total, and the points of each kata that does not have full points."""
    total = sum(kata.max_score for kata in katas)
    print("\n" + paint(words("check.points", earned=f"{sum(points.values()):g}", most=f"{total:g}"), "bold"))
    for kata in katas:
        if (got := points.get(kata.name, 0.0)) < kata.max_score:
            name = f"{kata.name:<{width_of(katas)}}"
            line = words("check.kata", kata=name, earned=f"{got:g}", most=f"{kata.max_score:g}")
            broken = ", ".join(unfinished(kata, points, deaths))
            line += words("check.lent", katas=broken) if broken else ""
            print(line + (f"   {deaths[kata.name]}" if kata.name in deaths else ""))


def width_of(katas: Sequence[Kata]) -> int:
    """Return the length of the longest kata name."""
    return max(len(kata.name) for kata in katas)


def unfinished(kata: Kata, points: Mapping[str, float], deaths: Mapping[str, str]) -> list[str]:
    """Return the unfinished katas that this kata builds on. The grader replaces them with working code."""
    state = load_state()
    ran = {name: got == course().katas[name].max_score for name, got in points.items()} | dict.fromkeys(deaths, False)
    return [name for name in course().prerequisites(kata.name) if not ran.get(name, state.is_done(name))]


class Limited(InProcess):
    """Runs student code in this process, with the grader's time limits for calls, tests and katas."""

    def __init__(self, folder: Path) -> None:
        self.limits = course().limits
        self.kata = ""
        self.kata_left = self.kata_left_before = self.limits.kata_seconds
        super().__init__(folder, self.limits.call_seconds)

    def reset(self, kata: str) -> None:
        """Start a test with its full time limit. The time limit of the kata is reset only for a new kata."""
        if kata != self.kata:
            self.kata, self.kata_left = kata, self.limits.kata_seconds
        self.kata_left_before = self.kata_left
        self.start_over(kata)

    def start_over(self, kata: str) -> None:
        """Restart the test. The time that it has used so far does not count."""
        super().reset(kata)
        self.kata_left = self.kata_left_before
        self.left = self.limits.test_seconds

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        """Run the probe within the time limits. Raises TimedOut if a limit is exceeded."""
        if self.kata_left <= 0:
            raise TimedOut(words("timed_out.kata"))
        if self.left <= 0:
            raise TimedOut(words("timed_out.test"))
        before = self.left
        try:
            return super().run_probe(probe, args)
        finally:
            self.kata_left -= before - self.left


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the internal option used by `kata check`."""
    parser.addoption("--graded", type=Path, help="folder with the submission and its points (internal)")


@pytest.hookimpl(trylast=True)  # after the plugins that select code and inputs
def pytest_configure(config: pytest.Config) -> None:
    """Test the submission with new random inputs and a single torch thread."""
    get_state(config).inputs = NewInputs()
    get_state(config).student = Student(Limited(config.getoption("graded") / "assignment"))
    if "torch" in course().preload:
        import torch

        torch.set_num_threads(1)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Store the name of the running test."""
    kata = item.path.stem.removeprefix("test_")
    (item.config.getoption("graded") / RUNNING).write_text(f"{kata}::{item.name}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the points of each kata to a file."""
    points = {name: sum_points(name, results) for name, results in get_state(session.config).results.items()}
    (session.config.getoption("graded") / POINTS).write_text(json.dumps(points))
