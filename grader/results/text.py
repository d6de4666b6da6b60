"""Converts the names of tests and their outcomes into text for people."""

from torchkata.i18n import class_words
from torchkata.result import LOOKS, Outcome


def make_title(test: str) -> str:
    """Return a test's name with spaces between its words."""
    return test.removeprefix("test_").replace("_", " ")


def outcome_text(outcome: Outcome) -> str:
    """Return the outcome of a test or workload in the class's language."""
    return class_words("feedback.passed" if outcome == "passed" else f"status.{LOOKS[outcome].status}")
