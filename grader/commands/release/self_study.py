"""Writes the course for self-learners and its solutions: `python -m grader.commands.release.self_study FOLDER`.

The build of the wheel (`hatch_build.py`) runs this module, and so does `kata init` in a checkout. Of the packages that
are not in the standard library, it needs only `packaging`.
"""

import sys
from pathlib import Path

from grader.commands.release.contents import build_self_study
from torchkata.cli.self_study import COURSE, SOLUTIONS
from torchkata.course import ENGINE, course, use
from torchkata.course.submission import zip_files


def write_archives(folder: Path) -> None:
    """Write `course.zip` and `solutions.zip`. Raises GraderError if the course would need a file of the instructor."""
    (folder / COURSE).write_bytes(zip_files(build_self_study()))
    (folder / SOLUTIONS).write_bytes(zip_files(course().solutions() | course().other_solutions(course().katas)))


if __name__ == "__main__":
    use(ENGINE)
    write_archives(Path(sys.argv[1]))
