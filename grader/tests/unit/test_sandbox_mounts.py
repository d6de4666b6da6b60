"""Tests of the sandbox's mounts: Python and its packages are visible, but home directories are not."""

from pathlib import Path

import pytest

from grader.sandbox import launch
from grader.sandbox.launch import IsolationError


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
    monkeypatch.setattr(launch, name, lambda: found)
    with pytest.raises(IsolationError, match="so workers would see"):
        launch.build_bwrap_command(tmp_path, None)


def test_packages_below_home_are_mounted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    site = Path.home() / "somewhere/site-packages"
    monkeypatch.setattr(launch, "find_sites", lambda: [site])
    assert f"--ro-bind {site} /sites/0" in " ".join(launch.build_bwrap_command(tmp_path, None))
