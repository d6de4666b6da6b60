"""Tests of the sandbox's mounts: Python and its packages are visible, but home directories are not."""

from pathlib import Path

import pytest

from grader.sandbox import mounts
from grader.sandbox.mounts import IsolationError
from grader.tests.conftest import run_program


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("find_interpreter", "/bin/python3"),
        ("find_interpreter", str(Path.home() / "bin/python3")),
        ("find_sites", [Path.home()]),
    ],
)
def test_home_and_root_are_not_mounted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, found: object
) -> None:
    monkeypatch.setattr(mounts, name, lambda: found)
    with pytest.raises(IsolationError, match="so workers would see"):
        mounts.build_bwrap_command(tmp_path, None)


def test_packages_in_home_directory_are_mounted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    site = Path.home() / "somewhere/site-packages"
    monkeypatch.setattr(mounts, "find_sites", lambda: [site])
    assert f"--ro-bind {site} /sites/0" in " ".join(mounts.build_bwrap_command(tmp_path, None))


@pytest.mark.usefixtures("needs_bwrap")
def test_solutions_in_the_wheel_are_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    archives = tmp_path / "site-packages/torchkata/archives"
    archives.mkdir(parents=True)
    (archives / "solutions.zip").write_text("secret")
    (archives.parent / "engine.py").write_text("public")
    monkeypatch.setattr(mounts, "find_sites", lambda: [tmp_path / "site-packages"])
    look = [mounts.find_interpreter(), "-I", "-c", "import os; print(sorted(os.listdir('/sites/0/torchkata')))"]
    list_archives = [*look[:-1], "import os; print(os.listdir('/sites/0/torchkata/archives'))"]
    (tmp_path / "runtime").mkdir()
    for folder, found in ((tmp_path / "none", "['solutions.zip']"), (archives, "[]")):
        monkeypatch.setattr(mounts, "ARCHIVES", folder)
        command = mounts.build_bwrap_command(tmp_path / "runtime", None)
        assert run_program(*command, *look).out == "['archives', 'engine.py']\n"
        assert run_program(*command, *list_archives).out == f"{found}\n"
    assert "/sites/0/torchkata/archives/solutions.zip" in mounts.list_hidden_files()
