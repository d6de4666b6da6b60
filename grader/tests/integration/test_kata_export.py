"""`kata export` packs the files that the grader reads and lists the files that it skips."""

import shutil
import string
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.pipeline.reading import read_submission
from grader.tests.conftest import get_student_environment, run_kata, run_program, write_solution
from torchkata.cli.export import collect_files
from torchkata.course import course
from torchkata.course.submission import zip_files
from torchkata.inside.source.text import PYTHON

KATAS = list(course().katas)


@pytest.mark.sample
def test_export_packs_the_files_that_grader_reads(handout: Path) -> None:
    write_solution(handout, *KATAS)
    (handout / "assignment/helpers.py").write_text("HALF = 0.5\n")
    done = run_kata(handout, "export")
    files = len(KATAS) + 1
    untested = f"not tested since their last change: {', '.join(KATAS)}; run: kata check {' '.join(KATAS)}"
    counts = f"assignment.zip: {len(KATAS)} of {len(KATAS)} katas implemented; files: {files}"
    assert " ".join(done.out.split()) == f"{untested} {counts}"
    read = read_submission(handout / "assignment.zip")
    assert read.files == read_submission(handout / "assignment").files
    assert len(read.files) == files
    first = (handout / "assignment.zip").read_bytes()
    assert run_kata(handout, "export").code == 0, "export must overwrite an older zip file"
    assert (handout / "assignment.zip").read_bytes() == first


def test_export_reports_problems_in_the_assignment(handout: Path) -> None:
    folder = handout / "assignment"
    write_solution(handout, "same_storage", "linear", "cruncher")
    (folder / "get_batch.py").unlink()
    (folder / "sgd.py").rename(folder / "SGD.py")
    (folder / "train.py").write_text("from .lib import step\nfrom . import linear, tools\nPATTERN = '\\d'\n")
    (folder / "trained.py").write_text("from .Tools import HALF\nfrom .get_batch import get_batch\nimport outside\n")
    (handout / "outside.py").write_text("")
    (folder / "momentum.py").rename(folder / "momentum.py.txt")
    write_solution(handout, "strides")
    with (folder / "strides.py").open("ab") as file:
        file.write(b"# caf\xe9\n")
    (folder / "strides (1).py").write_bytes((folder / "strides.py").read_bytes())
    (folder / "rmsprop (1).py").write_bytes((folder / "rmsprop.py").read_bytes())
    (folder / "cruncher.py").write_text("def f(:\n")
    (folder / "linear.py").write_bytes("x = 1".encode("utf-16"))
    for name in ("notes.txt", "my-notes.py", "conftest.py", "random.py"):
        (folder / name).write_text("")
    (folder / "data").mkdir()
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "big.py").write_bytes(b"#" * (2**20 + 1))
    (folder / "adagrad.py").unlink()
    (folder / "adagrad.py").symlink_to(folder / "checkpoint.py")
    (folder / "tools.py").write_text("import sgd, random\nfrom big import HALF\nfrom cruncher import Cruncher\n")
    done = run_kata(handout, "export", "my work.zip")
    assert done.code == 1
    said = dict(line.strip().split("  ", 1) for line in done.out.splitlines() if "  " in line.strip())
    stub = (handout / "assignment/checkpoint.py").read_text("utf-8").partition("raise NotImplementedError")[0]
    expected = {
        "get_batch.py": "missing, but imported by trained.py",
        "sgd.py": "there is SGD.py: rename it if it is meant to be sgd.py",
        "momentum.py": "there is momentum.py.txt: rename it if it is meant to be momentum.py",
        "rmsprop.py": "there is rmsprop (1).py: rename it",
        "cruncher.py": f"line 1: invalid syntax{PYTHON}; all tests of this file will fail",
        "linear.py": "line 1: ",
        "checkpoint.py": f"line {stub.count(chr(10)) + 1} still raises NotImplementedError",
        "notes.txt": "not included: not a Python module",
        "my-notes.py": "not included: not a Python module",
        "conftest.py": "not included: the grader never runs this file",
        "data": "not included: a folder",
        "big.py": "not included: larger than 1 MiB",
        "adagrad.py": "not included: a symbolic link; replace it with the file",
    }
    assert "imports .lib, which is not in the zip file" in done.out
    assert "imports cruncher without a dot, which fails in the grader; write: from .cruncher import …" in done.out
    assert "imports .Tools, but the file is tools.py: upper and lower case differ" in done.out
    assert "line 3 imports outside, your own code outside assignment/: move it into assignment/" in done.out
    assert "optional katas that are not started: " in done.out
    assert "their last change: same_storage, strides; run: kata check same_storage strides" in " ".join(
        done.out.split()
    )
    innocent = (
        "imports .get_batch",
        "strides (1).py: ",
        "imports .tools",
        "imports .linear",
        "imports sgd",
        "imports random",
        "__pycache__",
    )
    assert [words for words in innocent if words in done.out] == []
    grave = [line.split()[0] for line in done.out.splitlines()[-7:-1]]
    last = ["linear.py", "tools.py", "train.py", "trained.py", "trained.py", "rmsprop.py"]
    assert grave == last, "the most serious problem must be last"
    assert all(said[name].strip().startswith(text) for name, text in expected.items())
    assert (f"2 of {len(KATAS)} katas implemented" in done.out, done.err) == (True, ""), "same_storage, strides"
    read = read_submission(handout / "my work.zip")
    assert {"SGD.py", "same_storage.py"} < read.files.keys()
    assert read.files.keys().isdisjoint(("big.py", "adagrad.py", "conftest.py"))


def test_misnamed_kata_is_asked_about_at_home(handout: Path) -> None:
    (handout / "assignment/strides.py").rename(handout / "assignment/Strides.py")
    assert "there is Strides.py: is it meant to be strides.py?" in " ".join(run_kata(handout, "strides").out.split())


@pytest.mark.parametrize(
    ("shell", "why"),
    [
        ("export TORCH_LOGS=bogus", "Invalid log settings: bogus"),
        ("ulimit -v 400000", "(ulimit -v); run: ulimit -v unl"),
    ],
)
def test_library_that_fails_is_named_in_one_line(handout: Path, shell: str, why: str) -> None:
    command = ("bash", "-c", f'{shell}; "$0" -m pytest --kata linear', sys.executable)
    done = run_program(*command, cwd=handout, environment=get_student_environment())
    assert (len(done.err.splitlines()), why in done.err) == (2, True), done.err


def test_export_trusts_only_results_of_present_files(handout: Path) -> None:
    file, untested = handout / "assignment/strides.py", "not tested since their last change: strides; run: kata check"
    write_solution(handout, "strides")
    right = file.read_text()
    file.write_text(right.replace("return", "return None and"))
    assert run_kata(handout, "strides").code == 1
    failed = run_kata(handout, "export")
    assert ("tests passed in the last run" in failed.out, untested in failed.out, failed.code) == (True, False, 1)
    file.write_text(right)
    repaired = run_kata(handout, "export")
    assert ("tests passed in the last run" in repaired.out, untested in repaired.out, repaired.code) == (False, True, 0)
    assert run_kata(handout, "strides").code == 0
    tested = run_kata(handout, "export")
    assert ("strides" in tested.out, tested.code) == (False, 0)


def test_export_writes_zip_next_to_assignment(handout: Path) -> None:
    write_solution(handout, *KATAS)
    done = run_kata(handout / "assignment", "export")
    assert (done.code, done.out.splitlines()[-1].split(":")[0]) == (0, str(Path("../assignment.zip")))
    assert (handout / "assignment.zip").is_file()
    assert not (handout / "assignment/assignment.zip").exists(), "a stale one is not handed in"
    assert run_kata(handout / "assignment", "export", "mine.zip").code == 0
    assert (handout / "assignment/mine.zip").is_file(), "a file name is relative to the working directory"


SECRETS = (
    *("AKIA" + "Q" * 16, "ghp_" + "x" * 36, "hf_" + "x" * 34, "sk-" + "proj-" + "x" * 40, "xoxb-" + "1" * 12),
    *("-----BEGIN " + "OPENSSH PRIVATE KEY-----", "AIza" + "x" * 35, "glpat-" + "x" * 20),
)
INNOCENT = ("sk-learn", "task-" + "x" * 40, "hf_hub_download", "ghp_", "AKIA", "x" * 64, "xox", "BEGIN PRIVATE KEY")


def test_file_with_secret_is_excluded_from_export(tmp_path: Path) -> None:
    for place, secret in enumerate(SECRETS):
        (tmp_path / f"helper{place}.py").write_text(f"import os\n\nKEY = '{secret}'\n")
    (tmp_path / "innocent.py").write_text(f"WORDS = {INNOCENT}\n")
    files, notes = collect_files(tmp_path)
    assert [*files] == ["innocent.py"]
    told = "not included: line 3 contains a key or token; remove it"
    assert [note.text for note in notes if note.file.startswith("helper")] == [told] * len(SECRETS)


names = st.text(st.sampled_from(string.ascii_letters + "_-. é1"), min_size=1, max_size=8).filter(
    lambda name: name.strip(".") and name.isprintable()
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=st.sets(names.map(lambda name: f"{name}.py") | names, max_size=8))
def test_export_and_grader_select_same_files_by_name(tmp_path_factory: pytest.TempPathFactory, found: set[str]) -> None:
    folder = tmp_path_factory.mktemp("student") / "assignment"
    folder.mkdir()
    for name in {*found, "linear.py"}:
        (folder / name).write_text(f"# {name}")
    files, _ = collect_files(folder)
    assert read_submission(folder).files == files
    archive = folder.parent / "assignment.zip"
    archive.write_bytes(zip_files({f"assignment/{name}": source for name, source in files.items()}))
    assert read_submission(archive).files == files


def test_export_overwrites_only_a_zip_file(handout: Path) -> None:
    (handout / "README.zip").write_text("not a zip")
    for path, words in (
        ("work.tar", "work.tar: the name must end in .zip"),
        ("README.zip", "README.zip: already exists and is not a zip file"),
        ("nowhere/work.zip", "can't write this file (No such file or directory)"),
    ):
        done = run_kata(handout, "export", path)
        assert (done.code, words in done.err) == (2, True), done.err
    assert (handout / "README.zip").read_text() == "not a zip"


def test_export_rejects_folder_without_katas(handout: Path) -> None:
    shutil.rmtree(handout / "assignment")
    done = run_kata(handout, "export")
    assert (done.code, done.err) == (2, "kata: nothing to hand in: assignment/ contains no kata\n")
    assert not (handout / "assignment.zip").exists()
    assert run_kata(handout, "reset", "linear").code == 0, "reset must restore the stub"
    assert run_kata(handout, "export").code == 0


def test_export_rejects_too_many_files(handout: Path) -> None:
    for number in range(64):
        (handout / f"assignment/helper{number}.py").write_text("")
    done = run_kata(handout, "export")
    assert done.code == 2
    assert "reads at most 64" in done.err
    assert not (handout / "assignment.zip").exists()
