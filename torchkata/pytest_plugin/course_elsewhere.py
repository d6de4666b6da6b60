"""pytest plugin that names the folder of a course if pytest runs the tests of another folder, which contains it.

An editor may have opened that folder. pytest ignores the settings of the course then, so its tests can't run.
"""

from pathlib import Path
from typing import NoReturn

import pytest

from .plugin import contains_a_course


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Do not collect the tests of a course."""
    return CourseElsewhere.from_parent(parent, name=path.name) if contains_a_course(path) else None


class CourseElsewhere(pytest.Collector):
    """The folder of a course."""

    def collect(self) -> NoReturn:
        """Raise an exception that says from where the course's tests can be run."""
        from torchkata.i18n import translate  # imported lazily so that other projects are not slowed down
        from torchkata.inside.text import Text

        why = Text(
            "{folder}/ contains a course: run pytest in that folder, or open it in your editor", folder=self.name
        )
        raise self.CollectError(translate(why))
