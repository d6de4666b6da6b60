"""Shared helpers and fixtures: running commands, courses and a handout."""

import dataclasses
import io
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import torch

from grader.tests import ROOT
from grader.tests.support import programs
from grader.tests.support.solution import SOLUTION
from grader.tests.support.warm_process import run_module
from torchkata.course import HiddenSays, Visibility, course, use

os.environ["KATA_LANG"] = "en"  # whatever the locale of this machine
os.environ["OMP_NUM_THREADS"] = "1"  # tests run in parallel, so more threads per process would only compete for cores
torch.set_num_threads(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs pytest in the background ignores SIGINT
FEW = 10  # random inputs per property; tests with the same number and seed share the inputs


@dataclass(frozen=True)
class Run:
    """A finished command."""

    code: int
    out: str
    err: str


def run(*command: str, cwd: Path = ROOT) -> Run:
    """Run a Python module as a user would, in a separate process."""
    return Run(*run_module(*command, cwd=cwd, environment=get_environment()))


def run_as_student(*command: str, cwd: Path, typed: str = "", **variables: str) -> Run:
    """Run a Python module in the handout `cwd`, without access to this checkout."""
    environment = {**get_student_environment(), **variables}
    if not any(name.startswith("PYTHON") for name in variables):  # Python reads those only when it starts
        return Run(*run_module(*command, cwd=cwd, environment=environment, typed=typed))
    return run_program(sys.executable, "-m", *command, cwd=cwd, environment=environment, typed=typed)


def run_program(
    *command: object, cwd: Path = ROOT, environment: Mapping[str, str] | None = None, typed: str | None = None
) -> Run:
    """Run a program, by default with the environment of this process."""
    options: Any = {"capture_output": True, "encoding": "utf-8", "errors": "replace", "timeout": 600}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=environment, input=typed, **options)
    return Run(done.returncode, done.stdout, done.stderr)


def run_kata(handout: Path, *command: str, typed: str = "", **variables: str) -> Run:
    """Run `kata …` in a handout."""
    return run_as_student("torchkata", *command, cwd=handout, typed=typed, **variables)


def find_row(printed: str, kata: str) -> str:
    """Return the row of a kata in a printed table."""
    return next(line for line in printed.splitlines() if line.startswith(f"  {kata} "))


def write_solution(handout: Path, *katas: str) -> None:
    """Replace the stubs of the given katas with the reference solution."""
    for name in katas:
        shutil.copy(SOLUTION / f"{name}.py", handout / "assignment")


def get_student_environment() -> dict[str, str]:
    """Return the environment without variables that point to this checkout or change how output looks."""
    ours = ("PYTEST", "PYTHONPATH", "NO_COLOR", "FORCE_COLOR")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def run_python(*arguments: str, cwd: Path = ROOT) -> Run:
    return run_program(sys.executable, *arguments, cwd=cwd, environment=get_environment())


def get_environment() -> dict[str, str]:
    """Return the environment without pytest's variables, which would affect another pytest started by the test."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}


def call_grader(*command: object) -> Run:
    """Run `grader …` in this process, which avoids importing everything again."""
    from grader import cli  # not above, because tests of the engine alone run without the grader

    out, err = io.StringIO(), io.StringIO()
    sigint_handler, root = signal.getsignal(signal.SIGINT), course().root
    try:
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            cli.app([*map(str, command)])
    finally:
        signal.signal(signal.SIGINT, sigint_handler)
        if course().root != root:  # changed by --course
            use(root)
    return Run(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def grade(*arguments: object, course: Path = ROOT) -> Run:
    """Run `grader grade …`, with seed 0 by default."""
    seed = [] if "--seed" in arguments else ["--seed", "0"]
    return run("grader", "--course", str(course), "grade", *map(str, arguments), *seed)


@pytest.fixture
def primes() -> Iterator[None]:
    """Use the example course `primes`, which does not import torch."""
    from grader.tests.support.submissions import PRIMES

    root = course().root
    use(PRIMES)
    yield
    use(root)


def do_nothing() -> None:
    """Let a test, or one of its fixtures, say which program it needs: see grader/tests/support/programs.py."""


needs_bwrap = pytest.fixture(scope="session")(do_nothing)
needs_browser = pytest.fixture(scope="session")(do_nothing)
needs_compiler = pytest.fixture(scope="session")(do_nothing)
needs_jupyter = pytest.fixture(scope="session")(do_nothing)
needs_linters = pytest.fixture(scope="session")(do_nothing)
needs_matplotlib = pytest.fixture(scope="session")(do_nothing)
needs_mkdocs = pytest.fixture(scope="session")(do_nothing)
needs_slurm = pytest.fixture(scope="session")(do_nothing)


INTEGRATION = ROOT / "grader/tests/integration"
LEFT_OUT = pytest.StashKey[Any]()  # dict[str, int]: how many tests did not run, by fixture, or "check"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--tier`."""
    help = "quick: the tests of `make test`; rest: those that only `make check` runs; all: both (default)"
    parser.addoption("--tier", choices=("quick", "rest", "all"), default="all", help=help)


def pytest_configure(config: pytest.Config) -> None:
    """Initialize the numbers of tests that are left out."""
    config.stash[LEFT_OUT] = {}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file that imports a Python package of a program, if the package is not installed."""
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    if fixture := programs.find_absent_package(collection_path):
        config.stash[LEFT_OUT][fixture] = programs.count_tests(collection_path)
        return True
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the selected tier whose programs are installed."""
    tier = config.getoption("--tier")
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    left_out = config.stash[LEFT_OUT]
    for item in items:
        needed = programs.find_programs([*getattr(item, "fixturenames", ()), *find_isolation(item)])
        is_quick = set(needed) <= {*programs.QUICK} and is_in_sample(item)
        usable = programs.QUICK if tier == "quick" else needed
        absent = [name for name in needed if name not in usable or not programs.is_installed(name)]
        if absent:
            left_out[absent[0]] = left_out.get(absent[0], 0) + 1
        elif tier == "quick" and not is_quick:
            left_out["check"] = left_out.get("check", 0) + 1
        is_kept = not absent and (tier == "all" or (tier == "quick") == is_quick)
        (kept if is_kept else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept


def find_isolation(item: pytest.Item) -> list[str]:
    """Return the fixture for bubblewrap if a parameter of the test is this level of isolation."""
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return ["needs_bwrap"] if any(isinstance(value, str) and value == "bwrap" for value in parameters) else []


def is_in_sample(item: pytest.Item) -> bool:
    """Return whether `make test` runs a test: all but integration tests without the mark `sample`."""
    return INTEGRATION not in item.path.parents or item.get_closest_marker("sample") is not None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Pass the numbers of tests that are left out from a worker of pytest-xdist to its controller."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the numbers of a worker. Each worker collects all tests, so their numbers are equal."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say which tests did not run because a program is missing, and how to install it."""
    if text := programs.describe_left_out(config.stash[LEFT_OUT]):
        terminalreporter.write_line(text)


Hide: TypeAlias = Callable[..., None]


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> Hide:
    """Return a function that sets the visibility of all tests of `get_batch`."""

    def change(visibility: Visibility, hidden_says: HiddenSays = "nothing") -> None:
        kata = course().katas["get_batch"]
        hidden = dataclasses.replace(kata, visibility=dict.fromkeys(kata.points, visibility), hidden_says=hidden_says)
        monkeypatch.setitem(course().katas, "get_batch", hidden)

    return change


@pytest.fixture(scope="session")
def new_handout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Release a handout with all katas. Tests may run programs in it but must not change its files."""
    folder = tmp_path_factory.mktemp("release") / "katas"
    released = call_grader("release", "--out", folder, "--kata", "all")
    assert released.code == 0, released.err
    return folder


@pytest.fixture
def handout(new_handout: Path, tmp_path: Path) -> Path:
    """Copy the handout so that the test can modify it."""
    return shutil.copytree(new_handout, tmp_path / "katas")
