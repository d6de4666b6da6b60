"""What several tests share: running our commands, the examples graded once, bubblewrap or the reason it is missing."""

import dataclasses
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import torch

from grader import cli
from grader.tests import ROOT
from grader.tests.support.solution import SOLUTION
from grader.tests.support.submissions import NAMES, OPTIONS, PRIMES, SIEVE, SLOW, WITHOUT_TWO, handed_in
from grader.tests.support.warm_process import run_module
from scripts import one_node_slurm
from torchkata.course import HiddenSays, Visibility, course, use

os.environ["KATA_LANG"] = "en"  # whatever this machine speaks
os.environ["OMP_NUM_THREADS"] = "1"  # the tests share the cores: threads that wait for one another would take them all
torch.set_num_threads(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs us in the background has it ignored
FEW = 10  # random inputs of a property: what draws as many from the same seed shares them
EXAMPLES = sorted((ROOT / "examples/submissions").iterdir())


@dataclass(frozen=True)
class Run:
    """A finished command."""

    code: int
    out: str
    err: str


def run(*command: str, cwd: Path = ROOT) -> Run:
    """Run a module of ours in a process of its own, as a user would."""
    return Run(*run_module(*command, cwd=cwd, environment=without_pytest()))


def at_home(*command: str, cwd: Path, typed: str = "", **variables: str) -> Run:
    """Run a module of the handout in `cwd`, as a student would who has nothing else of ours."""
    environment = {**students_environment(), **variables}
    if not any(name.startswith("PYTHON") for name in variables):  # which Python reads when it starts
        return Run(*run_module(*command, cwd=cwd, environment=environment, typed=typed))
    return start(sys.executable, "-m", *command, cwd=cwd, environment=environment, typed=typed)


def start(
    *command: object, cwd: Path = ROOT, environment: Mapping[str, str] | None = None, typed: str | None = None
) -> Run:
    """Run a program, with the environment of this process unless one is given."""
    options: Any = {"capture_output": True, "encoding": "utf-8", "errors": "replace", "timeout": 600}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=environment, input=typed, **options)
    return Run(done.returncode, done.stdout, done.stderr)


def kata(handout: Path, *command: str, typed: str = "", **variables: str) -> Run:
    """`kata …` in a handout."""
    return at_home("torchkata", *command, cwd=handout, typed=typed, **variables)


def write_solution(handout: Path, *katas: str) -> None:
    """Our solution in the place of these stubs."""
    for name in katas:
        shutil.copy(SOLUTION / f"{name}.py", handout / "assignment")


def students_environment() -> dict[str, str]:
    """Ours, without what would lead to our modules or change how things look."""
    ours = ("PYTEST", "PYTHONPATH", "NO_COLOR", "FORCE_COLOR")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def python(*arguments: str, cwd: Path = ROOT) -> Run:
    """Run Python itself."""
    return start(sys.executable, *arguments, cwd=cwd, environment=without_pytest())


def without_pytest() -> dict[str, str]:
    """Our environment, without what tells pytest that it runs in another."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}


def ask(*command: object) -> Run:
    """`grader …` in this process, which has all imports behind it: for what is refused, or starts no process."""
    out, err = io.StringIO(), io.StringIO()
    at_ctrl_c, here = signal.getsignal(signal.SIGINT), course().root
    try:
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            cli.app([*map(str, command)])
    finally:
        signal.signal(signal.SIGINT, at_ctrl_c)
        if course().root != here:  # --course
            use(here)
    return Run(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def grade(*arguments: object, course: Path = ROOT) -> Run:
    """Run `grader grade …`, with the seed 0 unless another one is given."""
    given = [str(argument) for argument in arguments]
    seed = [] if "--seed" in given else ["--seed", "0"]
    return run("grader", "--course", str(course), "grade", *given, *seed)


@pytest.fixture(scope="session")
def needs_bwrap() -> None:
    """Skip, with the remedy, where there is no sandbox to test."""
    if shutil.which("bwrap") is None:
        pytest.skip("install bubblewrap to run this (Debian: apt-get install bubblewrap)")


@dataclass(frozen=True)
class Class:
    """The results of grading all examples in one run."""

    directory: Path
    run: Run

    def result(self, submission: str) -> dict[str, Any]:
        """`result.json` of one submission."""
        loaded: dict[str, Any] = json.loads((self.directory / submission / "result.json").read_text())
        return loaded

    def statuses(self, submission: str) -> dict[str, str]:
        """The status of each kata."""
        return {kata["kata"]: kata["status"] for kata in self.result(submission)["katas"]}


@pytest.fixture(scope="session")
def graded_class(tmp_path_factory: pytest.TempPathFactory) -> Class:
    """All examples, graded side by side with the best isolation that works here."""
    directory = tmp_path_factory.mktemp("class")
    return Class(directory, grade(*EXAMPLES, "--out", directory, "--jobs", 2, "--examples", FEW))


Hide: TypeAlias = Callable[..., None]


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> Hide:
    """Call it to make all tests of `get_batch` less than visible."""

    def change(visibility: Visibility, hidden_says: HiddenSays = "nothing") -> None:
        kata = course().katas["get_batch"]
        hidden = dataclasses.replace(kata, visibility=dict.fromkeys(kata.points, visibility), hidden_says=hidden_says)
        monkeypatch.setitem(course().katas, "get_batch", hidden)

    return change


@pytest.fixture(scope="session")
def new_handout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `grader release` writes, with all katas; for reading only."""
    folder = tmp_path_factory.mktemp("release") / "katas"
    released = ask("release", folder, "--track", "all")
    assert released.code == 0, released.err
    return folder


@pytest.fixture
def handout(new_handout: Path, tmp_path: Path) -> Path:
    """A student's own copy of it."""
    return shutil.copytree(new_handout, tmp_path / "katas")


@pytest.fixture(scope="session")
def slow_class(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A small class that takes a while, one of them wrong."""
    slow = 2 * SLOW  # so that a task lasts some seconds
    paths = handed_in(tmp_path_factory.mktemp("slow"), SIEVE + slow, *NAMES, kata="sieve")
    (paths[1] / "sieve.py").write_text(WITHOUT_TWO + slow)
    return paths


@pytest.fixture(scope="session")
def slow_gradebook(slow_class: list[Path], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Its gradebook, of a run that nobody disturbed."""
    out = tmp_path_factory.mktemp("undisturbed")
    assert grade(*slow_class, "--out", out, *OPTIONS, course=PRIMES).code == 0
    return (out / "gradebook.csv").read_bytes()


def control(action: str, folder: Path) -> None:
    """What a developer types."""
    subprocess.run([sys.executable, ROOT / "scripts/one_node_slurm.py", action, folder], check=True, timeout=600)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Path]:
    """A Slurm of one node, in a directory with a short path."""
    lacking = one_node_slurm.find_problem()
    if lacking:
        pytest.skip(f"Slurm can't be started here: {lacking}")
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    try:
        control("start", folder)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SLURM_CONF", f"{folder}/slurm.conf")
            yield folder
    finally:
        control("stop", folder)
        shutil.rmtree(folder)
