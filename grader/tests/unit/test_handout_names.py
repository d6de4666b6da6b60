"""The file list of a handout must contain only names that are safe and distinct on every operating system."""

from pathlib import Path

import pytest

from torchkata.course import handout

UNSAFE = (
    *("../x", "a/../x", "a/..", "/x", "a//x", "./x", "a/", ""),
    *("..\\x", "a\\..\\x", "\\x", "C:", "C:x", "C:/x", "a/C:x", "x:stream", "ASSIGN~1/linear.py"),
    *("a./x", "... /x", "assignment./x", "assignment /x", "NUL", "a/con.py", "com1"),
    *("assignment/x", "Assignment/x", "ASSIGNMENT/x", "assignment", "a\u200cb", "a\tb"),
)
CLASHES = (
    ("tests/a.py", "tests/A.py"),
    ("tests/a.py", "Tests/b.py"),
    ("\u00e9.py", "e\u0301.py"),
    ("stra\u00dfe", "STRASSE"),
    ("a", "A/b"),
)


@pytest.mark.parametrize("names", [*((name,) for name in UNSAFE), *CLASHES])
def test_unsafe_names_are_rejected_on_every_system(names: tuple[str, ...]) -> None:
    content = "".join(f"{handout.digest(b'')}  {name}\n" for name in ("tests/test_a.py", *names))
    with pytest.raises(handout.HandoutError):
        handout.parse_listing(content.encode())


def test_ordinary_names_are_accepted() -> None:
    names = (".devcontainer/devcontainer.json", "docs/读我.md", "tests/assignment.py", "a/b-c_d.e", "console/com.py")
    content = "".join(f"{handout.digest(b'')}  {name}\n" for name in names)
    assert tuple(handout.parse_listing(content.encode())) == names


def test_case_only_rename_does_not_remove_the_file(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    (tmp_path / "Readme.md").write_text("text")
    (tmp_path / handout.LIST).write_bytes(handout.listing({"Readme.md": b"text"}))
    renamed = {"README.md": b"text"}
    done = handout.update(tmp_path, renamed | {handout.LIST: handout.listing(renamed)})
    assert done.gone == (), "on a case-insensitive file system, the old name is the new file"
