"""`grader report`: prints the results of a class, and writes its pages and gradebook."""

import shlex
from pathlib import Path

from grader.base.terminal import create_console
from grader.output.page.class_pages import FEEDBACK, PAGE, ClassFolder, read_marks, write_feedback, write_report
from grader.output.page.overview import DIAGNOSES, ITEMS
from grader.output.summary import print_class, print_problems, rebuild
from grader.results.faults import describe_open, list_faults
from grader.results.load import demand_results


def run_report(directory: Path, feedback: Path | None, people: Path | None, *, excel: bool) -> int:
    """Write the gradebook and the report, and print the table. Return 2 if there are problems.

    `feedback` is the directory for the pages of the students, and `people` the folder that describes the class. Raises
    CallError if there are no results or a file of the class is invalid, or MachineError if a file can't be written.
    """
    demand_results(directory)
    class_marks = ({}, ClassFolder(), [], []) if people is None else read_marks(directory, people)
    marks, folder, mark_problems, warnings = class_marks
    found, problems = rebuild(directory, folder.waive, excel=excel)
    submissions = [row.submission for row in found]
    problems += [*mark_problems, *write_report(directory, submissions, marks, folder)]
    if feedback is not None:
        write_feedback(directory, submissions, feedback, marks, folder)
    out = create_console()
    print_class(out, found, directory, limit=None)
    for line in describe_open({row.submission: [*list_faults(row)] for row in found}):
        out.print(line)
    out.print(f"page:      {directory / PAGE}")
    out.print(f"tests:     {directory / ITEMS}, {DIAGNOSES}")
    if people is None:
        out.print(f"marks:     grader marks {shlex.quote(str(directory))} CLASS")
    if feedback is not None:
        out.print(f"feedback:  {feedback}/<submission>/{FEEDBACK}")
    print_problems(create_console(stderr=True), [*warnings, *problems])
    return 2 if problems else 0
