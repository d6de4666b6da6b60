"""Exports results to JUnit XML (`xunit2`), with a suite for each kata of each submission and one for its workloads.

A student's mistake is reported as a failure, and a machine fault as an error. Tests that were not started or not graded
are reported as skipped.
"""

import platform
from collections import Counter
from collections.abc import Sequence
from datetime import UTC
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree as ET

from grader.base.text import one_line
from grader.output.exporter import Exporter, Options, Stored, load_results, write_file
from grader.results.view import VisibleTest, view_as_student
from torchkata.result import Outcome

KINDS: dict[Outcome, str] = {
    "failed": "failure",
    "crashed": "failure",
    "timed_out": "failure",
    "inconclusive": "error",
    "not_started": "skipped",
    "not_graded": "skipped",
}
HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'


def render(stored: Sequence[Stored], *, hostname: str) -> bytes:
    """Return a single file for all submissions. Raises ValueError."""
    root = ET.Element("testsuites", name="torchkata")
    names = Counter[str]()
    for one in stored:
        for group, rows in groupby(view_as_student(one.result, platform_hides=False), key=lambda row: row.group):
            root.append(make_suite(one, group, list(rows), hostname, names))
    ET.indent(root, " ")
    return f"{HEAD}{ET.tostring(root, encoding='unicode')}\n".encode()


def make_suite(
    stored: Stored, group: str, rows: Sequence[VisibleTest], hostname: str, names: Counter[str]
) -> ET.Element:
    """Return the suite for a kata or for the workloads, with points as properties."""
    submission = one_line(stored.result.submission)
    kinds = Counter(KINDS.get(row.result.outcome) for row in rows)
    suite = ET.Element(
        "testsuite",
        name=f"{submission}: {group}",
        tests=str(len(rows)),
        errors=str(kinds["error"]),
        failures=str(kinds["failure"]),
        skipped=str(kinds["skipped"]),
        time=f"{sum(row.result.seconds for row in rows):.4f}",
        timestamp=stored.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
        hostname=one_line(hostname),
    )
    properties = ET.SubElement(suite, "properties")
    for name in ("score", "max_score"):
        ET.SubElement(properties, "property", name=name, value=f"{sum(getattr(row.result, name) for row in rows):g}")
    suite.extend(make_case(submission, row, names) for row in rows)
    return suite


def make_case(submission: str, row: VisibleTest, names: Counter[str]) -> ET.Element:
    """Return a test with a name that is unique in the file, because some readers drop tests with duplicate names."""
    name = f"{submission}: {row.group}: {row.title}"
    names[name] += 1
    case = ET.Element(
        "testcase",
        classname=f"{submission}.{row.group}",
        name=name if names[name] == 1 else f"{name} ({names[name]})",
        time=f"{row.result.seconds:.4f}",
    )
    kind = KINDS.get(row.result.outcome)
    if kind is not None:
        ET.SubElement(case, kind, message=row.result.message.partition("\n")[0]).text = row.result.message
    ET.SubElement(case, "system-out").text = row.points
    return case


def export(directory: Path, options: Options) -> list[str]:
    """Write a single file for all submissions."""
    stored, problems = load_results(directory)
    write_file(options.to, render(stored, hostname=platform.node()))
    return problems


EXPORTER = Exporter(export)
