"""Finds the packages that a course needs but that are not installed, and the commands that install them."""

import os
import re
import shlex
import shutil
import sys
import traceback
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from torchkata.course import CourseError, cached_by_course, course
from torchkata.i18n import _

if TYPE_CHECKING:
    from packaging.requirements import Requirement

CPU_BUILDS = "--index-url https://download.pytorch.org/whl/cpu"  # torch without gigabytes of CUDA libraries
ENGINE = ("numpy", "pytest", "hypothesis")
OWN_MODULES = ("torchkata", "tests", "reference")


def demand_packages() -> None:
    """Raise CourseError if a package of the group `students` is not installed."""
    if missing := describe_missing_packages():
        raise CourseError(missing)


def describe_missing_packages() -> str:
    """Return a sentence about the missing packages of the group `students`, if any, and the commands that help."""
    missing = find_missing(course().dependencies)
    if not missing:
        return ""
    commands = " && ".join([find_activation()] if find_activation() else list_pip_commands(missing))
    return _("packages are missing from {python}; run: {commands}", python=sys.executable, commands=commands)


def find_activation() -> str:
    """Return the command that activates the environment in the course's folder, or "" if it is active or missing."""
    environment = course().root / ".venv"
    if not (environment / "pyvenv.cfg").is_file() or environment.resolve() == Path(sys.prefix).resolve():
        return ""
    file = os.path.relpath(environment / ("Scripts/activate" if sys.platform == "win32" else "bin/activate"))
    return file if sys.platform == "win32" else f"source {shlex.quote(file)}"


def describe_failed_import(error: BaseException) -> str:
    """Return a sentence about packages that explains why the course can't be loaded, or "" if none does."""
    while error.__cause__ is not None:  # pytest hides the reason behind an error of its own
        error = error.__cause__
    if why := describe_missing_packages():
        return why
    reason = next((line for line in str(error).splitlines() if line.strip()), "")
    raised_in = [str(frame.f_globals.get("__name__")) for frame, line in traceback.walk_tb(error.__traceback__)]
    is_ours = not raised_in or raised_in[-1].startswith("torchkata")
    is_import = isinstance(error, (ImportError, OSError)) or not is_ours
    line = _("the course can't be loaded: {error}", error=f"{type(error).__name__}: {reason}")
    return describe_memory_limit(error) or (line if is_import else "")


def describe_memory_limit(error: BaseException) -> str:
    """Return a sentence about a limit of this shell that may have kept a library from being loaded, or ""."""
    if sys.platform == "win32" or not isinstance(error, (ImportError, MemoryError)):
        return ""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    values = {"error": f"{type(error).__name__}: {error}", "size": limit // 2**20}
    text = _("{error}: this shell limits memory to {size} MiB (ulimit -v); run: ulimit -v unlimited", **values)
    return "" if limit == resource.RLIM_INFINITY else text


def find_hiding_files(folder: Path) -> list[Path]:
    """Return the files and packages in a folder that Python may import instead of a library."""
    own = (*course().katas, *OWN_MODULES)
    libraries = {*sys.stdlib_module_names, *course().packages, *ENGINE}.difference(own)
    found = [*folder.glob("*.py"), *(file.parent for file in folder.glob("*/__init__.py"))]
    return sorted(path for path in found if path.stem in libraries)


def find_missing(requirements: Iterable[str]) -> list[str]:
    """Return the requirements that are not installed, or all of them if `packaging` is not installed."""
    try:
        from packaging.requirements import Requirement  # `packaging` is a dependency of pytest
    except ImportError:
        return list(requirements)
    return [text for text in requirements if not is_installed(Requirement(text))]


def is_installed(requirement: "Requirement") -> bool:
    """Return whether an installed version meets the requirement."""
    return any(requirement.specifier.contains(found, prereleases=True) for found in find_versions(requirement.name))


def find_versions(name: str) -> list[str]:
    """Return a list that contains the installed version, or an empty list."""
    return [package.version for package in metadata.distributions(name=name)][:1]


def is_available(module: str) -> bool:
    """Return whether the grader certainly has a module: its package is needed by the course or by the engine."""
    if module in sys.stdlib_module_names or module in (*course().packages, *OWN_MODULES):
        return True
    return not find_required().isdisjoint(map(normalize, metadata.packages_distributions().get(module, ())))


@cached_by_course
def find_required() -> set[str]:
    """Return the names of the packages that the course and the engine need, directly or indirectly."""
    found: set[str] = set()
    left = [*course().packages, *ENGINE]
    while left:
        name = normalize(left.pop())
        if name not in found:
            found.add(name)
            left += [
                line
                for package in metadata.distributions(name=name)
                for line in package.requires or ()
                if "extra ==" not in line
            ]
    return found


def normalize(requirement: str) -> str:
    """Return the name in a requirement in the form in which names can be compared."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


def list_pip_commands(missing: Sequence[str]) -> list[str]:
    """Return the commands that install these requirements. On Linux without an NVIDIA GPU, use torch's CPU build."""
    for_cpus = sys.platform == "linux" and shutil.which("nvidia-smi") is None
    torch = [text for text in missing if text.startswith("torch") and for_cpus]
    others = [text for text in missing if text not in torch]
    commands = [f'pip install "{text}" {CPU_BUILDS}' for text in torch]
    return commands + ([" ".join(["pip install", *(f'"{text}"' for text in others)])] if others else [])
