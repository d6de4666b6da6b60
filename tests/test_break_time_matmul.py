"""Tests of a student's `check` for time_matmul, which must accept correct functions and reject wrong ones."""

from tests.candidates import load_candidates
from tests.probes.break_time_matmul import judge, judge_hidden
from torchkata import Student

CANDIDATES = load_candidates("break_time_matmul", "time_matmul", judge, judge_hidden)


def test_correct_programs_are_accepted(student: Student, kata_key: bytes) -> None:
    """check(run) accepts every correct time_matmul, even an unusual one, and rejects at least one wrong one."""
    CANDIDATES.assert_right_accepted(student, kata_key)
    CANDIDATES.assert_some_caught(student, kata_key)


def test_wrong_units_are_caught(student: Student, kata_key: bytes) -> None:
    """check(run) raises an AssertionError if the result is not in seconds."""
    CANDIDATES.assert_group_caught(student, "wrong_units", kata_key)


def test_wrong_time_per_matmul_is_caught(student: Student, kata_key: bytes) -> None:
    """check(run) raises an AssertionError if the result is not the time of one matmul."""
    CANDIDATES.assert_group_caught(student, "wrong_divisions", kata_key)


def test_cold_starts_are_caught(student: Student, kata_key: bytes) -> None:
    """check(run) raises an AssertionError if the first matmul is included in the time."""
    CANDIDATES.assert_group_caught(student, "cold_starts", kata_key)


def test_wrong_clocks_are_caught(student: Student, kata_key: bytes) -> None:
    """check(run) raises an AssertionError if the clock is not monotonic or does not measure elapsed time."""
    CANDIDATES.assert_group_caught(student, "wrong_clocks", kata_key)


def test_missing_synchronization_is_caught(student: Student, kata_key: bytes) -> None:
    """check(run) raises an AssertionError if a clock is read while the GPU is still busy."""
    CANDIDATES.assert_group_caught(student, "missing_synchronization", kata_key)


def test_too_few_matmuls_are_caught(student: Student, kata_key: bytes) -> None:
    """check(run) rejects fewer than three timed matmuls, and results that a single slow matmul determines."""
    CANDIDATES.assert_group_caught(student, "too_few_matmuls", kata_key)


def test_wrong_results_or_modified_inputs_are_caught(student: Student, kata_key: bytes) -> None:
    """check(run) raises an AssertionError after an error, a wrong product, a wrong type or a modified matrix."""
    CANDIDATES.assert_group_caught(student, "other_results", kata_key)
