"""`grader package`: what a platform takes as it is, the grader in it or the place to fetch it from."""

from grader.commands.package.write import Options, run_package

__all__ = ["Options", "run_package"]
