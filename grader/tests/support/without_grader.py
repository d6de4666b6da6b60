"""A plugin of pytest that forbids to import the grader, and skips the files and tests that need it.

pytest -p grader.tests.support.without_grader grader/tests/unit
"""

import sys

import pytest


class Forbid:
    """Finds no module; where another finder would find one of the grader, the test or file is skipped."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        """Skip the test or file that imports a module of the grader. The tests themselves are in `grader.tests`."""
        if name.startswith("grader.") and not f"{name}.".startswith("grader.tests."):
            pytest.skip(f"needs {name}", allow_module_level=True)


sys.meta_path.insert(0, Forbid)
