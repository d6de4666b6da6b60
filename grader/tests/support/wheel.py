"""The wheel, built and installed into an environment that has neither a checkout nor torch."""

import os
import shutil
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from grader.tests import ROOT
from grader.tests.conftest import Run, run_program


def needed(requirement: str, found: dict[str, metadata.Distribution]) -> dict[str, metadata.Distribution]:
    """The distributions that a requirement stands for, with all that they need."""
    asked = Requirement(requirement)
    name = asked.name.lower().replace("_", "-")
    if name not in found:
        found[name] = metadata.distribution(name)
        for other in map(Requirement, found[name].requires or []):
            extras = [{"extra": extra} for extra in (*asked.extras, "")]
            if other.marker is None or any(other.marker.evaluate(extra) for extra in extras):
                needed(str(other).partition(";")[0], found)
    return found


def put_into(packages: Path, distribution: metadata.Distribution) -> None:
    """Make a distribution of this environment one of another, without a download, and compiled as it is."""
    for top in {Path(file.parts[0]) for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}:
        source, target = Path(str(distribution.locate_file(top))), packages / top
        if source.is_dir() and not target.exists():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("tests"), copy_function=link_or_copy)
        elif source.is_file():
            shutil.copy(source, target)


def link_or_copy(source: str, target: str) -> None:
    """Another name for a file, a copy of it on another file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def install_wheel(folder: Path) -> Path:
    """Make an environment there with the wheel and what that needs, and nothing else: its `bin`."""
    source = folder / "source"
    for name in ("torchkata", "grader"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    offline = ("--quiet", "--no-deps", "--no-index")
    build = ["wheel", *offline, "--no-build-isolation", "--wheel-dir", str(folder), str(source)]
    subprocess.run([sys.executable, "-m", "pip", *build], check=True, timeout=600)
    place = folder / "venv"
    venv.create(place, with_pip=False, symlinks=True)
    [packages] = place.glob("lib/python*/site-packages")
    for name, distribution in needed("torchkata[grader]", {}).items():
        if name != "torchkata":
            put_into(packages, distribution)
    [wheel] = folder.glob("*.whl")
    install = ["install", *offline, str(wheel)]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(place / "bin/python"), *install], check=True, timeout=600
    )
    return place / "bin"


def run_installed(installed: Path, cwd: Path, *command: str) -> Run:
    """A command of that environment, for somebody who has nothing else of ours."""
    environment = {"PATH": f"{installed}:{os.environ['PATH']}", "HOME": str(cwd), "KATA_LANG": "en", "COLUMNS": "120"}
    started = [installed / "python", "-m"] if command[0] == "pytest" else [installed / command[0]]
    typed = [*started, *(command if command[0] == "pytest" else command[1:])]
    return run_program(*typed, cwd=cwd, environment=environment)
