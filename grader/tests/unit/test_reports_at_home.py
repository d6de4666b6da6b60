"""`kata export` and `kata check` say what will differ in the grader, and blame nothing else."""

import importlib
import sys

import pytest

from grader.tests.support.reports import REPORTS
from torchkata.cli.export import find_mistakes
from torchkata.cli.newer_python import LIBRARY
from torchkata.course import course


@pytest.mark.parametrize("name", REPORTS)
def test_difference_is_named_before_handing_in(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(course()), "grader_python", "3.11")
    report = REPORTS[name]
    notes = [note.text for note in find_mistakes("linear.py", report.content, {"linear.py": report.content})]
    assert bool(notes) == bool(report.home), notes
    assert report.home in "".join(notes)


@pytest.mark.parametrize("name", LIBRARY)
def test_library_has_newer_names_since_their_version(name: str) -> None:
    module, _, function = name.rpartition(".")
    is_there = importlib.util.find_spec(module) is not None and hasattr(importlib.import_module(module), function)
    assert is_there == (sys.version_info.minor >= LIBRARY[name])
