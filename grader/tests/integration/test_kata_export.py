"""`kata export` packs the files that the grader reads and lists the files that it skips."""

import json
import shutil
import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.pipeline.reading import read_submission
from grader.tests.conftest import run_kata, write_solution
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
    assert done.out == f"assignment.zip: {len(KATAS)} of {len(KATAS)} katas implemented; files: {files}\n"
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
    (handout / ".kata").mkdir()
    run = {"status": "wrong", "passed": 5, "files": "", "run": ""}
    (handout / ".kata/progress.json").write_text(json.dumps({"runs": {"same_storage": run}, "hints": {}}))
    done = run_kata(handout, "export", "my work.zip")
    assert done.code == 1
    said = dict(line.strip().split("  ", 1) for line in done.out.splitlines() if line.startswith("  "))
    expected = {
        "same_storage.py": "5 of 6 tests passed in the last run",
        "get_batch.py": "missing",
        "sgd.py": "missing: rename SGD.py to lower case",
        "cruncher.py": f"line 1: invalid syntax{PYTHON}; all tests of this file will fail",
        "linear.py": "line 1: ",
        "checkpoint.py": "line 31 still raises NotImplementedError",
        "notes.txt": "not included: not a Python module",
        "my-notes.py": "not included: not a Python module",
        "conftest.py": "not included: the grader never runs this file",
        "data": "not included: a folder",
        "big.py": "not included: larger than 1 MiB",
        "adagrad.py": "not included: a symbolic link; replace it with the file",
    }
    assert "imports .lib, which is not in the zip file" in done.out
    assert "imports cruncher without a dot, which fails in the grader; write: from .cruncher import …" in done.out
    innocent = ("imports .tools", "imports .linear", "imports sgd", "imports random", "__pycache__")
    assert [words for words in innocent if words in done.out] == []
    grave = [line.split()[0] for line in done.out.splitlines()[-7:-1]]
    last = ["cruncher.py", "linear.py", "tools.py", "train.py", "train_language_model.py", "same_storage.py"]
    assert grave == last, "the most serious problem must be last"
    assert all(said[name].strip().startswith(text) for name, text in expected.items())
    assert (f"1 of {len(KATAS)} katas implemented" in done.out, done.err) == (True, ""), "same_storage"
    read = read_submission(handout / "my work.zip")
    assert {"SGD.py", "same_storage.py"} < read.files.keys()
    assert read.files.keys().isdisjoint(("big.py", "adagrad.py", "conftest.py"))


def test_export_writes_zip_next_to_assignment(handout: Path) -> None:
    write_solution(handout, *KATAS)
    done = run_kata(handout / "assignment", "export")
    assert (done.code, done.out.split(":")[0]) == (0, str(Path("../assignment.zip")))
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
