"""pytest plugin for the options `--impl`, `--kata` and `--track`, and the `student` fixture."""

import ast
import inspect
import os
import re
import tempfile
from argparse import SUPPRESS
from collections.abc import Generator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from torchkata.course import CourseError, cached_by_course, compare_tests, course
from torchkata.diagnosis.broken_tests import describe_course_error
from torchkata.i18n import _, preload_texts, translate
from torchkata.inside.reply import format_error
from torchkata.seam.student import InProcess, Student

from .packages import describe_missing_packages
from .run_state import get_state


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options `--impl`, `--kata` and `--track`."""
    group = parser.getgroup("torchkata")
    several: dict[str, Any] = {"action": "append", "default": [], "metavar": "NAME"}
    group.addoption("--kata", help=_("only test this kata (repeatable)"), **several)
    of_tracks = _("only test one of the tracks {tracks} (repeatable)", tracks=", ".join(course().tracks))
    group.addoption("--track", help=of_tracks, **several)
    group.addoption("--watched", action="store_true", help=SUPPRESS)  # `kata watch` prints the next step itself
    code = _("code to test: the reference solution, or the folder PATH (default: assignment/)")
    group.addoption("--impl", default="assignment", metavar="solution|PATH", help=code)


def pytest_configure(config: pytest.Config) -> None:
    """Check the options before collection. In `assignment/`, make `pytest` without arguments run the tests."""
    place, named = config.invocation_params.dir, config.args_source
    if named is pytest.Config.ArgsSource.INVOCATION_DIR and place.is_relative_to(course().assignment):
        config.args = [os.path.relpath(course().tests, place)]  # pytest does not accept a path with [
    if "torch" in course().preload:
        from torchkata.inside.torch_internals import reduce_torch_overhead

        reduce_torch_overhead()
    np.seterr(all="ignore")  # the oracle may process a student's numbers, which can have any values
    try:
        chosen = course().choose(config.getoption("kata"), config.getoption("track"))
        preload_texts()
        get_state(config).chosen = {kata.name for kata in chosen}
        get_state(config).student = Student(InProcess(find_kata_folder(config), course().limits))
    except ValueError as error:
        raise pytest.UsageError(translate(error)) from None


def find_kata_folder(config: pytest.Config) -> Path:
    """Return the folder that contains the kata files to test. Raises ValueError if no folder does."""
    impl: str = config.getoption("impl")
    if impl == "assignment":
        return course().assignment
    if impl == "solution":
        return make_solution_folder(config)
    path = (config.invocation_params.dir / impl).resolve()
    for folder in (path / "assignment", path):
        if any((folder / f"{kata}.py").is_file() for kata in course().katas):
            return folder
    expected = f"{next(iter(course().katas))}.py"
    message = _(
        "--impl {path}: no kata files found (expected a folder with files such as {kata})", path=impl, kata=expected
    )
    raise ValueError(message)


def make_solution_folder(config: pytest.Config) -> Path:
    """Write the reference solution to a temporary folder. Raises ValueError if the course does not contain one."""
    files = course().solutions()
    if not files:
        raise ValueError(_("--impl solution: this course does not include its solution"))
    folder = tempfile.TemporaryDirectory(prefix="torchkata-solution-")
    config.add_cleanup(folder.cleanup)
    for name, content in files.items():
        (Path(folder.name) / name).write_bytes(content)
    return Path(folder.name)


@cached_by_course
def find_kata(path: Path) -> str | None:
    """Return the kata that a test file belongs to, or None for any other file."""
    name = path.stem.removeprefix("test_")
    return name if path.parent == course().tests and name in course().katas else None


def find_test(item: pytest.Item) -> str:
    """Return the test that an item runs, as named in [tests].

    The name of an item differs from it if a plugin such as pytest-repeat parametrizes the tests of the course.
    """
    kata = course().katas.get(find_kata(item.path) or "")
    if kata is None or item.name in kata.points:
        return item.name
    function = item.name.partition("[")[0]
    if item.get_closest_marker("parametrize") is None:
        return function
    named = [name for name in kata.points if item.name.startswith(f"{name[:-1]}-")]  # the plugin's part comes last
    return max(named, key=len, default=item.name)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore test files of katas that are not selected."""
    kata = find_kata(collection_path)
    return True if kata is not None and kata not in get_state(config).chosen else None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Report on one line why the tests of a kata can't be imported. It is never the student's fault."""
    report = yield
    raised = getattr(report, "call", None)
    if report.failed and find_kata(collector.path) is not None and raised is not None and raised.excinfo is not None:
        error = raised.excinfo.value
        while (cause := error.__cause__) is not None:
            error = cause
        why = describe_course_error(error) or format_error(error)
        missing = describe_missing_packages() if isinstance(error, ModuleNotFoundError) else ""
        report.longrepr = missing or _(
            "cannot import {file} ({why}); this is an error in the course, not in the student's code, "
            "and must be fixed by the author of the tests",
            file=collector.path,
            why=why,
        )
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Check that tests and points match, and sort the katas and their tests in the order of the course."""
    try:
        check_collected(items)
    except CourseError as error:
        raise pytest.UsageError(str(error)) from None
    tests = [(kata.name, test) for kata in course().katas.values() for test in kata.points]
    order: dict[tuple[str | None, str], int] = {test: place for place, test in enumerate(tests)}
    items.sort(key=lambda item: order.get((find_kata(item.path), find_test(item)), len(order)))


def check_collected(items: Sequence[pytest.Item]) -> None:
    """Raise CourseError if a collected test has no points, or if points refer to a test that its module does not have.

    The test itself need not be collected, because the command line may select only some tests of a kata.
    """
    functions: dict[str | None, list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function):
            functions.setdefault(find_kata(item.path), []).append(item)
    for kata in course().katas.values():
        if collected := functions.get(kata.name):
            module = collected[0].module
            places = [module, *filter(inspect.isclass, vars(module).values())]
            there = {name for name in kata.points if any(hasattr(place, name.partition("[")[0]) for place in places)}
            compare_tests(course(), kata, there.union(map(find_test, collected)), kata.points)
            check_references(collected[0].path, module)


def check_references(file: Path, module: ModuleType) -> None:
    """Raise CourseError if the tests use a name that the module in `reference/` does not define.

    Tests of an unchanged stub would not reveal this mistake, because they call the student's code first.
    """
    source = file.read_text("utf-8", errors="replace")
    for name, known in vars(module).items():
        if isinstance(known, ModuleType) and known.__name__.startswith("reference."):
            used = {*re.findall(rf"\b{name}\.(\w+)", source)}
            missing = {attribute for attribute in used if not hasattr(known, attribute)}
            if missing and (missing := missing & find_attributes(name, source)):
                user = file.relative_to(course().root)
                raise CourseError(f"{known.__file__} does not define {min(missing)}, which {user} uses")


def find_attributes(name: str, source: str) -> set[str]:
    """Return the attributes of `name` that the code of a module uses, ignoring strings and comments."""
    nodes = ast.walk(ast.parse(source))
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    return {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == name}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Import the student's code again before every test."""
    kata = find_kata(item.path)
    if kata is not None:
        get_state(item.config).student.reset(kata)


@pytest.fixture(scope="module")
def student(request: pytest.FixtureRequest) -> Student:
    """Return the student under test. Use `student.call(probe, …)` to run their code."""
    return get_state(request.config).student
