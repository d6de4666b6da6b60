"""The commands that create files for others: `package`, `release`, `new`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from grader.base.main import Command
from grader.options import Argument, Option, PackageOptions, ReleaseOptions
from grader.pipeline.selection import select_names


def package(
    platform: Annotated[str, Argument("Platform on which the grader will run (see above).", "PLATFORM")],
    options: PackageOptions,
) -> Command:
    """Package the grader for a platform.

    gradescope: OUT is a zip file to upload as the autograder.

    github, gitlab: OUT contains the files to add to the template repository for students.

    github-class, gitlab-class: OUT contains the files for a private repository of the staff, in which a scheduled job
    grades the repositories of all students.

    classroom50: OUT contains the files to add to the repository of the classroom.
    """
    from grader.commands.package.platform_package import run_package

    return lambda: run_package(platform, replace(options, katas=select_names(options.katas)))


def release(options: ReleaseOptions) -> Command:
    """Write the handout for students: stubs, tests, oracle and the `kata` command, without solutions or the zoo.

    The handout also contains the katas that the chosen ones build on. --update keeps the katas and language of the
    earlier release unless you specify others.
    """
    from grader.commands.release.command import run_release

    return lambda: run_release(options)


def new_course(
    folder: Annotated[Path, Argument("Directory to create.", "DIR")],
    title: Annotated[str, Option("Title of the course.")] = "A new course",
) -> Command:
    """Create a course with one working kata, ready to test, grade and certify."""
    from grader.commands.new.templates import new_course

    return lambda: new_course(folder, title)


def new_kata(
    name: Annotated[str, Argument("Name of the kata's module (lowercase letters, digits and underscores).", "NAME")],
    track: Annotated[str | None, Option("Track to add the kata to (default: the course's first track).")] = None,
    kind: Annotated[str, Option("What students write: function or class.")] = "function",
) -> Command:
    """Create the files of a working example kata for you to edit. Existing files are never modified.

    The kinds are a function and a class with state.
    """
    from grader.commands.new.templates import new_kata

    return lambda: new_kata(name, track, kind)
