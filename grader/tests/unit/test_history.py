"""Tests of the file that stores a student's progress."""

import json
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from torchkata.course import course
from torchkata.pytest_plugin import history
from torchkata.pytest_plugin.history import LastRun, State
from torchkata.result import LOOK_OF

KATAS = list(course().katas)
reusing_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

runs = st.builds(LastRun, st.sampled_from(list(LOOK_OF)), st.integers(0, 20), st.text(), st.text())
states = st.builds(
    State,
    st.dictionaries(st.sampled_from(KATAS), runs),
    st.dictionaries(st.sampled_from(KATAS), st.integers(1, 3)),
    st.dictionaries(st.sampled_from(KATAS), st.text()),
)
KEYS = [*KATAS, "runs", "hints", "cells", "status", "passed", "files", "run"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=20,
)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the progress file, which does not exist yet."""
    monkeypatch.setattr(history, "FILE", tmp_path / ".kata/progress.json")
    return tmp_path / ".kata/progress.json"


@reusing_file
@given(progress=states)
def test_stored_progress_is_loaded_unchanged(file: Path, progress: State) -> None:
    history.store_state(progress)
    assert history.load_state() == progress
    assert [path.name for path in file.parent.iterdir()] == ["progress.json"]


@reusing_file
@given(content=st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
@example(content=b"[" * 100_000)
def test_next_works_with_corrupted_progress_file(file: Path, content: bytes) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    assert history.load_state().next() is not None or "done" in content.decode()


def test_failed_write_preserves_previous_progress(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress = State({}, {"linear": 1})
    history.store_state(progress)
    monkeypatch.setattr(Path, "replace", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        history.store_state(State({}, {"linear": 2}))
    assert history.load_state() == progress
    assert [path.name for path in file.parent.iterdir()] == ["progress.json"]
