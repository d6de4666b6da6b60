"""The command `kata`, typed in a student's handout; and what it remembers, whatever becomes of the file."""

import json
import shutil
import string
import zipfile
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import submission
from grader.tests.conftest import Run, at_home
from kata import state
from kata.catalog import ROOT, catalog
from kata.cli.export import collected, zipped
from kata.explain import Status
from kata.state import Outcome, State

KATAS = list(catalog().katas)
SOLUTION = ROOT / "reference/solution"


def kata(handout: Path, *command: str, typed: str = "", **variables: str) -> Run:
    """`kata …`."""
    return at_home("kata", *command, cwd=handout, typed=typed, **variables)


def write(handout: Path, *katas: str) -> None:
    """Our solution in the place of these stubs."""
    for name in katas:
        shutil.copy(SOLUTION / f"{name}.py", handout / "assignment")


def row(out: str, name: str) -> str:
    """A kata's line."""
    return next(line for line in out.splitlines() if line.startswith(f"  {name} "))


def test_at_the_start_nothing_has_run_and_the_first_kata_is_next(handout: Path) -> None:
    done = kata(handout)
    assert done.code == 0
    assert all(row(done.out, name).split()[1:3] == ["not", "run"] for name in KATAS)
    assert "From a tensor to a trained model   0 of " in done.out
    assert "next: Tell views from copies — assignment/same_storage.py, then: kata next" in done.out
    assert "\x1b" not in done.out


def test_an_outcome_is_remembered_and_marked_when_files_have_changed(handout: Path) -> None:
    write(handout, "linear")
    for name in ("linear", "cruncher"):
        at_home("pytest", f"--kata={name}", "--examples=2", cwd=handout)
    out = kata(handout).out
    assert row(out, "linear").split() == ["linear", "done", "6/6"]
    assert row(out, "cruncher").split() == ["cruncher", "not", "started", "0/7"]
    (handout / "assignment/sgd.py").write_text("# another kata, which linear does not build on")
    assert "changed" not in kata(handout).out
    (handout / "assignment/helpers.py").write_text("# anybody may import this")
    assert row(kata(handout).out, "linear").endswith("6/6  changed since")
    (handout / "assignment/helpers.py").unlink()
    assert row(kata(handout).out, "linear").endswith("6/6")
    with (handout / "assignment/linear.py").open("a") as file:
        file.write("# changed\n")
    out = kata(handout).out
    assert row(out, "linear").endswith("done           6/6  changed since")
    assert row(out, "cruncher").endswith("changed since"), "it builds on linear"


def test_only_whole_runs_of_the_own_files_are_remembered(handout: Path) -> None:
    write(handout, "linear")
    at_home("pytest", "tests/test_linear.py::test_forward_is_x_at_weight", cwd=handout)
    at_home("pytest", f"--impl={SOLUTION}", "--kata=linear", "--examples=2", cwd=handout)
    assert row(kata(handout).out, "linear").split()[1:3] == ["not", "run"]
    assert not (handout / ".kata").exists()


def test_next_runs_the_first_kata_that_is_not_done(handout: Path) -> None:
    done = kata(handout, "next")
    assert done.code == 1
    assert "same_storage  not started    0/6" in done.out
    assert "get_batch" not in done.out
    (handout / ".kata/progress.json").write_text(json.dumps({"outcomes": finished(handout), "hints": {}}))
    done = kata(handout, "next")
    assert (done.code, done.out) == (0, "All done. To hand in: kata export\n")
    assert kata(handout, "hint").out == done.out


def finished(handout: Path) -> dict[str, dict[str, object]]:
    """What a handout remembers when every kata is done, by its own digest of its own files."""
    code = "import json, kata.catalog, kata.state\n"
    code += "print(json.dumps({name: kata.state.digest(name) for name in kata.catalog.catalog().katas}))"
    (handout / "digests.py").write_text(code)
    digests = json.loads(at_home("digests", cwd=handout).out)
    return {name: {"status": "done", "passed": 1, "files": digests[name], "run": ""} for name in digests}


def test_hints_come_one_by_one_and_are_remembered(handout: Path) -> None:
    hints = catalog().katas["linear"].hints
    for shown in (1, 2, 3, 3):
        out = kata(handout, "hint", "linear").out
        assert [hint in out for hint in hints] == [number < shown for number in range(3)]
        assert ("that was the last one" in out) == (shown == 3)
    assert hints[0] in kata(handout, "hint", "linear").out
    assert catalog().katas["same_storage"].hints[0] in kata(handout, "hint").out, "the next kata, if none is named"


def test_reset_asks_first_and_keeps_the_file(handout: Path) -> None:
    file, stub = handout / "assignment/linear.py", (ROOT / "assignment/linear.py").read_bytes()
    assert kata(handout, "reset", "linear").out == "assignment/linear.py is the untouched stub already\n"
    write(handout, "linear")
    own = file.read_bytes()
    for answer in ("", "n\n", "what?\n"):
        assert "Nothing was changed." in kata(handout, "reset", "linear", typed=answer).out
        assert file.read_bytes() == own
    assert "assignment/linear.py.bak" in kata(handout, "reset", "linear", typed="y\n").out
    assert file.read_bytes() == stub
    file.write_bytes(b"another")
    kata(handout, "reset", "linear", "--yes")
    assert file.read_bytes() == stub
    assert [(handout / "assignment" / f"linear.py.bak{number}").read_bytes() for number in ("", 2)] == [own, b"another"]
    file.unlink()
    assert kata(handout, "reset", "linear").out == "assignment/linear.py is there again, untouched\n"
    assert file.read_bytes() == stub


def test_reset_forgets_what_was_known_of_the_kata(handout: Path) -> None:
    (handout / ".kata").mkdir()
    stored = {"outcomes": finished(handout), "hints": {"linear": 2, "sgd": 1}}
    (handout / ".kata/progress.json").write_text(json.dumps(stored))
    write(handout, "linear")
    kata(handout, "reset", "linear", "--yes")
    left = json.loads((handout / ".kata/progress.json").read_text())
    assert "linear" not in left["outcomes"]
    assert left["hints"] == {"sgd": 1}


def test_without_stored_stubs_reset_says_so(handout: Path) -> None:
    shutil.rmtree(handout / "reference/stubs")
    done = kata(handout, "reset", "linear")
    assert done.code == 2
    assert done.err == "kata: there are no untouched stubs here: they come with the handout (reference/stubs/)\n"


def test_what_is_exported_is_what_the_grader_reads(handout: Path) -> None:
    write(handout, *KATAS)
    (handout / "assignment/helpers.py").write_text("HALF = 0.5\n")
    done = kata(handout, "export")
    files = len(KATAS) + 1
    assert done.out == f"assignment.zip: {files} files, {len(KATAS)} of {len(KATAS)} katas written\n"
    read = submission.read(handout / "assignment.zip")
    assert read.files == submission.read(handout / "assignment").files
    assert len(read.files) == files
    first = (handout / "assignment.zip").read_bytes()
    assert kata(handout, "export").code == 0, "an older one is written over"
    assert (handout / "assignment.zip").read_bytes() == first


def test_export_says_what_is_missing_wrong_or_stays_behind(handout: Path) -> None:
    folder = handout / "assignment"
    write(handout, "same_storage", "linear", "cruncher")
    (folder / "get_batch.py").unlink()
    (folder / "sgd.py").rename(folder / "SGD.py")
    (folder / "train.py").write_text("from .lib import step\nfrom . import linear, tools\nPATTERN = '\\d'\n")
    (folder / "cruncher.py").write_text("def f(:\n")
    (folder / "linear.py").write_bytes("x = 1".encode("utf-16"))
    (folder / "notes.txt").write_text("")
    (folder / "my-notes.py").write_text("")
    (folder / "conftest.py").write_text("")
    (folder / "data").mkdir()
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "big.py").write_bytes(b"#" * (2**20 + 1))
    (folder / "adagrad.py").unlink()
    (folder / "adagrad.py").symlink_to(folder / "checkpoint.py")
    done = kata(handout, "export", "my work.zip")
    assert done.code == 0
    said = dict(line.strip().split("  ", 1) for line in done.out.splitlines() if line.startswith("  "))
    expected = {
        "get_batch.py": "is missing",
        "sgd.py": "is missing; SGD.py has another name",
        "cruncher.py": "line 1: invalid syntax; no test of it can pass",
        "linear.py": "line 1: ",
        "checkpoint.py": "line 22 still raises NotImplementedError",
        "notes.txt": "not a Python module; not handed in",
        "my-notes.py": "not a Python module; not handed in",
        "conftest.py": "never run by the grader; not handed in",
        "data": "a folder; not handed in",
        "big.py": "larger than 1 MiB; not handed in",
        "adagrad.py": "a link, not a file; not handed in",
    }
    assert "imports .lib, which is not there" in done.out
    assert "imports .tools, which is not there" in done.out
    assert "imports .linear" not in done.out
    assert all(said[name].strip().startswith(text) for name, text in expected.items())
    assert "__pycache__" not in done.out
    assert f"1 of {len(KATAS)} katas written" in done.out, "same_storage"
    assert done.err == ""
    read = submission.read(handout / "my work.zip")
    assert {"SGD.py", "same_storage.py"} < read.files.keys()
    assert read.files.keys().isdisjoint(("big.py", "adagrad.py", "conftest.py"))


names = st.text(st.sampled_from(string.ascii_letters + "_-. é1"), min_size=1, max_size=8).filter(
    lambda name: name.strip(".") and name.isprintable()
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=st.sets(names.map(lambda name: f"{name}.py") | names, max_size=8))
def test_whatever_the_files_are_called_the_grader_reads_those_that_are_exported(
    tmp_path_factory: pytest.TempPathFactory, found: set[str]
) -> None:
    folder = tmp_path_factory.mktemp("student") / "assignment"
    folder.mkdir()
    for name in {*found, "linear.py"}:
        (folder / name).write_text(f"# {name}")
    files, _ = collected(folder)
    assert submission.read(folder).files == files
    archive = folder.parent / "assignment.zip"
    archive.write_bytes(zipped(files))
    assert submission.read(archive).files == files


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("work.tar", "work.tar: the name should end in .zip"),
        ("README.zip", "README.zip: there is something else already"),
        ("nowhere/work.zip", "can't write there (No such file or directory)"),
    ],
)
def test_export_writes_over_nothing_but_a_zip(handout: Path, path: str, words: str) -> None:
    (handout / "README.zip").write_text("not a zip")
    done = kata(handout, "export", path)
    assert done.code == 2
    assert words in done.err
    assert (handout / "README.zip").read_text() == "not a zip"


def test_without_any_kata_nothing_is_exported(handout: Path) -> None:
    shutil.rmtree(handout / "assignment")
    done = kata(handout, "export")
    assert (done.code, done.err) == (2, "kata: there is nothing to hand in: no kata in assignment/\n")
    assert not (handout / "assignment.zip").exists()
    assert kata(handout, "reset", "linear").code == 0, "and the stub comes back"
    assert kata(handout, "export").code == 0


def test_more_files_than_the_grader_reads_are_refused(handout: Path) -> None:
    for number in range(64):
        (handout / f"assignment/helper{number}.py").write_text("")
    done = kata(handout, "export")
    assert done.code == 2
    assert "64 are read at most" in done.err
    assert not (handout / "assignment.zip").exists()


@pytest.mark.parametrize("command", [["hnt"], ["hint", "lineal"], ["reset"], ["reset", "../linear"], ["--colour"]])
def test_a_wrong_call_is_one_line(handout: Path, command: list[str]) -> None:
    done = kata(handout, *command)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("kata: ")
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_encoding_of_a_terminal_will_do(handout: Path, encoding: str) -> None:
    for command in ([], ["hint", "linear"], ["export"], ["--help"]):
        done = kata(handout, *command, PYTHONIOENCODING=encoding)
        assert (done.code, done.err) == (0, "")


def test_what_needs_no_torch_does_not_wait_for_it(handout: Path) -> None:
    (handout / "look.py").write_text(
        "import sys\nfrom kata.cli.command import run\nrun([])\nrun(['hint'])\nrun(['export'])\n"
        "assert not {'torch', 'numpy', 'pytest'} & set(sys.modules)\n"
    )
    done = at_home("look", cwd=handout)
    assert done.code == 0, done.err


def test_a_full_disk_costs_no_verdict(handout: Path) -> None:
    (handout / ".kata").write_text("a file where the folder should be")
    done = at_home("pytest", "--kata=same_storage", cwd=handout)
    assert done.code == 1
    assert "kata: your progress could not be stored (" in done.out
    assert kata(handout).code == 0
    assert kata(handout, "hint").code == 3


outcomes = st.builds(Outcome, st.sampled_from(state.STATUSES), st.integers(0, 20), st.text(), st.text())
states = st.builds(
    State,
    st.dictionaries(st.sampled_from(KATAS), outcomes),
    st.dictionaries(st.sampled_from(KATAS), st.integers(1, 3)),
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*KATAS, "outcomes", "hints", "status", "passed", "files", "run"]), inner)
    ),
    max_leaves=20,
)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where it is remembered."""
    monkeypatch.setattr(state, "FILE", tmp_path / ".kata/progress.json")
    return tmp_path / ".kata/progress.json"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(remembered=states)
def test_what_is_stored_is_remembered(file: Path, remembered: State) -> None:
    state.store(remembered)
    assert state.load() == remembered
    assert [path.name for path in file.parent.iterdir()] == ["progress.json"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary() | anything.map(lambda value: json.dumps(value).encode()))
def test_whatever_the_file_holds_the_next_step_is_known(file: Path, content: bytes) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    assert state.load().next() is not None or "done" in content.decode()


def test_a_nest_without_end_is_forgotten(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("[" * 100_000)
    assert state.load() == State()


def test_a_write_that_fails_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remembered = State({}, {"linear": 1})
    state.store(remembered)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        state.store(State({}, {"linear": 2}))
    assert state.load() == remembered
    assert [path.name for path in file.parent.iterdir()] == ["progress.json"]


def test_every_status_is_remembered() -> None:
    assert set(state.STATUSES) == set(get_args(Status))


def test_an_exported_zip_can_be_unpacked_anywhere(handout: Path) -> None:
    kata(handout, "export")
    with zipfile.ZipFile(handout / "assignment.zip") as archive:
        assert archive.testzip() is None
        assert all(name == name.lower() and name.startswith("assignment/") for name in archive.namelist())
