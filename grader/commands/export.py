"""`grader export`: converts stored results to the format of a platform."""

import sys
from pathlib import Path

from grader.base.errors import CallError, convert_write_errors
from grader.base.text import one_line
from grader.options import ExportOptions
from grader.output.formats import format_names, load_exporter

OPTIONAL = {  # fields that only some formats accept
    **{"fields": "--field", "people": "--class", "gradebook": "--gradebook", "column": "--column"},
    **{"accept": "--accept-inconclusive", "force": "--force"},
}


def run_export(directory: Path, options: ExportOptions) -> int:
    """Write the results in this format. Return the exit code, which is 2 if there are problems to resolve by hand.

    Raises CallError, before anything is written, if the results can't be exported with these options.
    """
    if options.format not in format_names():
        raise CallError(f"--format {options.format}: unknown format; the formats are {', '.join(format_names())}")
    exporter = load_exporter(options.format)
    for option, flag in OPTIONAL.items():
        if getattr(options, option) and option not in exporter.takes:
            users = [other for other in format_names() if option in load_exporter(other).takes]
            raise CallError(f"{flag} can be used only with --format {', '.join(users)}")
    try:
        with convert_write_errors(f"--out {options.out}"):
            problems = exporter.write(directory, options)
    except ValueError as error:
        raise CallError(str(error)) from None
    for problem in problems:
        print(f"grader: {one_line(problem)}", file=sys.stderr)
    return 2 if problems else 0
