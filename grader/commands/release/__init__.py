"""`grader release`: the handout for students, and the proof that it holds no solution and that its tests work."""

from grader.commands.release.command import Options, handed_out, run_release

__all__ = ["Options", "handed_out", "run_release"]
