"""Tests of where the katas in a submission are, and what was left aside: a corpus of trees, and random ones.

A report about a submission that is read wrongly becomes one more row of `CASES`.
"""

import io
import lzma
import os
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.pipeline import intake
from grader.pipeline.intake import take_in
from grader.pipeline.reading import read_submission
from grader.pipeline.submission import Submission
from grader.pipeline.submission_ids import Entry, Refusal, assign_ids
from grader.pipeline.trees import SubmissionError
from grader.pipeline.walk import TOO_MUCH
from torchkata.course.near_misses import find_near_misses

RIGHT, WRONG = b"# right", b"# wrong"
MIB = 2**20
PORTAL = "Ada L_17_assignsubmission_file/linear.py"


def pack_zip(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED, separator: str = "/") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo("x")
            info.filename, info.compress_type = name.replace("/", separator), method
            archive.writestr(info, content)
    return buffer.getvalue()


def pack_tar(files: Mapping[str, bytes], mode: str = "w:xz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


FORMS: dict[str, Callable[[Mapping[str, bytes]], bytes]] = {
    ".zip": pack_zip,
    "-backslashes.zip": lambda files: pack_zip(files, separator="\\"),
    ".tar": lambda files: pack_tar(files, "w:"),
    ".tgz": lambda files: pack_tar(files, "w:gz"),
    ".tar.xz": pack_tar,
    ".tar.bz2": lambda files: pack_tar(files, "w:bz2"),
}


def write_tree(folder: Path, files: Mapping[str, bytes]) -> Path:
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def read_outcome(path: Path) -> tuple[object, ...]:
    """Return everything that a submission is read as, except its id, or why it is refused, and its possible layout."""
    try:
        found = read_submission(path)
    except SubmissionError as error:
        return (f"{error} [{error.layout}]",)
    return found.files, found.near_misses, found.aside


Case: TypeAlias = tuple[dict[str, bytes], Mapping[str, bytes] | str]  # the files, and those that are read or why not
CASES: dict[str, Case] = {
    "seven levels deep": ({"a/b/c/d/e/f/g/linear.py": RIGHT}, {"linear.py": RIGHT}),
    "draft and final": (
        {"draft/linear.py": WRONG, "final/linear.py": RIGHT},
        "linear.py is in draft and final, and they differ: hand in one",
    ),
    "two equal copies": ({"v1/linear.py": RIGHT, "v2/linear.py": RIGHT}, {"linear.py": RIGHT}),
    "a part of the other": (
        {"old/sgd.py": RIGHT, "sgd.py": RIGHT, "linear.py": WRONG},
        {"sgd.py": RIGHT, "linear.py": WRONG},
    ),
    "an equal kata with another helper": (
        {"a/sgd.py": RIGHT, "a/helper.py": WRONG, "b/sgd.py": RIGHT, "b/helper.py": RIGHT},
        "helper.py is in a and b, and they differ: hand in one",
    ),
    "beside assignment": (
        {"linear.py": RIGHT, "assignment/linear.py": WRONG},
        "linear.py is in the top folder and assignment, and they differ: hand in one []",
    ),
    "katas in two folders": (
        {"week1/linear.py": RIGHT, "week2/sgd.py": RIGHT},
        "katas are in week1 and week2: hand in one folder [folders]",
    ),
    "a class": (
        {f"{name}/linear.py": name.encode() for name in ("alice", "bob", "carl")},
        "katas of several people, or several versions: alice, bob, carl; hand in one [folders]",
    ),
    "a class of equal solutions": (
        {"ada/linear.py": RIGHT, "bob/linear.py": RIGHT, "carl.rar": b"Rar!"},
        "katas of several people, or several versions: ada, bob, carl.rar; hand in one",
    ),
    "a class of archives": ({f"{name}.zip": pack_zip({"linear.py": RIGHT}) for name in "abc"}, "several people"),
    "a handout and data beside the katas": (
        {"hw/linear.py": RIGHT, "handout.zip": pack_zip({"assignment/linear.py": WRONG}), "data.tar": b""},
        {"linear.py": RIGHT},
    ),
    "a class of Moodle": ({PORTAL: RIGHT}, "looks like a class from Moodle, not like a single submission [moodle]"),
    "a class of Canvas": ({"a_LATE_1_2_x.zip": b"", "b_3_4_y.py": b""}, "looks like a class from Canvas"),
    "a file that is named as by Canvas": ({"linear.py": RIGHT, "lab_1_2_x.txt": b""}, {"linear.py": RIGHT}),
    "a class of Gradescope": (
        {"submission_metadata.yml": b"", "submission_1/linear.py": RIGHT},
        "looks like a class from Gradescope",
    ),
    "a class of GitHub": (
        {"hw1-ada/.git/HEAD": b"", "hw1-ada/linear.py": RIGHT, "hw1-bob/.git/HEAD": b""},
        "looks like a class from GitHub, not like a single submission [github]",
    ),
    "a whole handout": (
        {
            f"hw/{place}/linear.py": place.encode()
            for place in ("assignment", "tests/probes", "examples/a", "reference")
        },
        {"linear.py": b"assignment"},
    ),
    "only the course's own folders": (
        {"tests/probes/linear.py": WRONG},
        "tests/probes/linear.py: in a folder of the course",
    ),
    "folders of tools": (
        {
            **{f"{place}/linear.py": WRONG for place in (".git", "__pycache__", "x/site-packages/y", "node_modules/z")},
            **{"env/pyvenv.cfg": b"", "env/lib/linear.py": WRONG, "linear.py": RIGHT},
        },
        {"linear.py": RIGHT},
    ),
    "an archive in it": ({"notes.txt": b"", "hw/work.zip": pack_zip({"linear.py": RIGHT})}, {"linear.py": RIGHT}),
    "different archives in it": (
        {"a.zip": pack_zip({"linear.py": RIGHT}), "b.ZIP": pack_zip({"x/linear.py": WRONG})},
        "linear.py is in a.zip and b.ZIP/x, and they differ: hand in one",
    ),
    "an archive beside katas": ({"linear.py": RIGHT, "old.zip": pack_zip({"linear.py": WRONG})}, {"linear.py": RIGHT}),
    "an archive in an archive in it": (
        {"a.zip": pack_zip({"b.zip": pack_zip({"linear.py": RIGHT})})},
        "contains no kata; a.zip/b.zip: an archive that was not opened",
    ),
    "an archive in an unknown format": (
        {"work.rar": b"Rar!"},
        "contains no kata; work.rar: a .rar archive can't be read; hand in a .zip",
    ),
    "a misnamed kata": (
        {"assignment/linear (1).py": RIGHT},
        "contains no kata; there is linear (1).py: is it linear.py?",
    ),
    "a notebook": ({"Linear.ipynb": b"{}"}, "contains no kata; there is Linear.ipynb: is it linear.py?"),
    "a notebook of several katas": ({"core.ipynb": b"{}"}, "contains no kata; core.ipynb: a notebook; hand in the .py"),
    "a repository that is not checked out": (
        {".git/HEAD": b""},
        "contains no kata; it is a git repository whose files",
    ),
    "a text": ({"essay.docx": b"", "b.txt": b""}, "contains no kata; it has b.txt, essay.docx"),
    "nothing": ({}, "contains no kata (such as assignment/"),
    "a pointer": (
        {"linear.py": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"},
        "is a Git LFS pointer, not the file itself; run `git lfs pull` (linear.py)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_all_kinds_of_trees_are_read_as_expected(name: str, tmp_path: Path) -> None:
    files, expected = CASES[name]
    outcome = read_outcome(write_tree(tmp_path / "folder", files))
    if isinstance(expected, str):
        assert len(outcome) == 1
        assert expected in str(outcome[0])
    else:
        assert outcome[0] == expected
    for ending, pack in FORMS.items():
        path = tmp_path / f"packed{ending}"
        path.write_bytes(pack(files))
        if not (name.startswith("an archive in an archive") or files == {}):
            assert read_outcome(path) == outcome, ending


PARTS = ("a", "b", "assignment", "tests", ".git", "x.zip", "linear.py", "sgd.py", "helper.py", "Linear.py", "y.rar")
FOLDERS = st.lists(st.sampled_from(PARTS[:5]), max_size=3)
PATHS = st.builds(lambda folders, name: "/".join([*folders, name]), FOLDERS, st.sampled_from(PARTS[5:]))
TREES = st.dictionaries(
    PATHS, st.sampled_from((RIGHT, WRONG, pack_zip({"c/linear.py": RIGHT}))), min_size=1, max_size=6
)


@given(TREES)
@settings(max_examples=100, deadline=None)
def test_folder_and_its_archives_are_read_alike(files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        outcome = read_outcome(write_tree(folder / "tree", files))
        for ending, pack in FORMS.items():
            path = folder / f"packed{ending}"
            path.write_bytes(pack(files))
            assert read_outcome(path) == outcome, ending


@pytest.mark.parametrize(
    "name",
    [
        *("linear (1).py", "linear copy.py", "Linear.py", "linear.py.txt", "linear.ipynb", "linear_final.py"),
        *("jdoe_linear.py", "linear2.py", "linear - 副本.py", "LINEAR", "linear.py (1)"),
    ],
)
def test_misnamed_file_of_kata_is_found(name: str, tmp_path: Path) -> None:
    assert find_near_misses(["linear", "sgd"], [name, "notes.md"]) == {"linear": [name]}
    found = read_submission(write_tree(tmp_path / "ada", {"sgd.py": RIGHT, name: RIGHT}))
    assert found.near_misses["linear"] == name
    assert found.list_notes() == []


@pytest.mark.parametrize(
    "name", ["linear.py", "test_linear.py", "linear.toml", "._linear.py", "nonlinear.py", "break_sgd.py", "linear.pyc"]
)
def test_other_file_is_no_near_miss(name: str) -> None:
    assert find_near_misses(["linear", "sgd"], [name]) == {}


def test_single_file_is_a_submission(tmp_path: Path) -> None:
    assert read_submission(write_tree(tmp_path / "ada", {"linear.py": RIGHT}) / "linear.py").files == {
        "linear.py": RIGHT
    }
    (copy := tmp_path / "linear (1).py").write_bytes(RIGHT)
    with pytest.raises(SubmissionError, match=r"there is linear \(1\)\.py: is it linear\.py\?$"):
        read_submission(copy)


def test_kata_that_is_a_link_is_noted(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "ada", {"sgd.py": RIGHT, "elsewhere/notes.md": b""})
    (folder / "linear.py").symlink_to("sgd.py")
    (folder / "notes.py").symlink_to("sgd.py")
    assert read_submission(folder).list_notes() == ["linear.py: not a regular file"]


@pytest.mark.parametrize("ending", [".zip", ".tar"])
def test_file_twice_in_an_archive_is_noted(ending: str, tmp_path: Path) -> None:
    (path := tmp_path / f"ada{ending}").write_bytes(FORMS[ending]({"a/linear.py": WRONG, "a\\linear.py": RIGHT}))
    found = read_submission(path)
    assert found.files == {"linear.py": RIGHT}
    assert found.list_notes() == ["a/linear.py: several times in the archive; only the last one counts"]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("login.zip", b"\n<!DOCTYPE html><title>Sign in</title>", "a web page, not an archive"),
        ("login", b"<html>", "a web page, not an archive"),
        ("half.zip", pack_zip({"linear.py": RIGHT})[:-60], "an incomplete .zip"),
        ("other.zip", b"other", "not a readable archive"),
    ],
)
def test_file_that_is_no_archive_is_described(name: str, content: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SubmissionError, match=f"^{why}"):
        read_submission(tmp_path / name)


def test_other_files_for_imports_are_listed(tmp_path: Path) -> None:
    code = b"from .Utils.ops import mm\nfrom .helpers import a\nimport lib, tools"
    others = dict.fromkeys(("utils/ops.py", "helpers (1).py", "lib.pyc", "tools.py", "notes.md", "__init__.py"), b"")
    found = read_submission(write_tree(tmp_path / "ada", {"linear.py": code, **others}))
    assert found.beside == {"utils": "utils", "helpers": "helpers (1).py", "lib": "lib.pyc"}


BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {  # archives that are small, and why they are refused
    "bzip2.zip": (
        lambda: pack_zip({"linear.py": bytes(100 * MIB)}, zipfile.ZIP_BZIP2),
        "is compressed with an unusual method",
    ),
    "lzma.zip": (
        lambda: pack_zip({"linear.py": bytes(20 * MIB)}, zipfile.ZIP_LZMA),
        "is compressed with an unusual method",
    ),
    "x.tar.xz": (lambda: lzma.compress(bytes(200 * MIB), preset=0), "unpacks to more than 64 MiB"),
    "x.tar.bz2": (lambda: pack_tar({"a": bytes(70 * MIB)}, "w:bz2"), "unpacks to more than 64 MiB"),
    "nested.zip": (
        lambda: pack_zip({f"{i}.zip": pack_zip({"x": bytes(9 * MIB)}, zipfile.ZIP_STORED) for i in range(10)}),
        "contains no kata; ",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_archive_bomb_is_refused_in_little_memory(name: str, tmp_path: Path) -> None:
    pack, why = BOMBS[name]
    (tmp_path / name).write_bytes(pack())
    reader = intake.start(Entry("eve", tmp_path / name))
    found = reader.finish()
    assert isinstance(found, Refusal)
    assert why in found.reason
    reader.end()


def lose(how: str) -> Callable[..., Submission]:
    def read(*_: object) -> Submission:
        if how == "memory":
            return Submission("", {"linear.py": bytes(2 * MIB * intake.MEMORY_MIB)})
        while how == "time":
            pass
        os._exit(1)

    return read


@pytest.mark.parametrize("how", ["memory", "time", "crash"])
def test_lost_reader_is_a_refusal_of_one_submission(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries, _ = assign_ids([write_tree(tmp_path / "ada", {"linear.py": RIGHT})])
    monkeypatch.setattr(intake, "SECONDS", 1)
    with monkeypatch.context() as patch:
        patch.setattr(intake, "read_submission", lose(how))
        lost = take_in(entries[0])
    assert isinstance(lost, Refusal)
    assert lost.reason == TOO_MUCH
    found = take_in(entries[0])
    assert isinstance(found, Submission)
    assert found.files == {"linear.py": RIGHT}
