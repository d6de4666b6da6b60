"""The course that the current process works on."""

from collections import defaultdict
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from torchkata.imports import prefer_libraries

from .course import Course
from .handout import check_engine
from .load import read_course_fields, read_toml
from .model import NoCourseError

CURRENT: list[Course] = []  # contains at most one course, since a process works on only one

P = ParamSpec("P")
T = TypeVar("T")


def course() -> Course:
    """Return the course selected with `use`, or the nearest course. Raises CourseError if it is missing or invalid."""
    if not CURRENT:
        found = find_course(Path.cwd())
        if found is None:
            remedies = "its pyproject.toml, or write one with `kata init` or `grader new course`"
            raise NoCourseError(f"there is no course here: change to the folder that contains {remedies}")
        use(found)
    return CURRENT[0]


def is_chosen() -> bool:
    """Return whether this process already has a current course. If not, `course` has to search for one."""
    return bool(CURRENT)


def use(root: Path) -> Course:
    """Select the course in this folder and make its modules importable.

    Raises CourseError if the course is invalid, or is a handout that needs another version of the engine.
    """
    check_engine(root)  # first, because this version may not understand the files of the course
    CURRENT[:] = [read_course(root.resolve())]
    prefer_libraries(CURRENT[0].root)
    return CURRENT[0]


def use_none() -> None:
    """Use a course without katas, for commands that do not need a course."""
    CURRENT[:] = [Course(root=Path(__file__).parent, title="no course", tracks={}, graded=())]


def find_course(start: Path) -> Path | None:
    """Return the nearest folder that contains a course, searching upward from `start`.

    Raises CourseError if a course cannot be read.
    """
    return next((folder for folder in (start, *start.parents) if is_course(folder)), None)


def is_course(folder: Path) -> bool:
    """Return whether the `pyproject.toml` in a folder contains a table [tool.torchkata].

    Raises CourseError if the file mentions torchkata but is not valid TOML.
    """
    path = folder / "pyproject.toml"
    try:
        mentioned = b"torchkata" in path.read_bytes()
    except OSError:
        return False
    return mentioned and "torchkata" in read_toml(path).get("tool", {})


def read_course(root: Path) -> Course:
    """Read the course in this folder. Raises CourseError if there is no valid course."""
    return Course(root, **read_course_fields(root))


def cached_by_course(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function so that its results are cached per course."""
    by_root: defaultdict[Path, Callable[..., T]] = defaultdict(lambda: cache(function))

    @wraps(function)
    def cached(*args: P.args, **kwargs: P.kwargs) -> T:
        return by_root[course().root](*args, **kwargs)

    return cached
