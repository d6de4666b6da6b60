"""`grader release`: write the handout for students, and check it for leaked solutions and broken tests."""

from grader.commands.release.command import Options, find_released, run_release

__all__ = ["Options", "find_released", "run_release"]
