"""Installs the wheel into an environment that contains neither this checkout nor torch."""

import os
import shutil
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from grader.tests import ROOT
from grader.tests.conftest import Run, run_program


def find_dependencies(requirement: str, found: dict[str, metadata.Distribution]) -> dict[str, metadata.Distribution]:
    """Add the distribution of a requirement and its dependencies to `found`, and return `found`."""
    wanted = Requirement(requirement)
    name = wanted.name.lower().replace("_", "-")
    if name not in found:
        found[name] = metadata.distribution(name)
        for other in map(Requirement, found[name].requires or []):
            extras = [{"extra": extra} for extra in (*wanted.extras, "")]
            if other.marker is None or any(other.marker.evaluate(extra) for extra in extras):
                find_dependencies(str(other).partition(";")[0], found)
    return found


def copy_distribution(packages: Path, distribution: metadata.Distribution) -> None:
    """Copy an installed distribution, including its compiled files, into another environment."""
    for top in {Path(file.parts[0]) for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}:
        source, target = Path(str(distribution.locate_file(top))), packages / top
        if source.is_dir() and not target.exists():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("tests"))
        elif source.is_file():
            shutil.copy(source, target)


def copy_source(folder: Path) -> Path:
    """Copy the files from which a wheel is built to a folder, and return the folder."""
    for name in ("assignment", "docs", "grader", "reference", "tests", "torchkata"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("conftest.py", "hatch_build.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    return folder


def build_wheel(source: Path, folder: Path, version: str = "0.1.0") -> Path:
    """Build a wheel with this version number from a source folder, and return the path of the wheel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SETUPTOOLS_SCM_PRETEND_VERSION", version)
        run_pip("wheel", "--no-build-isolation", "--wheel-dir", folder, source)
    return folder / f"torchkata-{version}-py3-none-any.whl"


def make_environment(folder: Path) -> tuple[Path, Path]:
    """Create an environment without any packages. Return its directories `bin` and `site-packages`."""
    venv.create(folder, with_pip=False, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    return folder / "bin", packages


def make_student_environment(folder: Path) -> Path:
    """Create an environment that shares the libraries of this one, such as torch, and return its `bin` directory."""
    programs, packages = make_environment(folder)
    libraries = {path for path in sys.path if path.endswith("site-packages")}
    (packages / "libraries.pth").write_text("\n".join(libraries))  # instead of a download
    return programs


def install_handout(programs: Path, handout: Path) -> None:
    """Install a handout as its README says, without a network."""
    run_pip("--python", programs / "python", "install", "--requirement", "requirements.txt", cwd=handout)


def install_wheel(folder: Path) -> Path:
    """Build the wheel, install it with its dependencies into a new environment, and return its `bin` directory."""
    programs, packages = make_environment(folder / "venv")
    for name, distribution in find_dependencies("torchkata[grader]", {}).items():
        if name != "torchkata":
            copy_distribution(packages, distribution)
    wheel = build_wheel(copy_source(folder / "source"), folder)
    run_pip("--python", programs / "python", "install", wheel)
    return programs


def run_pip(*arguments: object, cwd: Path = ROOT) -> None:
    """Run pip without network access and without installing dependencies."""
    environment = {**os.environ, "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_QUIET": "1"}
    command = [sys.executable, "-m", "pip", *map(str, arguments)]
    subprocess.run(command, check=True, timeout=600, env=environment, cwd=cwd)


def run_installed(installed: Path, cwd: Path, *command: str) -> Run:
    """Run a command of the environment, with no environment variables of this process except PATH."""
    environment = {"PATH": f"{installed}:{os.environ['PATH']}", "HOME": str(cwd), "KATA_LANG": "en", "COLUMNS": "120"}
    program = [installed / "python", "-m", "pytest"] if command[0] == "pytest" else [installed / command[0]]
    return run_program(*program, *command[1:], cwd=cwd, environment=environment)
