"""What `kata` remembers of a student's runs, whatever becomes of the file."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchkata.course import course
from torchkata.pytest_plugin import history as state
from torchkata.pytest_plugin.history import LastRun, State
from torchkata.result import LOOK_OF

KATAS = list(course().katas)

runs = st.builds(LastRun, st.sampled_from(list(LOOK_OF)), st.integers(0, 20), st.text(), st.text())
states = st.builds(
    State,
    st.dictionaries(st.sampled_from(KATAS), runs),
    st.dictionaries(st.sampled_from(KATAS), st.integers(1, 3)),
    st.dictionaries(st.sampled_from(KATAS), st.text()),
)
KEYS = [*KATAS, "runs", "hints", "cells", "status", "passed", "files", "run"]
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=20,
)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where it is remembered."""
    monkeypatch.setattr(state, "FILE", tmp_path / ".kata/progress.json")
    return tmp_path / ".kata/progress.json"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(remembered=states)
def test_progress_that_is_stored_is_loaded_again(file: Path, remembered: State) -> None:
    state.store_state(remembered)
    assert state.load_state() == remembered
    assert [path.name for path in file.parent.iterdir()] == ["progress.json"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary() | anything.map(lambda value: json.dumps(value).encode()))
def test_a_damaged_progress_file_still_leaves_a_next_kata(file: Path, content: bytes) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    assert state.load_state().next() is not None or "done" in content.decode()


def test_a_progress_file_that_is_nested_too_deeply_is_ignored(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("[" * 100_000)
    assert state.load_state() == State()


def test_a_failed_write_leaves_the_old_progress_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remembered = State({}, {"linear": 1})
    state.store_state(remembered)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        state.store_state(State({}, {"linear": 2}))
    assert state.load_state() == remembered
    assert [path.name for path in file.parent.iterdir()] == ["progress.json"]
