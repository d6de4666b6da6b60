"""`grader report`: the class from its stored results: the pages, the table, the findings, the gradebook, pictures."""

from pathlib import Path

from grader.base.terminal import create_console
from grader.output.page.items import DIAGNOSES, ITEMS
from grader.output.page.marks import read_marks
from grader.output.page.write import FEEDBACK, PAGE, write_feedback, write_report
from grader.output.summary import draw_speed, rebuild, show, tell
from grader.results.load import demand_results


def run_report(directory: Path, feedback: Path | None, people: Path | None, *, excel: bool) -> int:
    """Rebuild gradebook, page and pictures, show the class; 2 if a result can't be shown, or a mark told.

    With `feedback`, a page for each student goes there; with the folder of the class, marks are on the pages. Raises
    CallError, MachineError.
    """
    demand_results(directory)
    marks, unsettled = read_marks(directory, people) if people is not None else ({}, [])
    found, problems = rebuild(directory, excel=excel)
    submissions = [row.submission for row in found]
    problems += [*unsettled, *write_report(directory, submissions, marks)]
    if feedback is not None:
        write_feedback(directory, submissions, feedback, marks)
    problems += draw_speed(directory, found)
    out = create_console()
    show(out, found, directory, limit=None)
    if any(row.performance for row in found):
        out.print(f"speed:     {directory}/<submission>/roofline.svg", markup=False, soft_wrap=True)
    out.print(f"page:      {directory / PAGE}", markup=False, soft_wrap=True)
    out.print(f"tests:     {directory / ITEMS}, {DIAGNOSES}", markup=False, soft_wrap=True)
    if feedback is not None:
        out.print(f"feedback:  {feedback}/<submission>/{FEEDBACK}", markup=False, soft_wrap=True)
    tell(create_console(stderr=True), problems)
    return 2 if problems else 0
