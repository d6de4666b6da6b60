"""What the documents tell to type is typed, a section at a time and in order, and ends and prints as they say."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from grader.output.formats.classroom50 import VARIABLES
from grader.tests import ROOT
from grader.tests.conftest import Run, start, students_environment
from grader.tests.support.documents import DOCUMENTS, OTHERS, OURS, Section, sections
from grader.tests.support.printed_output import assert_shown
from grader.tests.support.solution import SOLUTION
from torchkata.course import course

PAGES = (ROOT / "docs/students.md", ROOT / "docs/zh/students.md")
FOR_STUDENTS = (*PAGES, ROOT / "grader/commands/release/files/README.md")  # typed where a handout lies
ALL_SECTIONS = [section for document in dict.fromkeys([*DOCUMENTS, *FOR_STUDENTS]) for section in sections(document)]
TYPED = {command for section in ALL_SECTIONS for command in section.commands}
GRADE = "grader grade submissions/* --out results --jobs 4"

NOT_RUN = {
    "downloads; test_release.py::test_a_handout_installs_and_runs_in_an_environment_of_its_own": (
        "python3 -m venv .venv",
        "python3 -m venv .venv && source .venv/bin/activate",
        "source .venv/bin/activate",
        "pip install --upgrade pip",
        "pip install -e .",
        "uv sync",
        "pip install --group students -e .",
        'pip install --group students -e ".[grader]"',
        'pip install --group students -e ".[grader,slurm]"',
    ),
    "waits until a file is saved; test_watch.py::test_watch_runs_a_kata_that_is_saved_and_no_other": (
        "kata watch",
        "uv run kata watch",
    ),
    "needs a newer handout; test_update.py::test_an_update_brings_what_is_new_and_touches_no_byte_of_the_assignment": (
        "kata update handout.zip",
    ),
    "minutes; test_speed.py::test_speed_is_stored_with_the_result_and_not_timed_again": (
        "grader grade submissions/* --out results --device cuda",
    ),
    "a minute; test_calibrated.py::test_calibrate_measures_a_cpu_shows_the_figures_and_stores_them": (
        "grader calibrate",
    ),
    "many minutes; make prove and make speed run it": ("grader certify",),
    "needs a GPU; rehearsed in test_prove_gpu.py::test_every_step_is_taken_in_a_rehearsal": (
        "python -m benchmarks.prove_gpu",
    ),
    "needs Podman; test_containerfile.py::test_doctor_and_docs_agree_on_containers": (
        "podman build -t torchkata .",
        "podman run --rm torchkata",
        "podman run --rm --userns keep-id --security-opt seccomp=unconfined --security-opt unmask=ALL "
        '-v "$PWD/submissions:/submissions:ro" -v "$PWD/results:/results" torchkata grade '
        "/submissions --out /results --jobs 4",
    ),
    "needs Slurm; test_slurm.py::test_a_slurm_run_gives_the_same_gradebook_as_a_local_run": (
        "grader grade submissions/* --out results --jobs 20 --executor slurm "
        "--slurm partition=cpu --slurm time=01:00:00",
        "python scripts/one_node_slurm.py start /tmp/slurm",
        "python scripts/one_node_slurm.py stop /tmp/slurm",
    ),
    "needs Slurm; test_slurm_faults.py::test_only_the_tasks_that_time_ask_for_a_gpu_and_they_start_after_the_tests": (
        "grader grade submissions/* --out results --jobs 20 --executor slurm --device cuda "
        "--slurm tests:partition=cpu --slurm speed:partition=gpu --slurm gres=gpu:h100:1",
    ),
}
LEFT_OUT = {command for commands in NOT_RUN.values() for command in commands}
STUBS_ARE_LEFT = (
    *("kata next", "kata check", "kata check linear sgd", "kata measure", "kata linear", "kata next linear"),
    *("pytest", "pytest --kata linear", "pytest --track core", "pytest --examples 500", "pytest --seed 7"),
    "pytest --hypothesis-profile grade",
)
ENDS = {
    "grader doctor": (0, 3),
    **dict.fromkeys(STUBS_ARE_LEFT, (1,)),
}  # exit codes, if not 0
MINUTES = (
    "students.md: Useful commands",  # whole runs of pytest; test_student_view.py has each option
    "instructors.md: A class of 200, from downloads to a gradebook",  # test_mark_rules.py and test_item_analysis.py have small ones
    "instructors.md: A course of your own",  # all attacks; test_wheel.py has a new course, test_courses.py the attacks
)
SUBMISSIONS = ("writes_results", "zipped.zip")  # quickly graded
RUNNER = dict.fromkeys(VARIABLES.values(), "https://example.org/") | {
    "ASSIGNMENT_TYPE": "individual",
    "SUBMISSION_TAG": "submit/1",
    "SUBMITTED_AT": "2026-09-30T23:59:00Z",
}


def told_first() -> dict[Section, list[str]]:
    """What is run of each section: a command that stands in several is run in the first, at a place of each kind."""
    told: dict[tuple[bool, str], Section] = {}
    for section in ALL_SECTIONS:
        for command in section.commands:
            if command not in LEFT_OUT:
                told.setdefault((section.document in FOR_STUDENTS, command), section)
    return {section: [command for (_, command), first in told.items() if first is section] for section in told.values()}


def type_in(place: Path, command: str) -> Run:
    """A command in a shell, where a copy of the project or a handout lies; the answer to any question is yes."""
    programs = Path(sys.executable).parent
    ours = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(place),
        "XDG_CACHE_HOME": str(place / "cache"),
    }
    environment = {**students_environment(), **RUNNER, **ours}
    typed = command.replace("@COMMIT", "@" + 40 * "0")
    return start("bash", "-c", typed, cwd=place, environment=environment, typed="y\n")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with `submissions/`, graded by the command that the instructors' page begins with.

    It grades one kata: every seed that a command makes up is one more to draw a hundred inputs of each test from.
    """
    place = tmp_path_factory.mktemp("docs") / "torchkata"
    shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "results", "build"))
    settings = place / "pyproject.toml"
    short = settings.read_text("utf-8").replace('graded = ["core"]', 'graded = ["short"]')
    settings.write_text(
        short.replace("[tool.torchkata.tracks]", '[tool.torchkata.tracks]\nshort = "One kata"'), "utf-8"
    )
    moved = int(course().katas["same_storage"].max_score)
    for name, track, more in (("same_storage", "short", 100 - moved), ("linear", "core", moved)):
        kata = place / "reference" / name / "kata.toml"
        first = int(next(iter(course().katas[name].points.values())))
        text = kata.read_text("utf-8").replace('track = "core"', f'track = "{track}"')
        kata.write_text(re.sub(r"(?<=\[points\]\n)(\w+ = )\d+$", rf"\g<1>{first + more}", text, flags=re.M), "utf-8")
    (place / "submissions").mkdir()
    for name in SUBMISSIONS:
        example = ROOT / "examples/submissions" / name
        (shutil.copytree if example.is_dir() else shutil.copy)(example, place / "submissions" / name)
    done = type_in(place, GRADE)
    assert done.code == 0, done.err
    (place / "class").mkdir()
    (place / "class/class.csv").write_text("id,lms_id\nwrites_results,1\nzipped,2\n")
    (place / "canvas.csv").write_text("Student,ID,torchkata (77)\nAda,1,\nBen,2,\n")
    for name in ("before", "after"):
        shutil.copytree(place / "results", place / name)
    return place


@pytest.mark.parametrize(
    ("section", "commands"),
    [
        pytest.param(*told, id=str(told[0]), marks=[pytest.mark.timing] if str(told[0]) in MINUTES else [])
        for told in told_first().items()
    ],
)
def test_the_commands_of_a_documented_section_run_in_order(
    section: Section, commands: list[str], graded: Path, new_handout: Path, tmp_path: Path
) -> None:
    place = shutil.copytree(new_handout if section.document in FOR_STUDENTS else graded, tmp_path / "here")
    for command in commands:
        done = type_in(place, command)
        assert done.code in ENDS.get(command, (0,)), f"{command}\n{done.out}{done.err}"
        assert "Traceback" not in done.err


def test_every_documented_command_that_is_not_run_here_is_run_by_another_test() -> None:
    assert LEFT_OUT <= TYPED
    assert ENDS.keys() <= TYPED - LEFT_OUT
    for file, test in re.findall(r"(test_\w+\.py)::(\w+)", "\n".join(NOT_RUN)):
        (path,) = (ROOT / "grader/tests").glob(f"*/{file}")
        assert f"def {test}(" in path.read_text("utf-8")


def test_block_of_output_has_no_command() -> None:
    blocks = [block for one in ALL_SECTIONS if one.document.name != "measured.md" for block in one.shown]
    lines = [line for block in blocks for line in block.splitlines()]
    assert [line for line in lines if line.partition(" ")[0] in (*OURS, *OTHERS, "cd", "$")] == []


def shown(heading: str) -> str:
    """The block under this heading of a page for students."""
    [block] = next(section.shown for page in PAGES for section in sections(page) if section.heading == heading)
    return block


@pytest.fixture(scope="module")
def begun(new_handout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A handout in which one kata is done, and one was wrong when it was tested and is mended since."""
    handout = shutil.copytree(new_handout, tmp_path_factory.mktemp("begun") / "katas")
    shutil.copy(SOLUTION / "same_storage.py", handout / "assignment")
    linear = handout / "assignment/linear.py"
    solution = (ROOT / "reference/linear/solution.py").read_text("utf-8")
    linear.write_text(solution.replace("input_dim**0.5", "input_dim"), "utf-8")
    type_in(handout, "pytest --kata same_storage --kata linear")
    linear.write_text(solution, "utf-8")
    return handout


@pytest.mark.parametrize(("language", "heading"), [("en", "Set up"), ("zh", "准备")])
def test_kata_prints_the_overview_that_the_students_page_shows(
    language: str, heading: str, begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_LANG", language)
    assert_shown(shown(heading).splitlines(), type_in(begun, "kata").out.splitlines())


@pytest.mark.parametrize(("language", "heading"), [("en", "Reading a failure"), ("zh", "怎样读懂失败")])
def test_pytest_prints_the_failure_that_the_students_page_shows(
    language: str, heading: str, handout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_LANG", language)
    solution = (ROOT / "reference/linear/solution.py").read_text("utf-8")
    (handout / "assignment/linear.py").write_text(
        solution.replace("x @ self.weight", "self.weight.T @ x.unsqueeze(-1)"), "utf-8"
    )
    printed = type_in(handout, "pytest --kata linear --seed 1234").out
    assert_shown(shown(heading).splitlines(), printed.splitlines())
