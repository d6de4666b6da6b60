"""Tests of a student's `check` for SGD, which must accept correct classes and reject wrong ones."""

from tests.candidates import load_candidates
from tests.probes.candidates import judge, judge_hidden
from torchkata import Student

CANDIDATES = load_candidates("break_sgd", "SGD", judge, judge_hidden)


def test_correct_programs_are_accepted(student: Student, kata_key: bytes) -> None:
    """check(SGD) accepts every correct SGD, even an unusual one, and rejects at least one wrong one."""
    CANDIDATES.assert_right_accepted(student, kata_key)
    CANDIDATES.assert_some_caught(student, kata_key)


def test_wrong_formulas_are_caught(student: Student, kata_key: bytes) -> None:
    """check(SGD) raises an AssertionError if a step does not subtract lr * grad, even for tiny or huge gradients."""
    CANDIDATES.assert_group_caught(student, "wrong_formulas", kata_key)


def test_dependence_on_earlier_steps_is_caught(student: Student, kata_key: bytes) -> None:
    """check(SGD) raises an AssertionError if a step depends on earlier steps."""
    CANDIDATES.assert_group_caught(student, "memories_of_earlier_steps", kata_key)


def test_wrong_learning_rates_are_caught(student: Student, kata_key: bytes) -> None:
    """check(SGD) rejects a class that ignores a group's own lr, has a wrong default lr, or refuses a valid lr."""
    CANDIDATES.assert_group_caught(student, "wrong_rates", kata_key)


def test_ignored_param_group_changes_are_caught(student: Student, kata_key: bytes) -> None:
    """check(SGD) rejects a class that ignores changes of param_groups, as by a scheduler or load_state_dict()."""
    CANDIDATES.assert_group_caught(student, "ignored_changes", kata_key)


def test_forgotten_parameters_are_caught(student: Student, kata_key: bytes) -> None:
    """check(SGD) rejects a class that fails if a grad is None, or does not update a parameter that has a gradient."""
    CANDIDATES.assert_group_caught(student, "forgotten_parameters", kata_key)


def test_changed_gradients_are_caught(student: Student, kata_key: bytes) -> None:
    """check(SGD) raises an AssertionError if a step changes p.grad."""
    CANDIDATES.assert_group_caught(student, "changed_gradients", kata_key)


def test_replaced_parameters_are_caught(student: Student, kata_key: bytes) -> None:
    """check(SGD) raises an AssertionError if a step changes anything but the values of the parameters."""
    CANDIDATES.assert_group_caught(student, "replaced_parameters", kata_key)
