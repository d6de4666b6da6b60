"""`grader export`: converts stored results to the format of a platform."""

import sys
from pathlib import Path

from grader.base.errors import CallError, convert_write_errors
from grader.base.text import one_line
from grader.output.exporter import OPTIONS, Options
from grader.output.formats import format_names, load_exporter


def run_export(directory: Path, name: str, options: Options) -> int:
    """Write the results in this format. Return the exit code, which is 2 if there are problems to resolve by hand.

    Raises CallError, before anything is written, if the results can't be exported with these options.
    """
    exporter = load_exporter(name)
    for option, flag in OPTIONS.items():
        if getattr(options, option) and option not in exporter.takes:
            users = [other for other in format_names() if option in load_exporter(other).takes]
            raise CallError(f"{flag} can be used only with --format {', '.join(users)}")
    try:
        with convert_write_errors(f"--to {options.to}"):
            problems = exporter.write(directory, options)
    except ValueError as error:
        raise CallError(str(error)) from None
    for problem in problems:
        print(f"grader: {one_line(problem)}", file=sys.stderr)
    return 2 if problems else 0
