"""Converts the names of tests and outcomes to human-readable text."""

from torchkata.i18n import class_words
from torchkata.result import LOOKS, Outcome


def make_title(test: str) -> str:
    """Return the name of a test with spaces between words."""
    return test.removeprefix("test_").replace("_", " ")


def outcome_text(outcome: Outcome) -> str:
    """Return the outcome of a test or workload in the language of the class."""
    return class_words("feedback.passed" if outcome == "passed" else f"status.{LOOKS[outcome].status}")
