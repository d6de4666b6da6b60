"""Tests of a student's `check` for get_batch, which must accept correct functions and reject wrong ones."""

from tests.candidates import load_candidates
from tests.probes.candidates import judge, judge_hidden
from torchkata import Student

CANDIDATES = load_candidates("break_get_batch", "get_batch", judge, judge_hidden)


def test_correct_programs_are_accepted(student: Student, kata_key: bytes) -> None:
    """check(get_batch) accepts every correct get_batch, even an unusual one, and rejects at least one wrong one."""
    CANDIDATES.assert_right_accepted(student, kata_key)
    CANDIDATES.assert_some_caught(student, kata_key)


def test_wrong_shapes_are_caught(student: Student, kata_key: bytes) -> None:
    """check(get_batch) raises an AssertionError if a batch does not have the shape (batch_size, sequence_length)."""
    CANDIDATES.assert_group_caught(student, "wrong_shapes", kata_key)


def test_wrong_tokens_are_caught(student: Student, kata_key: bytes) -> None:
    """check(get_batch) rejects rows that do not equal contiguous slices of the data, even if the tokens are large."""
    CANDIDATES.assert_group_caught(student, "wrong_tokens", kata_key)


def test_wrong_bounds_are_caught(student: Student, kata_key: bytes) -> None:
    """check(get_batch) raises an AssertionError if a valid start never occurs or an invalid one occurs."""
    CANDIDATES.assert_group_caught(student, "wrong_bounds", kata_key)


def test_nonuniform_start_positions_are_caught(student: Student, kata_key: bytes) -> None:
    """check(get_batch) raises an AssertionError if some starts are more likely than others."""
    CANDIDATES.assert_group_caught(student, "uneven_starts", kata_key)


def test_dependent_rows_are_caught(student: Student, kata_key: bytes) -> None:
    """check(get_batch) raises an AssertionError if the rows of a batch depend on each other."""
    CANDIDATES.assert_group_caught(student, "dependent_rows", kata_key)


def test_wrong_generators_are_caught(student: Student, kata_key: bytes) -> None:
    """check(get_batch) rejects a function that sets a seed or does not draw starts with torch's global generator."""
    CANDIDATES.assert_group_caught(student, "wrong_generators", kata_key)


def test_ignored_device_or_data_rules_are_caught(student: Student, kata_key: bytes) -> None:
    """check(get_batch) raises an AssertionError if a rule about the device or the data is broken."""
    CANDIDATES.assert_group_caught(student, "ignored_rules", kata_key)
