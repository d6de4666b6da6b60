"""pytest's entry point: where the project is a course, plain `pytest` tests its katas; elsewhere this does nothing."""

import gc

import pytest

from .course import CourseError, find, use

FEATURES = (
    "torchkata.profiles",
    "torchkata.selection",
    "torchkata.first_pass",
    "torchkata.diagnose",
    "torchkata.progress",
    "torchkata.record",
)
SPEED = "torchkata.gpu"


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Load each feature, with its options, for the course that pytest's root belongs to."""
    config: pytest.Config | None = pluginmanager.get_plugin("pytestconfig")
    assert config is not None
    try:
        root = find(config.rootpath)
        if root is None:
            return
        course = use(root)
        gc.disable()  # until the tests are collected: what is imported stays, and torch alone is a seventh slower
        for feature in (*FEATURES, SPEED) if course.workloads else FEATURES:
            pluginmanager.import_plugin(feature)
    except CourseError as error:
        raise pytest.UsageError(str(error)) from None
