"""pytest plugin: whose code is tested and which katas. `--impl`, `--kata`, `--track`, and the `student` fixture."""

import ast
import inspect
import re
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from torchkata.course import CourseError, compare_tests, course
from torchkata.diagnosis.broken_tests import mistake_in_course
from torchkata.i18n import words
from torchkata.i18n.notes import translate
from torchkata.seam.reply import text_of
from torchkata.seam.student import InProcess, Student

from .run_state import get_state


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--impl`, `--kata` and `--track`."""
    group = parser.getgroup("torchkata")
    tracks = "one of the tracks " + ", ".join(course().tracks)
    group.addoption("--kata", action="append", default=[], metavar="NAME", help="test this kata only (repeatable)")
    group.addoption("--track", action="append", default=[], metavar="NAME", help=f"test {tracks} only (repeatable)")
    group.addoption(
        "--impl",
        default="assignment",
        metavar="solution|PATH",
        help="whose code: the reference solution, or the folder PATH (default: assignment/)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Check the options before anything is collected; in `assignment/` plain `pytest` means the tests, too."""
    place, named = config.invocation_params.dir, config.args_source
    if named is pytest.Config.ArgsSource.INVOCATION_DIR and place.is_relative_to(course().assignment):
        config.args = [str(course().tests)]
    if "torch" in course().preload:
        from torchkata.compat.torch_internals import spare_torch

        spare_torch()
    np.seterr(all="ignore")  # the oracle is asked about a student's numbers, too, and those may be anything
    try:
        chosen = course().choose(config.getoption("kata"), config.getoption("track"))
        get_state(config).chosen = {kata.name for kata in chosen}
        get_state(config).student = Student(InProcess(kata_folder(config), course().limits.call_seconds))
    except ValueError as error:
        raise pytest.UsageError(translate(str(error))) from None


def kata_folder(config: pytest.Config) -> Path:
    """The folder that holds the kata files. Raises ValueError where there is none."""
    impl: str = config.getoption("impl")
    if impl == "assignment":
        return course().assignment
    if impl == "solution":
        return solution_folder(config)
    path = (config.invocation_params.dir / impl).resolve()
    for folder in (path / "assignment", path):
        if any((folder / f"{kata}.py").is_file() for kata in course().katas):
            return folder
    raise ValueError(f"--impl {impl}: no kata files there (a folder with {next(iter(course().katas))}.py and so on)")


def solution_folder(config: pytest.Config) -> Path:
    """The reference solution as a student would have it, for as long as pytest runs. Raises ValueError for none."""
    files = course().solutions()
    if not files:
        raise ValueError("--impl solution: this course comes without its solution")
    folder = tempfile.TemporaryDirectory(prefix="torchkata-solution-")
    config.add_cleanup(folder.cleanup)
    for name, content in files.items():
        (Path(folder.name) / name).write_bytes(content)
    return Path(folder.name)


def kata_of(path: Path) -> str | None:
    """The kata that a file of tests is for, None for any other file."""
    name = path.stem.removeprefix("test_")
    return name if path.parent == course().tests and name in course().katas else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the katas that were not asked for."""
    kata = kata_of(collection_path)
    return True if kata is not None and kata not in get_state(config).chosen else None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Say in one line why the tests of a kata can't be imported: it is no mistake of a student's."""
    report = yield
    raised = getattr(report, "call", None)
    if report.failed and kata_of(collector.path) is not None and raised is not None and raised.excinfo is not None:
        error = raised.excinfo.value
        while (cause := error.__cause__) is not None:
            error = cause
        why = mistake_in_course(error) or text_of(error)
        report.longrepr = words("told.not_collected", file=collector.path, why=why)
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Check that tests and points agree, and run the katas and their tests in the course's order."""
    try:
        check_collected(items)
    except CourseError as error:
        raise pytest.UsageError(str(error)) from None
    tests = [(kata.name, test) for kata in course().katas.values() for test in kata.points]
    order: dict[tuple[str | None, str], int] = {test: place for place, test in enumerate(tests)}
    items.sort(key=lambda item: order.get((kata_of(item.path), item.name), len(order)))


def check_collected(items: Sequence[pytest.Item]) -> None:
    """Raise CourseError for a test without points, and for points without a test in a module that was collected.

    A call may select a few tests of a kata, so that the functions of the module count and not the items.
    """
    functions = [item for item in items if isinstance(item, pytest.Function)]
    for kata in course().katas.values():
        collected = [item for item in functions if kata_of(item.path) == kata.name]
        if collected:
            module = collected[0].module
            places = [module, *filter(inspect.isclass, vars(module).values())]
            there = {name for name in kata.points if any(hasattr(place, name.partition("[")[0]) for place in places)}
            compare_tests(course(), kata, there.union(item.name for item in collected), kata.points)
            check_references(collected[0].path, module)


def check_references(file: Path, module: ModuleType) -> None:
    """Raise CourseError for what the tests ask of a module in `reference/` that has no such name.

    On an untouched stub nobody would see it: the call of the student's code comes first.
    """
    source = file.read_text("utf-8", errors="replace")
    for name, known in vars(module).items():
        if isinstance(known, ModuleType) and known.__name__.startswith("reference."):
            asked = {*re.findall(rf"\b{name}\.(\w+)", source)}
            missing = {one for one in asked if not hasattr(known, one)}
            if missing and (missing := missing & attributes_of(name, source)):
                where = f"{known.__file__}: there is no {min(missing)}"
                raise CourseError(f"{where}, which {file.relative_to(course().root)} asks for")


def attributes_of(name: str, source: str) -> set[str]:
    """Return the attributes of a name that a module's code asks for, outside of its texts."""
    nodes = ast.walk(ast.parse(source))
    asked = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    return {node.attr for node in asked if isinstance(node.value, ast.Name) and node.value.id == name}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Every test begins with the student's code freshly imported."""
    kata = kata_of(item.path)
    if kata is not None:
        get_state(item.config).student.reset(kata)


@pytest.fixture(scope="module")
def student(request: pytest.FixtureRequest) -> Student:
    """The student whose code is tested: `student.call(probe, …)`."""
    return get_state(request.config).student
