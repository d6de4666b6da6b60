"""Finds the packages that a course needs but that are not installed, and the commands that install them."""

import shutil
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from typing import TYPE_CHECKING

from torchkata.course import course
from torchkata.i18n import words

from .terminal import CallError

if TYPE_CHECKING:
    from packaging.requirements import Requirement

CPU_BUILDS = "--index-url https://download.pytorch.org/whl/cpu"  # torch without gigabytes of CUDA libraries


def demand_packages() -> None:
    """Raise CallError if a package of the group `students` is not installed."""
    if missing := find_missing(course().dependencies):
        raise CallError(words("packages", commands=" && ".join(list_pip_commands(missing))))


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


def list_pip_commands(missing: Sequence[str]) -> list[str]:
    """Return the commands that install these requirements. On Linux without an NVIDIA GPU, use torch's CPU build."""
    for_cpus = sys.platform == "linux" and shutil.which("nvidia-smi") is None
    torch = [text for text in missing if text.startswith("torch") and for_cpus]
    others = [text for text in missing if text not in torch]
    commands = [f'pip install "{text}" {CPU_BUILDS}' for text in torch]
    return commands + ([" ".join(["pip install", *(f'"{text}"' for text in others)])] if others else [])
