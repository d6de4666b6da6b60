"""The entry point of the pytest plugin.

In a course, plain `pytest` tests its katas; other projects are not affected.
"""

import contextlib
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

TABLE = b"[tool.torchkata"

FEATURES = (  # each after the plugins that it imports, since pytest warns if a plugin was imported before it is loaded
    "torchkata.pytest_plugin.selection",
    "torchkata.pytest_plugin.profiles",
    "torchkata.pytest_plugin.first_pass",
    "torchkata.pytest_plugin.untouched_stubs",
    "torchkata.pytest_plugin.search",
    "torchkata.pytest_plugin.time_limit",
    "torchkata.pytest_plugin.report",
    "torchkata.pytest_plugin.slow_test_notice",
    "torchkata.pytest_plugin.stored_outcomes",
    "torchkata.pytest_plugin.opened_files",
    "torchkata.pytest_plugin.left_threads",
    "torchkata.pytest_plugin.foreign_plugins",
    "torchkata.pytest_plugin.solutions_as_tests",
)
ELSEWHERE = "torchkata.pytest_plugin.course_elsewhere"
SPEED = "torchkata.pytest_plugin.gpu"
HYPOTHESIS = "hypothesispytest"


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Load the plugin's features and their options if pytest's root directory or settings file is in a course."""
    config: pytest.Config | None = pluginmanager.get_plugin("pytestconfig")
    assert config is not None
    if not any(map(mentions_a_course, (*list_roots(config), config.invocation_params.dir))):
        pluginmanager.import_plugin(ELSEWHERE)
        return
    from torchkata.course import CourseError, use  # imported lazily so that other projects are not slowed down
    from torchkata.i18n import translate

    from .packages import describe_failed_import

    try:
        root = find_course(config)
        if root is None:
            return
        course = use(root)
        if not pluginmanager.hasplugin(HYPOTHESIS):  # the tests need it, even if plugins are not loaded automatically
            pluginmanager.unblock(HYPOTHESIS)
            pluginmanager.import_plugin(HYPOTHESIS, consider_entry_points=True)
        gc.disable()  # until the tests are collected, since garbage collection makes importing torch a seventh slower
        for feature in (*FEATURES, SPEED) if course.workloads else FEATURES:
            pluginmanager.import_plugin(feature)
    except Exception as error:
        why = translate(error) if isinstance(error, CourseError) else describe_failed_import(error)
        if not why:
            raise
        raise pytest.UsageError(why) from None


def list_roots(config: pytest.Config) -> list[Path]:
    """Return pytest's root directory and the folder of its settings file, which differ if an editor names the first."""
    return [config.rootpath, *([config.inipath.parent] if config.inipath else [])]


def mentions_a_course(start: Path) -> bool:
    """Return whether this folder or a parent folder contains a course."""
    return any(map(contains_a_course, (start, *start.parents)))


def contains_a_course(folder: Path) -> bool:
    """Return whether the `pyproject.toml` of a folder contains a table `[tool.torchkata]`."""
    with contextlib.suppress(OSError):
        return TABLE in (folder / "pyproject.toml").read_bytes()
    return False


def find_course(config: pytest.Config) -> Path | None:
    """Return the folder of the course, or None if there is no course. Raises CourseError if a file can't be read.

    pytest determines its root directory before it knows the options of this plugin. Therefore it interprets the PATH in
    `--impl PATH` as a folder of tests and looks for the root directory there. Use `--impl=PATH` to avoid this.
    """
    from torchkata.course import find_course

    typed, found = sys.orig_argv, next(filter(None, map(find_course, list_roots(config))), None)
    if "--impl" in typed[:-1] and found != (meant := find_course(config.invocation_params.dir)) and meant is not None:
        place = typed.index("--impl")
        command = [sys.executable, *typed[1:place], f"--impl={typed[place + 1]}", *typed[place + 2 :]]
        sys.stdout.flush()
        if sys.platform == "win32":
            sys.exit(subprocess.run(command).returncode)
        os.execv(sys.executable, command)
    return found
