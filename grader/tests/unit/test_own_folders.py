"""What the sandbox shows of the machine's file system: Python and its packages, and no home with them."""

from pathlib import Path

import pytest

from grader.sandbox import launch
from grader.sandbox.launch import IsolationError


@pytest.mark.parametrize("folder", [Path("/"), Path.home()])
def test_a_python_right_in_a_home_or_the_root_is_not_bound(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: Path
) -> None:
    monkeypatch.setattr(launch, "find_interpreter", lambda: str(folder / "bin/python3"))
    with pytest.raises(IsolationError, match="so workers would see"):
        launch.build_bwrap_command(tmp_path, None)


def test_a_package_right_in_a_home_is_not_bound(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(launch, "find_sites", lambda: [Path.home()])
    with pytest.raises(IsolationError, match="so workers would see"):
        launch.build_bwrap_command(tmp_path, None)


def test_what_lies_below_a_home_is_bound(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    site = Path.home() / "somewhere/site-packages"
    monkeypatch.setattr(launch, "find_sites", lambda: [site])
    assert f"--ro-bind {site} /sites/0" in " ".join(launch.build_bwrap_command(tmp_path, None))
