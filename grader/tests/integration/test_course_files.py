"""Tests of course files: invalid ones are rejected, and katas are selected by name and track."""

import re
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import Run, call_grader, run
from torchkata.cli.about import find_section
from torchkata.course import course
from torchkata.course.handout import LIST

TRACKS = {track: [kata for kata in course().katas.values() if kata.track == track] for track in course().tracks}


def test_every_section_links_the_lecture_and_a_reading() -> None:
    ready = [name for name in course().katas if (course().folder(name) / "zh.po").is_file()]  # a new one needs no links
    sections = {name: find_section(course().katas[name]) for name in ready}
    assert len(sections) > 30
    assert [name for name, text in sections.items() if "\nLecture: [`" not in text] == []
    without = {name for name, text in sections.items() if "Read: [" not in text}
    assert without <= {"gradient_accumulation", "break_sgd", "break_get_batch", "break_time_matmul"}


def test_every_lecture_item_occurs_where_the_table_says() -> None:
    _, items = (ROOT / "docs/lecture.md").read_text("utf-8").split("## Item by item")
    places = [row.split("|")[2].strip() for row in items.splitlines() if row.startswith("| ")][1:]
    assert len(places) >= 100
    assert sum(place.startswith("omitted: ") for place in places) <= 5
    assert [problem for place in places if (problem := find_missing(place))] == []


def test_lost_lecture_item_is_found() -> None:
    assert find_missing('`roofline`: stub ("is memory-bound")') == ""
    assert find_missing('`roofline`: stub ("is memory-bound", "a lost fact")') == "stub of roofline: a lost fact"


PLACE = re.compile(
    r"""omitted:\ .*
    | `(?P<kata>\w+)`:\ (?: `(?P<test>test_\w+)` | (?:stub|page)\ \(".*"\) ) (?: ,\ and\ .* )?""",
    re.VERBOSE,
)


def find_missing(place: str) -> str:
    """Return what a kata lacks that the table of the lecture's items claims, or ""."""
    found = PLACE.fullmatch(place)
    if found is None:
        return f"not understood: {place}"
    name, test = found["kata"], found["test"]
    if name is None:
        return ""
    kata = course().katas.get(name)
    if kata is None or (test is not None and test not in kata.points):
        return f"neither a kata nor one of its tests: {place}"
    for kind, quoted in re.findall(r'(stub|page) \("(.*?)"\)', place):
        text = course().stub(name).read_text("utf-8") if kind == "stub" else find_section(kata)
        for words in quoted.split('", "'):
            if words not in " ".join(text.split()):
                return f"{kind} of {name}: {words}"
    return ""


def test_katas_are_selected_by_name_and_track() -> None:
    choose = course().choose
    everything = list(course().katas.values())
    assert choose([]) == choose([], ["all"]) == choose(["all"]) == everything
    both = TRACKS["core"] + TRACKS["optimizers"]
    assert choose([], ["core,optimizers"]) == choose([], ["optimizers", "core"]) == choose(["optimizers,core"]) == both
    assert [kata.name for kata in choose(["sgd,linear"])] == ["linear", "sgd"]
    assert choose(["linear"], ["core"]) == choose(["linear,core"]) == TRACKS["core"]
    with pytest.raises(ValueError, match="there is no kata or track 'lineal'; did you mean linear"):
        choose(["linear,lineal"])
    with pytest.raises(ValueError, match="there is no track 'cores'; the tracks are core, memory"):
        choose([], ["cores"])


def write_course(folder: Path, course: str, **files: str) -> Path:
    """Write a course with a single kata, `k`, and apply changes to its files."""
    told = {
        "pyproject.toml": course,
        "assignment/k.py": "",
        "tests/test_k.py": "def test_a(): ...\n",
        "reference/k/kata.toml": f'{HEAD}essential = ["test_a"]\n',
    }
    for name, text in (told | files).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


PLAIN, KATA, TESTS = "[tool.torchkata]\n", "reference/k/kata.toml", "tests/test_k.py"
HEAD = 'title = "K"\n[tests]\n'
KEYS = "; the keys are"


@pytest.mark.parametrize(
    ("course", "files", "line"),
    [
        (f"{PLAIN}titel = 'T'\n", {}, f"pyproject.toml: [tool.torchkata] has the unknown key 'titel'{KEYS} title,"),
        (f"{PLAIN}graded = ['a']\n", {}, "graded names 'a', which is not a track; the tracks are all_katas"),
        (PLAIN, {"reference/m/kata.toml": f"{HEAD}central = ['test_a']\n"}, "reference/m: the kata m has no tests"),
        (PLAIN, {"tests/test_m.py": "", "assignment/m.py": ""}, "tests/test_m.py: there is no kata of this name"),
        (PLAIN, {KATA: 'titel = "K"\n[tests]\n'}, f"{KATA} has the unknown key 'titel'{KEYS} title,"),
        (
            PLAIN,
            {KATA: 'title = "K"\ntrack = "x"\n[tests]\ncentral = ["test_a"]\n'},
            "kata.toml: track is 'x'; it can be all_katas",
        ),
        (
            PLAIN,
            {KATA: 'title = "K"\nbuilds_on = ["x"]\n[tests]\ncentral = ["test_a"]\n'},
            "kata.toml: builds_on names 'x'",
        ),
        (
            PLAIN,
            {KATA: 'title = "K"\nbuilds_on = ["k"]\n[tests]\ncentral = ["test_a"]\n'},
            "builds_on names 'k', the kata itself",
        ),
        (PLAIN, {KATA: "title"}, f"{KATA}: can't be read (Expected"),
        (f"{PLAIN}graded = 'a'\n", {}, "[tool.torchkata]: graded is 'a'; it should be a list"),
        (
            f"{PLAIN}grader_python = '>=3.11'\n",
            {},
            "grader_python is '>=3.11'; it should be a version, such as \"3.12\"",
        ),
        (f"{PLAIN}tracks = {{}}\n", {}, "[tool.torchkata]: tracks is empty"),
        ("[tool.torchkata.limits]\ncall_seconds = '5'\n", {}, "call_seconds is '5'; it should be a number"),
        ("[tool.torchkata.limits]\ntest_seconds = 0.0\n", {}, "test_seconds is 0"),
        (PLAIN, {KATA: 'title = "K"\ntests = 3\n'}, f"{KATA}: tests is 3; it should be a table"),
        (PLAIN, {KATA: 'title = "K"\nplace = "last"\n[tests]\n'}, "place is 'last'; it should be a whole number"),
        (PLAIN, {KATA: 'title = "K"\n'}, f"{KATA}: tests is missing"),
        (
            PLAIN,
            {KATA: HEAD},
            f"{KATA}: [tests] is empty; list every test of the kata in central, essential, conventions",
        ),
        (PLAIN, {KATA: f"{HEAD}test_a = 5\n"}, f"{KATA}: [tests] has the unknown key 'test_a'{KEYS} central,"),
        (PLAIN, {KATA: f"{HEAD}central = ['test_a', 'test_a']\n"}, f"{KATA}: [tests] names test_a twice"),
        (PLAIN, {KATA: f"weight = 0\n{HEAD}central = ['test_a']\n"}, f"{KATA}: weight is 0; it should be above 0"),
        (PLAIN, {KATA: f"weight = 0.5\n{HEAD}central = ['test_a']\n"}, "weight is 0.5; it should be a whole number"),
        (
            "[tool.torchkata.tracks]\na = 'A'\nb = 'B'\n",
            {},
            "the track b has no katas; `grader new kata NAME --track b`",
        ),
        (
            PLAIN,
            {TESTS: "def test_a(): ...\ndef test_b(): ...\n"},
            f"{TESTS}: test_b has no points; list it in [tests] of reference/k/kata.toml",
        ),
        (PLAIN, {TESTS: "def help_a(): ...\n"}, f"{KATA}: [tests] names test_a, which is not a test in {TESTS}"),
        (
            PLAIN,
            {KATA: f'{HEAD}central = ["test_a"]\n[command]\nname = "draw"\n'},
            f"{KATA}: [command]: help is missing",
        ),
    ],
)
def test_mistakes_in_course_files_are_rejected(tmp_path: Path, course: str, files: dict[str, str], line: str) -> None:
    assert_refused(
        call_grader("--course", write_course(tmp_path, course, **files), "grade", tmp_path, "--out", tmp_path / "out"),
        line,
    )


@pytest.mark.parametrize("command", [("grader", "grade", "assignment", "--out", "out"), ("pytest",)])
@pytest.mark.parametrize(
    ("tests", "line"),
    [
        ("def made(): ...\nglobals().update(test_a=made, test_b=made)", f"{TESTS}: test_b has no points"),
        ("import pytest\n@pytest.mark.parametrize('x', [1])\ndef test_a(x): ...", f"{TESTS}: test_a[1] has no points"),
    ],
)
def test_collected_test_without_points_is_reported(
    tmp_path: Path, command: tuple[str, ...], tests: str, line: str
) -> None:
    assert_refused(run(*command, cwd=write_course(tmp_path, PLAIN, **{TESTS: tests})), line)


def test_repeated_case_counts_for_its_own_points(tmp_path: Path) -> None:
    listed = f'{HEAD}central = ["test_a[1]", "test_a[2]"]\n'
    tests = "import pytest\n@pytest.mark.parametrize('x', [1, 2])\ndef test_a(x):\n    assert x == 1\n"
    folder = write_course(tmp_path, PLAIN, **{KATA: listed, TESTS: tests})
    out = run("pytest", "-p", "grader.tests.support.imitated_plugins", "--imitate", "repeat", cwd=folder).out
    assert " 1/2 5/10 points" in " ".join(out.split())


def test_handout_may_lack_tracks(tmp_path: Path) -> None:
    folder = write_course(tmp_path, "[tool.torchkata.tracks]\na = 'A'\nb = 'B'\n")
    assert_refused(run("torchkata", cwd=folder), "the track b has no katas")
    (folder / LIST).touch()
    assert run("torchkata", cwd=folder).code == 0


def assert_refused(done: Run, line: str) -> None:
    assert done.code in (2, 4), done.out
    (said,) = (done.err or done.out).strip().splitlines()
    assert line in said


def test_innermost_nested_course_is_used(tmp_path: Path) -> None:
    outer = write_course(tmp_path, "[tool.torchkata]\ntitle = 'Outer'\n")
    inner = write_course(tmp_path / "lab/inner", "[tool.torchkata]\ntitle = 'Inner'\n")
    for place, title in ((outer / "lab", "Outer"), (inner / "tests", "Inner")):
        assert f"{title}: 1 kata" in " ".join(run("grader", "doctor", cwd=place).out.split())
    assert "Outer: 1 kata" in " ".join(run("grader", "--course", str(outer), "doctor", cwd=inner).out.split())
