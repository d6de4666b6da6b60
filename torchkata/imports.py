"""Lets Python import the packages of a course, and no library from a file of the same name beside them."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

PACKAGES = ("assignment", "reference", "tests")  # of a course; an installed package may have the same name


class CourseFinder:
    """Finds the packages of a course."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a package as Python does, but in the root of the course. Return None for any other module."""
        return PathFinder.find_spec(name, [str(self.root)], target) if path is None and name in PACKAGES else None


def prefer_libraries(root: Path) -> None:
    """Search the root of a course and the working directory last, except for the packages of the course."""
    sys.meta_path[:] = [CourseFinder(root), *(one for one in sys.meta_path if not isinstance(one, CourseFinder))]
    last = {str(root), str(Path.cwd()), ""}
    sys.path.sort(key=last.__contains__)
    if str(root) not in sys.path:
        sys.path.append(str(root))
