"""Tests of `kata watch`, with and without a terminal, when files are saved, keys are pressed or processes die."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.tests.conftest import find_row, get_student_environment
from grader.tests.support.pseudo_terminal import Terminal
from grader.tests.support.solution import SOLUTION
from grader.tests.support.submissions import edit_solution
from grader.tests.support.warm_process import Fork
from torchkata.cli.watcher import Watcher

KEYS = "n next · h hint · a all · q quit"
FEW = {"PYTEST_ADDOPTS": "--examples=2"}  # enough examples to determine the status of a kata
PLAIN = {**get_student_environment(), **FEW, "NO_COLOR": "1", "TERM": "xterm"}


def save(handout: Path, kata: str, old: str = "", new: str = "") -> None:
    source = edit_solution(kata, old, new) if old else (SOLUTION / f"{kata}.py").read_text()
    (handout / "assignment" / f"{kata}.py").write_text(source)


def save_loop(handout: Path, function: str = "") -> Path:
    """Save a `same_storage` that never returns, and return the file that will contain its process ID."""
    source = "import os, pathlib\npathlib.Path('began').write_text(str(os.getpid()))\n"
    loop = f"{function}while True:\n{' ' * 8 * bool(function)} pass\n"
    (handout / "assignment/same_storage.py").write_text(source + loop)
    return handout / "began"


def wait_for_pid(file: Path) -> int:
    """Wait until a student's code has written its process ID into the file."""
    end = time.monotonic() + 120
    while not file.exists() or not file.read_text():
        assert time.monotonic() < end, "the student's code was never imported"
        time.sleep(0.02)
    return int(file.read_text())


@pytest.fixture
def watch(handout: Path) -> Iterator[Terminal]:
    with Terminal(["torchkata", "watch"], handout, PLAIN, Fork) as terminal:
        terminal.read_until(KEYS)
        yield terminal


@pytest.mark.sample
def test_watch_runs_only_the_saved_kata(watch: Terminal, handout: Path) -> None:
    save(handout, "linear", "x @ self.weight", "x @ self.weight + 1")
    printed = watch.read_until(KEYS)
    assert "── linear ──" in printed
    assert "linear · Linear(x) equals x @ weight" in printed
    assert find_row(printed, "linear").split() == ["linear", "wrong", "5/6", "9/12", "points"]
    save(handout, "linear")
    printed = watch.read_until(KEYS)
    assert find_row(printed, "linear").split() == ["linear", "done", "6/6", "12/12", "points"]
    assert "same_storage" not in printed
    assert "next:" not in printed
    assert "warning" not in watch.all
    assert "\x1b" not in watch.all, "NO_COLOR is set"


def test_watch_keys_run_tests_show_hints_and_quit(watch: Terminal, handout: Path) -> None:
    watch.type("n")
    assert find_row(watch.read_until(KEYS), "same_storage").split()[1:4] == ["not", "started", "0/6"]
    watch.type("h")
    assert "hint 1 of 3" in watch.read_until("more: kata hint same_storage")
    watch.type("H")
    assert "hint 2 of 3" in watch.read_until("more: kata hint same_storage")
    watch.type("x\x1b[A")  # keys that do nothing: x and an arrow key
    save(handout, "same_storage")
    assert find_row(watch.read_until(KEYS), "same_storage").split()[1] == "done"
    watch.type("n")
    assert find_row(watch.read_until(KEYS), "linear").split()[1:3] == ["not", "started"]
    watch.type("a")
    printed = watch.read_until(KEYS)
    assert "── all katas ──" in printed
    assert find_row(printed, "checkpoint").split()[1:3] == ["not", "started"]
    assert watch.settings() != watch.settings_before
    watch.type("q")
    assert watch.wait() == 0
    assert watch.settings() == watch.settings_before


def test_watch_reports_finished_kata_that_fails_again(watch: Terminal, handout: Path) -> None:
    for kata in ("linear", "cruncher"):
        save(handout, kata)
        assert find_row(watch.read_until(KEYS), kata).split()[1] == "done"
    within = "2 if 'assignment.cruncher' in __import__('sys').modules else 1"
    save(handout, "linear", "x @ self.weight", f"({within}) * (x @ self.weight)")
    printed = watch.read_until(KEYS)
    own, _, others = printed.partition("6/6")
    assert "cruncher" not in own.split("── linear ──")[1]
    assert "cruncher · " in others, "the failure of cruncher must be shown"
    assert "cruncher used to pass; now: wrong" in others
    save(handout, "linear")
    assert "still done: cruncher" in watch.read_until(KEYS), "a kata that was done must be tested again"
    save(handout, "linear", "x @ self.weight", "2 * (x @ self.weight)")
    printed = watch.read_until(KEYS)
    assert "linear used to pass; now: wrong" in printed
    assert "cruncher" not in printed, "cruncher must not run while linear fails"
    save(handout, "linear")
    assert "still done: cruncher" in watch.read_until(KEYS)


def test_saving_again_cancels_the_current_run(watch: Terminal, handout: Path) -> None:
    began = save_loop(handout, "def same_storage(x, y):\n    ")
    watch.read_until("── same_storage ──")
    child = wait_for_pid(began)
    save(handout, "same_storage")
    assert find_row(watch.read_until(KEYS), "same_storage").split()[1] == "done"
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_saving_helper_reruns_katas_that_import_it(watch: Terminal, handout: Path) -> None:
    (handout / "assignment/tools.py").write_text("FACTOR = 2\n")
    save(handout, "linear", "x @ self.weight", "x @ self.weight * FACTOR")
    with (handout / "assignment/linear.py").open("a") as file:
        file.write("\nfrom .tools import FACTOR\n")
    assert find_row(watch.read_until(KEYS), "linear").split()[1] == "wrong"
    (handout / "assignment/tools.py").write_text("FACTOR = 1\n")
    assert find_row(watch.read_until(KEYS), "linear").split()[1] == "done"


def test_watch_reports_code_that_exits_python(watch: Terminal, handout: Path) -> None:
    (handout / "assignment/sgd.py").write_text("import os\nos._exit(0)\n")
    assert "sgd: no result, because the run ended early (exit code 0)" in watch.read_until(KEYS)
    save(handout, "sgd")
    assert find_row(watch.read_until(KEYS), "sgd").split()[1] == "done"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_watch_restores_terminal_settings(watch: Terminal, handout: Path, number: signal.Signals, code: int) -> None:
    child = wait_for_pid(save_loop(handout))
    if number == signal.SIGINT:
        watch.type("\x03")
    else:
        watch.process.send_signal(number)
    assert watch.wait() == code
    assert watch.settings() == watch.settings_before
    assert "Traceback" not in watch.all
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_watch_prints_colors(handout: Path) -> None:
    environment = {name: value for name, value in PLAIN.items() if name != "NO_COLOR"}
    with Terminal([sys.executable, "-m", "torchkata", "watch"], handout, environment) as terminal:
        terminal.read_until(KEYS)
        save(handout, "same_storage")
        assert "\x1b[32mdone" in terminal.read_until(KEYS)


NO_FORK = "import os\ndel os.fork\nfrom torchkata.cli.command import run\nrun(['watch'])\n"
DEATH = """
import os
from torchkata.cli import runs
from torchkata.cli.command import run
runs.run_in_child = lambda *_: os.kill(os.getpid(), 11)
run(["watch"])
"""


@pytest.mark.parametrize(
    ("command", "at_first"), [(["torchkata", "watch"], "loading torch"), (["no_fork"], "cannot fork")]
)
def test_watch_works_in_pipe_or_without_fork(handout: Path, command: list[str], at_first: str) -> None:
    def read_until(text: str) -> list[str]:
        lines = [output.readline()]
        while text not in lines[-1]:
            assert lines[-1], "".join(lines)
            lines.append(output.readline())
        return lines

    (handout / "no_fork.py").write_text(NO_FORK)
    reading, writing = os.pipe()
    with Path(os.devnull).open() as nothing, os.fdopen(reading, encoding="utf-8") as output:
        process = Fork(command, handout, PLAIN, [nothing.fileno(), writing, writing])
        os.close(writing)
        try:
            assert at_first in read_until("Keyboard shortcuts are not")[0]
            save(handout, "same_storage")
            assert "done" in read_until("  same_storage ")[-1]
            process.send_signal(signal.SIGTERM)
            assert process.wait(120) == 143
        finally:
            process.kill()
            process.wait()


def test_watch_stops_forking_after_forked_process_dies(handout: Path) -> None:
    (handout / "death.py").write_text(DEATH)
    with Terminal(["death"], handout, PLAIN, Fork) as terminal:
        terminal.read_until(KEYS)
        save(handout, "same_storage")
        said = terminal.read_until("From now on, every run starts a new process")
        assert "The run crashed (signal 11); retrying" in said
        assert find_row(said, "same_storage").split()[1] == "done"
        terminal.read_until(KEYS)
        save(handout, "linear")
        said = terminal.read_until(KEYS)
        assert find_row(said, "linear").split()[1] == "done"
        assert "crashed" not in said


def test_watch_waits_until_file_is_completely_written(tmp_path: Path) -> None:
    watcher = Watcher(tmp_path)
    assert watcher.poll() == set()
    for name in ("linear.py", "notes.txt", "not-a-module.py"):
        (tmp_path / name).write_text("1")
    assert watcher.poll() == set(), "an editor may still be writing the file"
    (tmp_path / "linear.py").write_text("12")
    assert [watcher.poll() for _ in range(3)] == [set(), {"linear"}, set()]
    shutil.copy(tmp_path / "linear.py", tmp_path / "aside.tmp")
    (tmp_path / "aside.tmp").replace(tmp_path / "linear.py")
    assert [watcher.poll(), watcher.poll()] == [set(), {"linear"}], "many editors save by replacing the file"
    (tmp_path / "linear.py").unlink()
    assert watcher.poll() == watcher.poll() == set()
    tmp_path.rename(tmp_path.with_name("gone"))
    assert watcher.poll() == watcher.poll() == set()
