"""Tests of the `kata` command, run in a student's handout."""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import (
    find_row,
    get_student_environment,
    run_as_student,
    run_kata,
    run_program,
    run_python,
    write_solution,
)
from grader.tests.support.solution import SOLUTION
from torchkata.cli.command import ALIASES, make_parser
from torchkata.course import course
from torchkata.i18n import count_columns

KATAS = list(course().katas)


def test_kata_marks_results_that_may_be_outdated(handout: Path) -> None:
    write_solution(handout, "linear")
    for name in ("linear", "cruncher"):
        run_as_student("pytest", f"--kata={name}", "--examples=2", cwd=handout)
    out = run_kata(handout).out
    assert find_row(out, "linear").split()[:5] == ["linear", "done", "6/6", "12/12", "points"]
    assert find_row(out, "cruncher").split()[:6] == ["cruncher", "not", "started", "0/7", "0/10", "points"]
    (handout / "assignment/sgd.py").write_text("# another kata, which linear does not build on")
    assert "outdated" not in run_kata(handout).out
    (handout / "assignment/helpers.py").write_text("# anybody may import this")
    assert find_row(run_kata(handout).out, "linear").endswith("  may be outdated")
    (handout / "assignment/helpers.py").unlink()
    assert "outdated" not in find_row(run_kata(handout).out, "linear")
    with (handout / "assignment/linear.py").open("a") as file:
        file.write("# changed\n")
    out = run_kata(handout).out
    assert "done           6/6      12/12 points" in find_row(out, "linear")
    assert find_row(out, "linear").endswith("  may be outdated")
    assert find_row(out, "cruncher").endswith("may be outdated"), "cruncher builds on linear"


def test_kata_stores_only_complete_runs(handout: Path) -> None:
    write_solution(handout, "linear")
    run_as_student("pytest", "tests/test_linear.py::test_forward_returns_x_at_weight", cwd=handout)
    run_as_student("pytest", f"--impl={SOLUTION}", "--kata=linear", "--examples=2", cwd=handout)
    assert find_row(run_kata(handout).out, "linear").split()[1:3] == ["not", "run"]
    assert not (handout / ".kata").exists()


def test_kata_next_runs_first_unfinished_kata(handout: Path) -> None:
    done = run_kata(handout, "next")
    assert (done.code, "same_storage  not started    0/6" in done.out) == (1, True)
    assert not any(word in done.out.lower() for word in ("get_batch", "warning"))
    store_progress(handout)
    done = run_kata(handout, "next")
    assert (done.code, done.out.splitlines()[-1]) == (0, "  hand in: kata export")
    assert done.out.startswith(f"All katas are done: {len(KATAS)}. ")
    assert run_kata(handout, "hint").out == done.out


def test_kata_next_accepts_a_kata_name(handout: Path) -> None:
    for command in (["next", "cruncher"], ["cruncher"], ["run", "cruncher"], ["test", "cruncher"]):
        done = run_kata(handout, *command)
        assert done.code == 1
        assert "cruncher  not started    0/7" in done.out
        assert "next: Stack layers into a model — assignment/cruncher.py, then: kata next cruncher\n" in done.out


def test_kata_list_shows_the_overview(new_handout: Path) -> None:
    listed = run_kata(new_handout, "list", COLUMNS="80")
    assert listed == run_kata(new_handout, COLUMNS="80")
    assert max(map(count_columns, listed.out.splitlines())) <= 80


@pytest.mark.parametrize("language", ["en", "zh"])
def test_help_explains_commands_and_fits_the_terminal(new_handout: Path, language: str) -> None:
    shown = run_kata(new_handout, "--help", KATA_LANG=language, COLUMNS="80")
    assert (shown.code, shown.err) == (0, "")
    assert max(map(count_columns, shown.out.splitlines())) <= 80
    commands = [command for command in make_parser()[1] if command not in ALIASES]
    assert re.findall(r"^  ([a-z]+)  ", shown.out, re.MULTILINE) == commands
    for command in make_parser()[1]:
        done = run_kata(new_handout, command, "--help", KATA_LANG=language, COLUMNS="80")
        usage = {"en": "usage: ", "zh": "用法："}[language] + f"kata {command} [-h]"
        assert (done.code, done.err, done.out.startswith(usage)) == (0, "", True)
    assert run_kata(new_handout, "help", "hint") == run_kata(new_handout, "hint", "--help")


def test_kata_next_suggests_failed_kata_or_its_prerequisite(handout: Path) -> None:
    changes = {"momentum": "wrong", "memory_accounting": "", "strides": ""}
    store_progress(handout, changes)
    assert "assignment/momentum.py, then: kata next" in " ".join(run_kata(handout).out.split()), (
        "a wrong kata comes before a kata that was not run"
    )
    store_progress(handout, {**changes, "train": "crashed", "linear": ""})
    assert "assignment/linear.py, then: kata next" in run_kata(handout).out, "train builds on it"


def test_next_step_names_prerequisite_with_syntax_error(handout: Path) -> None:
    write_solution(handout, "cruncher", "sgd", "train")
    (handout / "assignment/linear.py").write_text("class Linear(\n")
    out = run_as_student("pytest", "--kata=train,momentum", "--examples=2", cwd=handout).out
    following = "next: Build a linear layer — assignment/linear.py (train builds on it), then: kata next linear"
    assert out.splitlines()[-3:-1] == [following, "stuck? kata about linear, kata hint linear"]


def store_progress(handout: Path, changes: dict[str, str] | None = None, hints: dict[str, int] | None = None) -> None:
    """Store the status "done" for every kata, except for the given changes. The status "" means "not run yet"."""
    code = "import json\nfrom torchkata.course import course\nfrom torchkata.pytest_plugin import history\n"
    code += "print(json.dumps({name: history.compute_digest(name) for name in course().katas}))"
    (handout / "digests.py").write_text(code)
    runs = {
        name: {"status": (changes or {}).get(name, "done"), "passed": 1, "files": files, "run": ""}
        for name, files in json.loads(run_as_student("digests", cwd=handout).out).items()
        if (changes or {}).get(name, "done")
    }
    (handout / ".kata").mkdir(exist_ok=True)
    (handout / ".kata/progress.json").write_text(json.dumps({"runs": runs, "hints": hints or {}}))


def test_kata_hint_reveals_one_more_hint_each_time(handout: Path) -> None:
    hints = course().katas["linear"].hints
    for shown in (1, 2, 3, 3):
        out = run_kata(handout, "hint", "linear", COLUMNS="60").out
        assert max(map(len, out.splitlines())) <= 60
        out = " ".join(out.split())
        assert [hint in out for hint in hints] == [number < shown for number in range(3)]
        assert ("that was the last hint" in out) == (shown == 3)
    assert hints[0] in " ".join(run_kata(handout, "hint", "linear").out.split())
    following = " ".join(run_kata(handout, "hint").out.split())
    assert course().katas["same_storage"].hints[0] in following, "without a name, hint must use the next kata"


def test_kata_about_prints_documentation_of_the_kata(handout: Path) -> None:
    about = run_kata(handout, "about", "cruncher").out
    assert about.startswith("cruncher · Stack layers into a model\n")
    assert "A model is made of nested modules." in about
    assert about.endswith("Needs: `linear`.\n")
    assert "**" not in about
    assert "sgd" not in about
    assert run_kata(handout, "about").out.startswith("same_storage · ")
    for columns in (60, 200):
        lines = run_kata(handout, "about", "strides", COLUMNS=f"{columns}").out.splitlines()
        assert 0.8 * min(columns, 100) < max(map(len, lines)) <= min(columns, 100)
        assert "storage               0 1 2 3 4 5" in lines, "lines of code must not be wrapped"
    (handout / "docs/katas.md").unlink()
    assert "the task is described in assignment/cruncher.py" in run_kata(handout, "about", "cruncher").out


@pytest.mark.sample
def test_reset_asks_for_confirmation_and_keeps_copy(handout: Path) -> None:
    file, stub = handout / "assignment/linear.py", (ROOT / "assignment/linear.py").read_bytes()
    assert run_kata(handout, "reset", "linear").out == "assignment/linear.py is already the original stub\n"
    store_progress(handout, hints={"linear": 2, "sgd": 1})
    write_solution(handout, "linear")
    own = file.read_bytes()
    for answer in ("", "n\n", "what?\n"):
        assert "Nothing was changed." in run_kata(handout, "reset", "linear", typed=answer).out
        assert file.read_bytes() == own
    assert "assignment/linear.py.bak" in run_kata(handout, "reset", "linear", typed="y\n").out
    assert file.read_bytes() == stub
    left = json.loads((handout / ".kata/progress.json").read_text())
    assert ("linear" in left["runs"], left["hints"]) == (False, {"sgd": 1})
    file.write_bytes(b"another")
    run_kata(handout, "reset", "linear", "--yes")
    assert file.read_bytes() == stub
    assert [(handout / "assignment" / f"linear.py.bak{number}").read_bytes() for number in ("", 2)] == [own, b"another"]
    file.unlink()
    assert run_kata(handout, "reset", "linear").out == "assignment/linear.py was missing: restored the original stub\n"
    assert file.read_bytes() == stub


def test_reset_without_stubs_is_rejected(handout: Path) -> None:
    shutil.rmtree(handout / "reference/stubs")
    done = run_kata(handout, "reset", "linear")
    assert (done.code, "the original stubs are missing" in done.err, done.err.count("\n")) == (2, True, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
def test_kata_exits_quietly_when_pipe_closes_early(handout: Path) -> None:
    for pipe, count in (("torchkata | head -n 1", 1), ("torchkata about | (exec <&-; sleep 1)", 0)):
        command = f"{shlex.quote(sys.executable)} -m {pipe}"
        done = run_program("bash", "-c", command, cwd=handout, environment=get_student_environment())
        assert (len(done.out.splitlines()), done.err) == (count, "")


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("hint linear sgd", "unexpected argument sgd; usage: kata hint [-h] [KATA]"),
        ("linear sgd", "unexpected argument sgd; usage: kata next [-h] [KATA]"),
        ("next --yes", "unexpected argument --yes; usage: kata next [-h] [KATA]"),
        ("reset", "wrong arguments; usage: kata reset [-h] [--yes] KATA"),
        ("reset ../linear", "there is no kata '../linear'; did you mean linear?"),
        ("lineal", "there is no kata 'lineal'; did you mean linear?"),
        ("hint Linear", "there is no kata 'Linear'; did you mean linear?"),
        ("about assignment/sgd.py", "there is no kata 'assignment/sgd.py'; did you mean sgd?"),
        ("hnt", "there is no kata 'hnt'; did you mean hint?"),
        ("speak --minutes", "wrong arguments; usage: kata speak [-h] [--minutes MINUTES] [--device DEVICE]"),
        ("--color", "unexpected argument --color; usage: kata [-h] [--version] COMMAND ..."),
    ],
)
def test_kata_reports_invalid_call_in_one_line(new_handout: Path, command: str, line: str) -> None:
    done = run_kata(new_handout, *command.split(), COLUMNS="80")
    assert (done.code, done.out, done.err) == (2, "", f"kata: {line}\n")


def test_kata_works_in_an_ascii_terminal(handout: Path) -> None:
    for command in ([], ["hint", "linear"], ["export"], ["--help"]):
        done = run_kata(handout, *command, PYTHONIOENCODING="ascii", KATA_LANG="zh")
        assert (done.code, done.err) == (0, "")
        assert "??" not in done.out, "Chinese that can't be shown is replaced by English"


def test_fast_commands_do_not_import_slow_packages(handout: Path) -> None:
    commands: list[list[str]] = [[], ["--help"], ["--version"], ["about"], ["hint"], ["export"]]
    (handout / "look.py").write_text(
        "import sys\nfrom contextlib import suppress\nfrom torchkata.cli.command import run\n"
        f"for command in {commands}:\n    with suppress(SystemExit):\n        run(command)\n"
        "assert not {'torch', 'numpy', 'pytest', 'hypothesis'} & set(sys.modules)\n"
    )
    done = run_python("-m", "look", cwd=handout)
    assert done.code == 0, done.err


def test_verdict_is_shown_if_progress_file_is_unwritable(handout: Path) -> None:
    (handout / ".kata").write_text("a file where the folder should be")
    done = run_as_student("pytest", "--kata=same_storage", cwd=handout)
    assert (done.code, "kata: your progress could not be saved (" in done.out) == (1, True)
    assert (run_kata(handout).code, run_kata(handout, "hint").code) == (0, 0)


def test_kata_command_uses_students_code(handout: Path) -> None:
    done = run_kata(handout, "measure")
    assert done.code == 1
    assert re.fullmatch(r"kata: measure_step\.py, line \d+, still raises NotImplementedError\n", done.err)
    write_solution(handout, "measure_step", *course().katas["measure_step"].builds_on)
    done = run_kata(handout, "measure", KATA_LANG="zh")
    assert (done.code, "实测：" in done.out) == (0, True), done.err
    (handout / "assignment/time_matmul.py").write_text("def time_matmul(a, b):\n    raise OSError('no clock')\n")
    done = run_kata(handout, "measure")
    assert (done.code, done.err) == (1, "kata: OSError: no clock (time_matmul.py, line 2)\n")


def test_commands_work_inside_the_assignment_folder(handout: Path) -> None:
    write_solution(handout, "same_storage")
    (handout / "assignment/linear.py").write_text("def Linear(*_): return None\n")
    inside = handout / "assignment"
    failed = run_as_student("pytest", "--kata=same_storage,linear", "--examples=2", cwd=inside)
    assert find_row(failed.out, "same_storage").split()[1:3] == ["done", "6/6"]
    again = next(line for line in failed.out.splitlines() if line.startswith("  again: pytest "))
    assert run_as_student(*again.removeprefix("  again: ").split(), cwd=inside).code == 1, "the path must be relative"
    assert "same_storage  done " in run_kata(inside, "next", "same_storage").out
    assert {path.name for path in inside.iterdir() if path.is_dir()} == set()


@pytest.mark.parametrize("command", ["torchkata", "grader"])
def test_version_option_needs_no_course(command: str, tmp_path: Path) -> None:
    told = run_as_student(command, "--version", cwd=tmp_path)
    assert (told.code, told.err) == (0, "")
    assert re.fullmatch(r"torchkata \d+(\.\d+)+(\.dev\d+)?, Python 3\.\d+\.\S+\n", told.out)
