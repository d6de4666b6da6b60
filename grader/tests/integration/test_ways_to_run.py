"""A handout gives the same verdict with other plugins, from other folders, with other options and in other terminals.

A way that fails for somebody becomes a row. Rows are shell commands in a handout in which `sieve` is done and
`factorise` passes one of six tests.
"""

import os
import pwd
import re
import shutil
import sys
from pathlib import Path

import pytest

from grader.base.cachedir import cache_dir
from grader.tests import ROOT
from grader.tests.conftest import Run, call_grader, find_row, get_student_environment, run_program
from grader.tests.support.reports import NO_END, READS
from grader.tests.support.submissions import PRIMES, SIEVE


def write(kata: str, code: str, command: str) -> str:
    """Return a shell command that adds code to a kata before it runs the command."""
    return f"cat >> assignment/{kata}.py <<'END'\n{code}\nEND\n{command}"


IMITATE = "pytest -p grader.tests.support.imitated_plugins --imitate"
BWRAP = "bwrap --dev-bind / /"  # the same files and devices, with a change
LIST = "code=$?; kata list; exit $code"  # for runs whose output is lost, or is mixed with that of another run
BOTH = {"sieve": "done 5/5", "factorise": "wrong 1/6"}
WRAPPED = "import io, sys; sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')"
ENDLESS = "import threading, time\ndef wait():\n    while True: time.sleep(0.1)\nthreading.Thread(target=wait).start()"
FOREIGN = """\
mkdir -p ros/ros-1.dist-info && echo 'import lark' > ros/ros.py
printf 'Name: ros\\nVersion: 1\\n' > ros/ros-1.dist-info/METADATA
printf '[pytest11]\\nros = ros\\n' > ros/ros-1.dist-info/entry_points.txt
export PYTHONPATH=ros
"""
UNKNOWN_HOOK = f"{FOREIGN}echo 'def pytest_no_such_hook(path): pass' > ros/ros.py; "
FAILING_HOOK = f"{FOREIGN}echo 'def pytest_configure(config): import lark' > ros/ros.py; "
SCRATCH = "touch asyncio.py copy.py hmac.py hypothesis.py numpy.py queue.py random.py ssl.py token.py; "
UNREADABLE = (  # also for root
    "chmod 0 assignment/sieve.py; ((UID)) || drop='setpriv --bounding-set=-dac_override,-dac_read_search'; $drop"
)
HIDDEN = {  # a command, and the line that names the cause
    f"{SCRATCH}kata check": "numpy.py       hides Python's module numpy from programs that start in its folder",
    "touch assignment/random.py; kata export": "assignment/random.py  hides Python's module random",
    "mkdir x; echo 'raise OSError(\"no libgomp.so\")' > x/hypothesis.py; PYTHONPATH=x kata check": "no libgomp.so",
    f"{UNKNOWN_HOOK}pytest": "the pytest plugin ros fails (PluginValidationError: unknown hook 'pytest_no_such_hook'",
    f"{FAILING_HOOK}pytest": "No module named 'lark'); run pytest without it: pytest -p no:ros",
    "PYTEST_ADDOPTS=--no-such-option kata sieve": "PYTEST_ADDOPTS adds these options: --no-such-option",
    'python -c "import sys; sys.version_info = (3, 10); import torchkata"': "needs Python 3.11 or newer, but",
    "pytest assignment/sieve.py assignment/factorise.py": "to run their tests: pytest --kata sieve,factorise",
    "cd assignment && pytest sieve.py::sieve": "to run their tests: pytest --kata sieve",
    "pytest assignment": "to run their tests: pytest",
    "cd .. && pytest": "my katas (1) 练习/ contains a course: run pytest in that folder",
    "cd .. && echo 'def test_it(): pass' > test_it.py && pytest test_it.py": "1 passed",
    "echo > assignment.zip && pytest; kata export": "assignment.zip: already exists and is not a zip file",
    "python -O -m pytest": "Python ignores each `assert` of your code here",
    "PYTHONOPTIMIZE=1 kata check": "Python ignores each `assert` of your code here",
    f"{UNREADABLE} pytest": "PermissionError: [Errno 13] Permission denied",
    f"touch assignment.zip && chmod 0 assignment.zip && {UNREADABLE} kata export": "sieve.py  not included: can't be",
    write("sieve", ENDLESS, "kata sieve"): "sieve.py, line 17: a thread is still running after the tests",
    write("sieve", "import sys; sys.setrecursionlimit(10**9); f = lambda: f(); f()", "kata sieve"): NO_END,
    write(
        "sieve", "import builtins; builtins.mine = 1", write("factorise", "mine", "kata check")
    ): "NameError: name 'mine'",
    write("sieve", "breakpoint()", "kata sieve </dev/null"): "a debugger waits for a person",
    "mv assignment/factorise.py f; ln -s ../f assignment/factorise.py; kata check": "factorise.py  not included: a sym",
    write("factorise", "import os; os._exit(0)", "kata check"): "your code exited Python (exit code 0)",
}
BRACKETS = 'mv "$PWD" "$PWD [x]" && cd "$PWD [x]"; '
STALE = """\
import os, pathlib, py_compile
file = pathlib.Path("assignment/sieve.py")
for code in (b"#" * file.stat().st_size, file.read_bytes()):
    file.write_bytes(code)
    os.utime(file, (1, 1))
    pathlib.Path("assignment/__pycache__").is_dir() or py_compile.compile(file)
"""
LOWER_STACK = "import resource; resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))"
TRACES = ("Traceback", "INTERNALERROR")  # what a student must never see

WAYS = {  # how to run all tests: a shell command
    "pytest": "pytest",
    "pytest-xdist": "pytest -n 2",
    "pytest-forked": f"{IMITATE} forked",
    "pytest-randomly": f"{IMITATE} randomly",
    "pytest-repeat": f"{IMITATE} repeat",
    "pytest-rerunfailures": f"{IMITATE} rerunfailures",
    "plugin_of_hypothesis_is_off": "pytest -p no:hypothesispytest",
    "plugins_are_off": "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 kata check",
    "options_in_a_variable": 'PYTEST_ADDOPTS="-k no_such_test" PYTEST_PLUGINS=no_such_plugin kata check',
    "folder_of_tests": "cd tests && python -m pytest",
    "folder_of_katas": "cd assignment && pytest",
    "files_by_name": "pytest tests/test_factorise.py tests/test_sieve.py",
    "root_folder_is_named": 'cd / && python -m pytest --rootdir "$OLDPWD" "$OLDPWD/tests"',
    "settings_are_elsewhere": "pytest -c /dev/null tests",
    "import_mode": "pytest --import-mode=prepend",
    "python_optimizes": "python -OO -m pytest",
    "warnings_are_errors": "python -W error -m pytest",
    "no_cache": "touch .kata .hypothesis && pytest -p no:cacheprovider",
    "two_runs_at_once": f"pytest >/dev/null & pytest >/dev/null; wait $!; {LIST}",
    "narrow_terminal_without_colors": "TERM=dumb NO_COLOR=1 COLUMNS=30 pytest",
    "encoding_without_dashes": "PYTHONIOENCODING=ascii pytest",
    "empty_environment": 'env -i "$(which python)" -m pytest',
    "ascii_locale": "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 pytest",
    "no_temporary_folder": "TMPDIR=/nonexistent pytest",
    "full_temporary_folder": f'mkdir full; {BWRAP} --size 4096 --tmpfs "$PWD/full" env TMPDIR="$PWD/full" pytest',
    "user_without_a_name": f"env -u HOME -u USER -u LOGNAME {BWRAP} --unshare-user --uid 54321 pytest",
    "closing_code": "echo 'import sys; sys.stdout.close(); sys.stderr.close()' >> assignment/sieve.py; pytest",
    "plugin_of_another_program": f"{FOREIGN}kata check",
    "plugin_of_another_program_is_off": f"{UNKNOWN_HOOK}pytest -p no:ros",
    "files_named_like_libraries": f"{SCRATCH}pytest",
    "files_named_like_libraries_in_the_path": f"{SCRATCH}python -m torchkata check",
    "folder_with_brackets": f"{BRACKETS}pytest",
    "katas_in_a_folder_with_brackets": f"{BRACKETS}cd assignment; pytest",
    "check_in_a_folder_with_brackets": f"{BRACKETS}kata check",
    "code_closes_its_output": write("sieve", "import sys; sys.stdout.close(); del sys.stderr", "pytest"),
    "code_lowers_the_stack": write("sieve", LOWER_STACK, "pytest"),
    "code_wraps_its_output": write("sieve", WRAPPED, "pytest -s"),
    "code_starts_endless_threads": write("sieve", ENDLESS, "pytest"),
    "older_bytecode": f"python -c '{STALE}'; kata check",
    "closed_input": "pytest <&-",
    "closed_output": f"pytest >&- 2>&-; {LIST}",
    "everything_is_closed": f"kata check <&- >&- 2>&-; {LIST}",
}
PARTS = {  # how an editor runs some tests: a shell command, and the rows of the table
    "cd tests && python -m pytest test_sieve.py": {"sieve": "done 5/5"},
    "pytest --rootdir=. tests/test_factorise.py::test_one_has_no_factors": {"factorise": "partly run 1/6"},
    "pytest tests/test_sieve.py --kata factorise": {"sieve": "done 5/5"},
    "pytest -n 2 -k one_has_no": {"factorise": "partly run 1/6"},
    'cd .. && pytest --rootdir="$PWD" */tests/test_sieve.py': {"sieve": "done 5/5"},  # the parent folder is open
}


@pytest.fixture(scope="module")
def students_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Release a handout and write the code of a student."""
    folder = tmp_path_factory.mktemp("release") / "katas"
    released = call_grader("--course", PRIMES, "release", "--out", folder)
    assert released.code == 0, released.err
    (folder / "assignment/sieve.py").write_text(SIEVE)
    (folder / "assignment/factorise.py").write_text("def factorise(n):\n    return []\n")
    return folder


@pytest.fixture
def primes_handout(students_folder: Path, tmp_path: Path) -> Path:
    """Copy the student's folder to a path that needs quotes in a shell."""
    return shutil.copytree(students_folder, tmp_path / "my katas (1) 练习")


def run_in_shell(command: str, handout: Path) -> Run:
    """Run a command as a student would, with the `pytest`, `kata` and `python` of this environment."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return run_program("bash", "-c", command, cwd=handout, environment={**get_student_environment(), "PATH": path})


def read_rows(done: Run) -> dict[str, str]:
    """Return the status and the number of passed tests of each kata in the printed table."""
    rows = {kata: find_row(done.out, kata).split() for kata in BOTH if f"  {kata} " in done.out}
    return {
        kata: " ".join(words[1 : 1 + next(i for i, w in enumerate(words) if "/" in w)]) for kata, words in rows.items()
    }


@pytest.mark.parametrize("way", WAYS)
def test_verdict_is_the_same_however_tests_run(way: str, primes_handout: Path) -> None:
    done = run_in_shell(WAYS[way], primes_handout)
    assert read_rows(done) == BOTH, done.out + done.err
    assert done.code == 1
    assert [trace for trace in TRACES if trace in done.out + done.err] == []


@pytest.mark.parametrize("command", PARTS)
def test_editor_runs_a_part_of_the_tests(command: str, primes_handout: Path) -> None:
    done = run_in_shell(command, primes_handout)
    assert read_rows(done) == PARTS[command], done.out + done.err
    assert done.code == 0


@pytest.mark.parametrize("command", HIDDEN)
def test_cause_outside_of_the_code_is_named(command: str, primes_handout: Path) -> None:
    done = run_in_shell(command, primes_handout)
    assert HIDDEN[command] in done.out + done.err
    assert [trace for trace in TRACES if trace in done.out + done.err] == []


@pytest.mark.parametrize("command", ["kata check sieve", "pytest; kata export", "pytest -n 2; kata export"])
def test_file_that_code_reads_is_named(command: str, primes_handout: Path) -> None:
    code = ["import os", "from contextlib import suppress", "open('own.txt', 'w').close()", "open('own.txt').close()"]
    code += ["open('logs/a.txt', 'a').close()", "os.makedirs('made', exist_ok=True)", "open('made/a', 'w').close()"]
    for folder in ("logs", "made"):
        (primes_handout / folder).mkdir()
    for number, read in enumerate(READS.values()):
        name = f"{number}.pt"
        (primes_handout / ("assignment" if "__file__" in read else ".") / name).write_text("1")
        code += ["with suppress(Exception):", *(f"    {line}" for line in read.format(name).splitlines())]
    done = run_in_shell(write("sieve", "\n".join(code), command), primes_handout)
    assert len(re.findall(r"sieve.py .* line \d+ writes into (.*), which the grader lacks", done.out)) == 1, done.out
    assert "writes into logs/, which" in done.out
    named = re.findall(r"sieve.py .* line \d+ reads (?:assignment/)?(\d+).pt, which is not in the zip", done.out)
    assert [*map(int, named)] == [*range(len(READS))], done.out + done.err
    assert "own.txt" not in done.out


@pytest.mark.parametrize("place", [".", ".."])
def test_course_may_be_in_folder_with_brackets(place: str, tmp_path: Path) -> None:
    course = shutil.copytree(PRIMES, tmp_path / "course [x]")
    work, submission = course / place, course / "submissions/complete"
    command = ("--course", course, "grade", submission, "--out", tmp_path / "out [y]", "--examples", 5, "--seed", 0)
    graded = run_program(sys.executable, "-m", "grader", *command, cwd=work)
    assert graded.code == 0, graded.err
    assert "100/100" in graded.out


@pytest.mark.parametrize("command", ["pytest", "pytest -n 2", "kata check", "python -m pytest --kata sieve"])
def test_english_replaces_chinese_that_cannot_be_shown(command: str, primes_handout: Path) -> None:
    done = run_in_shell(f"KATA_LANG=zh PYTHONIOENCODING=ascii {command}", primes_handout)
    assert "Prime numbers" in done.out
    assert "??" not in done.out


def test_editor_lists_the_tests_from_elsewhere(primes_handout: Path) -> None:
    listing = 'cd / && python -m pytest --rootdir="$OLDPWD" "$OLDPWD/tests" --collect-only -q -q'
    done = run_in_shell(listing, primes_handout)
    assert done.out.split("\n") == ["tests/test_factorise.py: 6", "tests/test_sieve.py: 5", "", ""]


def test_test_file_names_the_command_that_runs_it(primes_handout: Path) -> None:
    done = run_in_shell("PYTHONPATH=. python tests/test_sieve.py", primes_handout)
    assert (done.code, done.out, done.err) == (
        1,
        "",
        "pytest runs the tests in this file: pytest tests/test_sieve.py\n",
    )


def test_speed_tests_refuse_several_processes() -> None:
    done = run_in_shell("pytest -m gpu -n 2", ROOT)
    assert done.code == 4
    assert (done.out + done.err).strip().endswith("single process: leave out -n and --forked")


def test_grader_needs_a_folder_for_its_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)  # a user without an entry, as in some containers
    with pytest.raises(SystemExit, match="no home directory; set HOME or XDG_CACHE_HOME"):
        cache_dir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_dir() == tmp_path / "torchkata"
