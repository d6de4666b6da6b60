"""Runs the commands in the documentation, section by section, and compares their output with what it shows."""

import os
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.marks.rulebook import read_times
from grader.output.formats.classroom50 import VARIABLES
from grader.tests import ROOT
from grader.tests.conftest import Run, get_student_environment, run_program
from grader.tests.support.documents import DOCUMENTS, OTHERS, OURS, Section, read_sections
from grader.tests.support.printed_output import assert_shown
from grader.tests.support.solution import SOLUTION

PAGES = (ROOT / "docs/students.md", ROOT / "docs/zh/students.md")
FOR_STUDENTS = (*PAGES, ROOT / "grader/commands/release/files/README.md")  # read in a handout, so commands run there
AFTERNOON = ROOT / "docs/afternoon.md"  # its sections continue each other
ALL_SECTIONS = [
    section for document in dict.fromkeys([*DOCUMENTS, *FOR_STUDENTS]) for section in read_sections(document)
]
TYPED = {command for section in ALL_SECTIONS for command in section.commands}
GRADE = "grader grade submissions/*"

NOT_RUN = {
    "downloads; test_release.py::test_handout_installs_in_its_own_environment": (
        *("python3 -m venv .venv", "python3 -m venv .venv && source .venv/bin/activate", "source .venv/bin/activate"),
        *("pip install --upgrade pip", "pip install -r requirements.txt", "uv sync"),
        'pip install --group students -e ".[grader]"',
    ),
    "downloads; test_self_study.py::test_init_works_without_torch": (
        "python3 -m venv torchkata-course/.venv && source torchkata-course/.venv/bin/activate",
        "pip install torchkata",
    ),
    "waits; test_watch.py::test_watch_runs_only_the_saved_kata": ("kata watch", "uv run kata watch"),
    "needs a newer handout; test_update.py::test_update_leaves_the_assignment_unchanged": ("kata update handout.zip",),
    "minutes; test_speed.py::test_stored_speed_results_are_reused": ("grader grade submissions/* --device cuda",),
    "a minute; test_doctor_device.py::test_doctor_measures_cpu_speed": ("grader doctor --device cuda",),
    "installs packages; test_graded_class.py::test_grade_exits_0_and_shows_every_submission": ("make grade",),
    "this test is part of it": ("make test",),
    "many minutes; make prove and make speed run it": ("grader certify",),
    "needs a GPU; rehearsed in test_prove_gpu.py::test_rehearsal_executes_every_step": ("make gpu",),
    "needs Podman; test_containerfile.py::test_doctor_and_docs_name_same_container_options": (
        "podman build -t torchkata .",
        "podman run --rm torchkata",
        "podman run --rm --userns keep-id --security-opt seccomp=unconfined --security-opt unmask=ALL "
        '-v "$PWD/submissions:/submissions:ro" -v "$PWD/results:/results" torchkata grade '
        "--layout folders /submissions --out /results --jobs 4",
    ),
    "needs Slurm; test_slurm.py::test_slurm_run_gives_same_gradebook_as_local_run": (
        "grader grade submissions/* --jobs 20 --slurm partition=cpu --slurm time=01:00:00",
        "python scripts/one_node_slurm.py start /tmp/slurm",
        "python scripts/one_node_slurm.py stop /tmp/slurm",
    ),
    "needs Slurm; test_slurm_chunk.py::test_only_speed_tasks_request_a_gpu": (
        "grader grade submissions/* --jobs 20 --device cuda "
        "--slurm tests:partition=cpu --slurm speed:partition=gpu --slurm gres=gpu:h100:1",
    ),
}
LEFT_OUT = {command for commands in NOT_RUN.values() for command in commands}
STUBS_ARE_LEFT = (
    *(
        "kata next",
        "kata check",
        "kata check linear sgd",
        "kata measure",
        "kata rates",
        "kata speak",
        "kata linear",
        "kata next linear",
    ),
    *("pytest", "pytest --kata linear", "pytest --track core", "pytest --examples 500", "pytest --seed 7"),
    "pytest --hypothesis-profile grade",
)
FOR_SELF_LEARNERS = ("kata update", "kata solution linear")  # test_self_study.py; a handout refuses them
ENDS = {
    "grader doctor": (0, 3),
    **dict.fromkeys(STUBS_ARE_LEFT, (1,)),
    **dict.fromkeys(FOR_SELF_LEARNERS, (2,)),
}  # exit codes, if not 0
MINUTES = (
    "students.md: Useful commands",  # complete pytest runs; test_student_output.py tests each option
    "own-course.md: Start a course",  # takes minutes; see test_wheel.py
)
RUNNER = dict.fromkeys(VARIABLES.values(), "https://example.org/")
RUNNER |= {"ASSIGNMENT_TYPE": "individual", "SUBMISSION_TAG": "submit/1", "SUBMITTED_AT": "2026-09-30T23:59:00Z"}


def find_sections() -> dict[Section, list[str]]:
    """Return the commands to run for each section, without those that are already run for an earlier section."""
    planned: dict[tuple[bool, str], Section] = {}
    for section in ALL_SECTIONS:
        for command in section.commands:
            if command not in LEFT_OUT and section.document != AFTERNOON:
                planned.setdefault((section.document in FOR_STUDENTS, command), section)
    return {
        section: [command for (_, command), first in planned.items() if first is section]
        for section in planned.values()
    }


def type_in(place: Path, command: str) -> Run:
    """Run a shell command in a folder and answer its prompts: `kata predict` gets a number, any other command "y"."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ours = {"PATH": path, "PYTHONPATH": str(place), "XDG_CACHE_HOME": str(place / "cache")}
    environment = {**get_student_environment(), **RUNNER, **ours, "COLUMNS": "100"}
    typed = command.replace("@COMMIT", "@" + 40 * "0")
    return run_program(
        "bash", "-c", typed, cwd=place, environment=environment, typed="7\n" if "predict" in command else "y\n"
    )


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project with submissions graded by the first command in docs/grading.md.

    Only one kata is graded, because each new seed draws a hundred inputs for each test.
    """
    place = tmp_path_factory.mktemp("docs") / "torchkata"
    shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(".*", "__pycache__", "dist"))
    shutil.rmtree(place / "results", ignore_errors=True)
    settings = place / "pyproject.toml"
    short = settings.read_text("utf-8").replace('graded = ["core"]', 'graded = ["short"]')
    tracks = "[tool.torchkata.tracks]"
    settings.write_text(short.replace(tracks, f'{tracks}\nshort = "One kata"'), "utf-8")
    kata = place / "reference/same_storage/kata.toml"
    text = kata.read_text("utf-8").replace('track = "core"', 'track = "short"')
    kata.write_text(text.replace("weight = 8", "weight = 100"), "utf-8")
    (place / "submissions").mkdir()
    for name in ("writes_results", "zipped.zip"):  # quick to grade
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
        pytest.param(*planned, id=str(planned[0]), marks=[pytest.mark.timing] if str(planned[0]) in MINUTES else [])
        for planned in find_sections().items()
    ],
)
def test_documented_commands_in_each_section_succeed(
    section: Section, commands: list[str], graded: Path, new_handout: Path, tmp_path: Path
) -> None:
    place = shutil.copytree(new_handout if section.document in FOR_STUDENTS else graded, tmp_path / "here")
    for command in commands:
        done = type_in(place, command)
        assert done.code in ENDS.get(command, (0,)), f"{command}\n{done.out}{done.err}"
        assert "Traceback" not in done.err


def test_afternoon_runs_from_start_to_end(graded: Path, tmp_path: Path) -> None:
    place, printed = shutil.copytree(graded, tmp_path / "here"), {}
    [waiver] = re.findall(r"^```toml\n(.*?)^```$", AFTERNOON.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    for section in read_sections(AFTERNOON):
        if "Waive a test" in section.heading:
            (place / "made/class/waive.toml").write_text(waiver)
        if "Fix a test" in section.heading:
            (place / "made/class/waive.toml").unlink()
            with (place / "tests/test_linear.py").open("a") as file:
                file.write("# corrected\n")
        for command in section.commands:
            step = section.heading.split(maxsplit=1)[1].partition(" (")[0]
            done = printed[step, command.split()[1]] = type_in(place, command)
            assert done.code in ENDS.get(command, (0,)), f"{command}\n{done.out}{done.err}"
    assert "is waived" in printed["Waive a test", "report"].out
    assert "graded again (other katas unchanged): linear (2)" in printed["Fix a test", "grade"].out
    assert printed["Fix a test", "diff"].out.startswith("0 of 192 submissions differ\nlinear: its tests")
    before, after = ((place / f"made/{name}.csv").read_text("utf-8") for name in ("canvas", "upload-canvas"))
    assert [line.count(",") for line in before.splitlines()] == [line.count(",") for line in after.splitlines()]
    assert before != after


def test_skipped_commands_are_run_by_other_tests() -> None:
    assert LEFT_OUT <= TYPED
    assert ENDS.keys() <= TYPED - LEFT_OUT
    for file, test in re.findall(r"(test_\w+\.py)::(\w+)", "\n".join(NOT_RUN)):
        (path,) = (ROOT / "grader/tests").glob(f"*/{file}")
        assert f"def {test}(" in path.read_text("utf-8")


def test_output_blocks_contain_no_commands() -> None:
    blocks = [block for one in ALL_SECTIONS if one.document.name != "measured.md" for block in one.shown]
    starts = {line.partition(" ")[0] for block in blocks for line in block.splitlines()}
    assert starts.isdisjoint((*OURS, *OTHERS, "cd", "$"))


def test_documented_lines_write_times_of_pushes(tmp_path: Path) -> None:
    """The lines on the page take the time of a push from the server, whatever the date of the commit is."""
    environment = {**os.environ, "HOME": str(tmp_path), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    dated = {f"GIT_{who}_DATE": "2020-02-02T02:02:02+00:00" for who in ("AUTHOR", "COMMITTER")}

    def git(*arguments: object, folder: Path = tmp_path, **variables: str) -> None:
        done = run_program("git", *arguments, cwd=folder, environment={**environment, **variables})
        assert done.code == 0, done.err

    begun = datetime.now(UTC).replace(microsecond=0)
    for name in ("ada", "ben"):
        git("init", "--quiet", "--bare", f"{name}.git")
        git("config", "core.logAllRefUpdates", "true", folder=tmp_path / f"{name}.git")
        git("init", "--quiet", "--initial-branch", "main", name)
        git(*identity, "commit", "--quiet", "--allow-empty", "--message", "x", folder=tmp_path / name, **dated)
        git("push", "--quiet", f"../{name}.git", "main", folder=tmp_path / name)
    [page] = [one for one in read_sections(ROOT / "docs/grading.md") if one.heading == "Marks"]
    [block] = [block for block in page.shown if "times.csv" in block]
    done = run_program("bash", "-c", block.replace("/srv/git", str(tmp_path)), environment=environment)
    assert (done.code, done.err) == (0, "")
    times = read_times(tmp_path / "times.csv")
    assert list(times) == ["ada", "ben"]
    assert all(begun <= time <= datetime.now(UTC) for time in times.values())


def find_block(heading: str) -> str:
    [block] = next(section.shown for page in PAGES for section in read_sections(page) if section.heading == heading)
    return block


@pytest.fixture(scope="module")
def begun(new_handout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a handout in which one kata has passed its tests, and another was corrected after failing them."""
    handout = shutil.copytree(new_handout, tmp_path_factory.mktemp("begun") / "katas")
    shutil.copy(SOLUTION / "same_storage.py", handout / "assignment")
    linear = handout / "assignment/linear.py"
    solution = (ROOT / "reference/linear/solution.py").read_text("utf-8")
    linear.write_text(solution.replace("input_dim**0.5", "input_dim"), "utf-8")
    type_in(handout, "pytest --kata same_storage --kata linear")
    linear.write_text(solution, "utf-8")
    return handout


@pytest.mark.parametrize(("language", "heading"), [("en", "Set up"), ("zh", "安装")])
def test_kata_prints_the_documented_overview(
    language: str, heading: str, begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_LANG", language)
    assert_shown(find_block(heading).splitlines(), type_in(begun, "kata").out.splitlines())


@pytest.mark.parametrize(("language", "heading"), [("en", "Read a failure"), ("zh", "读懂失败信息")])
def test_pytest_prints_the_documented_failure(
    language: str, heading: str, handout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_LANG", language)
    solution = (ROOT / "reference/linear/solution.py").read_text("utf-8")
    (handout / "assignment/linear.py").write_text(
        solution.replace("x @ self.weight", "self.weight.T @ x.unsqueeze(-1)"), "utf-8"
    )
    printed = type_in(handout, "pytest --kata linear --seed 1234").out
    assert_shown(find_block(heading).splitlines(), printed.splitlines())
