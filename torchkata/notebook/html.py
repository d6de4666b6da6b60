"""Renders a test report and the overview as HTML, using the same wording as in the terminal. All text is escaped."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

from torchkata.course import Kata, course
from torchkata.i18n import _, split_label, translate
from torchkata.i18n.katas import title_of, title_of_track
from torchkata.pytest_plugin.failure_groups import describe_hidden, group_failures, render_block
from torchkata.pytest_plugin.history import State
from torchkata.result import LOOK_OF, Status, TestResult, get_status

SHOWN = 3  # maximum number of failures, since fixing the first often fixes the others
STYLE = """<style>
.kata { border-left: 3px solid #8888; padding-left: 12px; line-height: 1.45; }
.kata p { margin: 0 0 4px; }
.kata .claim { margin-top: 14px; font-weight: 600; }
.kata .looks { border-left: 3px solid #c08a00; padding-left: 8px; }
.kata .green { color: #1a9850; } .kata .red { color: #e0453a; } .kata .yellow { color: #c08a00; }
.kata .grey, .kata .aside, .kata th { color: #888 !important; }
.kata table { border: 0; border-collapse: collapse; margin: 0 0 6px; font-size: inherit; }
.kata tr, .kata th, .kata td { background: none !important; border: 0; vertical-align: top; }
.kata th, .kata td, .kata pre { text-align: left !important; }
.kata th, .kata td { padding: 1px 14px 1px 0; font-weight: normal; max-width: none; }
.kata th { white-space: nowrap; }
.kata pre { margin: 0; padding: 0; background: none; font-size: 92%; }
.kata pre { white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere; }
</style>"""


def verdict(kata: Kata, results: Sequence[TestResult], waits: str = "") -> str:
    """Render the status and failures of a kata. `waits` is a remark about katas that students should do first."""
    status = get_status([result.outcome for result in results])
    passed = sum(result.outcome == "passed" for result in results)
    count = f"{passed}/{len(kata.points)}{waits}"
    heading = f"<b>{escape(kata.name)}</b> · {escape(title_of(kata))}"
    parts = [f'<p>{status_label(status)} {heading} <span class="aside">{escape(count)}</span></p>']
    if status not in ("not_started", "done"):
        groups = group_failures(results)
        parts += [failure(render_block(kata, *pair)) for pair in zip(groups[:SHOWN], [None, *groups], strict=False)]
        if hidden := sum(len(block.tests) for block in groups[SHOWN:]):
            parts.append(paragraph(describe_hidden(kata, hidden), "aside"))
    if LOOK_OF[status].color == "red":
        parts.append(paragraph(_("stuck? kata about {kata}, kata hint {kata}", kata=kata.name), "aside"))
    return with_style(parts)


def failure(lines: Sequence[str]) -> str:
    """Render a failure: the claim, the diagnosis, a table with the input and results, and further remarks.

    The command for running the test again is omitted, because the cell can be run again instead.
    """
    claim, *rest = lines
    diagnosis, rows, remarks = "", list[tuple[str, str]](), ""
    for line in rest:
        text = line.strip()
        row = split_label(line)
        if row and rows and not row[0]:
            rows[-1] = (rows[-1][0], f"{rows[-1][1]}\n{row[1]}")
        elif row:
            rows.append(row)
        elif text.startswith(_("looks like: ")):
            diagnosis = paragraph(text, "looks")
        elif not text.startswith(_("again: ")):
            remarks += paragraph(text, "aside")
    cells = [f"<tr><th>{escape(label)}</th><td><pre>{escape(text)}</pre></td></tr>" for label, text in rows]
    table = f"<table>{''.join(cells)}</table>" if cells else ""
    return paragraph(claim, "claim" if rest else "aside") + diagnosis + table + remarks


def progress(state: State) -> str:
    """Render a table for each track with the status of its katas, followed by the next step."""
    parts = []
    for track, group in groupby(course().katas.values(), key=lambda kata: kata.track):
        katas = list(group)
        done = sum(state.status(kata.name) == "done" for kata in katas)
        title = title_of_track(course().tracks[track])
        parts.append(paragraph(_("{title}   {done} of {all} done", title=title, done=done, all=len(katas)), "claim"))
        parts.append(f"<table>{''.join(row(kata, state) for kata in katas)}</table>")
    following = state.next()
    if following is None:
        message = _("All done. To hand in: kata export")
    else:
        name, title = following.name, title_of(following)
        message = _("next: {title} — assignment/{kata}.py, then: kata next", title=title, kata=name)
    parts.append(paragraph(message))
    return with_style(parts)


def row(kata: Kata, state: State) -> str:
    """Render the table row of a kata."""
    passed = state.runs[kata.name].passed if kata.name in state.runs else 0
    old = _("  may be outdated") if state.is_old(kata.name) else ""
    cells = [escape(kata.name), escape(title_of(kata)), status_label(state.status(kata.name))]
    cells.append(f'{passed}/{len(kata.points)}<span class="aside">{escape(old)}</span>')
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def status_label(status: Status) -> str:
    """Render the symbol and the word for a status in its color."""
    look = LOOK_OF[status]
    return f'<span class="{look.color}">{look.symbol} {escape(translate(LOOK_OF[status].word))}</span>'


def paragraph(text: str, style: str = "") -> str:
    """Render a paragraph of escaped text."""
    return f'<p class="{style}">{escape(text)}</p>'


def with_style(parts: Sequence[str]) -> str:
    """Return HTML with the style sheet included, because a notebook may show each output in a separate iframe."""
    return f'{STYLE}<div class="kata">{"".join(parts)}</div>'
