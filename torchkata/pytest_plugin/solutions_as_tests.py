"""pytest plugin that names the right command if pytest is asked to run a student's solution, which has no tests."""

import pytest

from torchkata.course import course
from torchkata.i18n import _


@pytest.hookimpl(trylast=True)  # after `pytest` in the folder of the solutions was made to run all tests
def pytest_configure(config: pytest.Config) -> None:
    """Raise UsageError if an argument is a solution, or the folder of the solutions."""
    given = [(config.invocation_params.dir / argument.partition("::")[0]).resolve() for argument in config.args]
    named = [path.stem for path in given if path.parent == course().assignment and path.stem in course().katas]
    is_folder = course().assignment in given and not any(course().assignment.glob("test_*.py"))
    if named or is_folder:
        command = "pytest" if is_folder else f"pytest --kata {','.join(named)}"
        text = _("the files in assignment/ are your solutions; to run their tests: {command}", command=command)
        raise pytest.UsageError(text)
