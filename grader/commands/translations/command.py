"""The `grader translations` command, which lists and updates translations."""

from pathlib import Path

from grader.base.errors import convert_write_errors
from grader.commands.translations.update import describe_problems, update_catalogues, write_catalogues
from torchkata.course import ENGINE, course


def run_translations(katas: tuple[str, ...], *, update: bool) -> int:
    """Print a line for each missing or outdated translation. Return 0, because translations are optional.

    With `update`, first write the current English texts into the catalogues. Raises CourseError if a
    catalogue can't be read, or CallError if it can't be written.
    """
    others = [language for language in course().languages if language != "en"]
    if not others:
        print('the course has no language other than English (add languages = ["en", "zh"] to pyproject.toml)')
        return 0
    problems = []
    for language in others:
        files = update_catalogues(language, katas)
        if update:
            with convert_write_errors(course().root):
                for path in write_catalogues(files):
                    print(f"{shorten(path)}: updated")
        problems += [line for path, file in files.items() for line in describe_problems(shorten(path), file)]
    print("\n".join(problems or ["everything is translated"]))
    return 0


def shorten(path: Path) -> str:
    """Return a path relative to the root of the course or of the engine."""
    return path.relative_to(course().root if path.is_relative_to(course().root) else ENGINE).as_posix()
