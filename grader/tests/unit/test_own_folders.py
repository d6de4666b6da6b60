"""Tests of the sandbox's mounts: Python and its packages are visible, home directories are not."""

from pathlib import Path

import pytest

from grader.sandbox import launch
from grader.sandbox.launch import IsolationError


@pytest.mark.parametrize(
    ("name", "found"),
    [("python", "/bin/python3"), ("python", str(Path.home() / "bin/python3")), ("sites", [Path.home()])],
)
def test_home_and_root_are_not_mounted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, found: object
) -> None:
    monkeypatch.setattr(launch, name, lambda: found)
    with pytest.raises(IsolationError, match="which workers would see"):
        launch.bubblewrap(tmp_path, None)


def test_packages_below_home_are_mounted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    site = Path.home() / "somewhere/site-packages"
    monkeypatch.setattr(launch, "sites", lambda: [site])
    assert f"--ro-bind {site} /sites/0" in " ".join(launch.bubblewrap(tmp_path, None))
