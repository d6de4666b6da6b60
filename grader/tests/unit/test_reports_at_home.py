"""`kata export` and `kata check` say what will differ in the grader, and blame nothing else."""

import pytest

from grader.tests.support.reports import REPORTS
from torchkata.cli.export import find_mistakes


@pytest.mark.parametrize("name", REPORTS)
def test_difference_is_named_before_handing_in(name: str) -> None:
    report = REPORTS[name]
    notes = [note.text for note in find_mistakes("linear.py", report.content, {"linear.py": report.content})]
    assert bool(notes) == bool(report.home), notes
    assert report.home in "".join(notes)
