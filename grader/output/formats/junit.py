"""Exports results to JUnit XML (`xunit2`). Each submission has a suite for each kata and one for its workloads.

A student's mistake is reported as a failure, and a machine fault as an error. Tests that were not started, not
graded or waived are reported as skipped.
"""

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from itertools import chain, count, groupby
from pathlib import Path
from xml.etree import ElementTree as ET

from grader.base.text import one_line
from grader.options import ExportOptions
from grader.output.exporter import Exporter, Stored, convert_each, write_file
from grader.results.visibility import VisibleTest, view_as_student
from torchkata.result import Outcome

KINDS: dict[Outcome, str] = {
    "failed": "failure",
    "crashed": "failure",
    "timed_out": "failure",
    "inconclusive": "error",
    "not_started": "skipped",
    "not_graded": "skipped",
    "waived": "skipped",
}
HEAD = b'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="torchkata">\n'
FOOT = b"</testsuites>\n"


@dataclass
class Renderer:
    """Renders the suites of submissions, one submission after another."""

    hostname: str
    labels: set[str] = field(default_factory=set)  # names of the submissions so far

    def __call__(self, stored: Stored) -> bytes:
        """Return the suites of a submission.

        Raises ValueError if the course no longer contains a test or workload of the result.
        """
        rows = view_as_student(stored.result, platform_hides=False)
        label = self.make_label(stored.result.submission)
        suites = [
            make_suite(stored, label, group, list(each), self.hostname)
            for group, each in groupby(rows, key=lambda row: row.group)
        ]
        return b"".join(map(encode, suites))

    def make_label(self, submission: str) -> str:
        """Return a printable name for a submission that differs from the names of all other submissions."""
        shown = one_line(submission)
        labels = chain([shown], (f"{shown} ({number})" for number in count(2)))
        label = next(label for label in labels if label not in self.labels)
        self.labels.add(label)
        return label


def wrap(suites: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts of a file that contains these suites."""
    return chain([HEAD], suites, [FOOT])


def encode(suite: ET.Element) -> bytes:
    """Return a suite as indented XML."""
    ET.indent(suite, " ", level=1)
    return f" {ET.tostring(suite, encoding='unicode')}\n".encode()


def make_suite(stored: Stored, submission: str, group: str, rows: Sequence[VisibleTest], hostname: str) -> ET.Element:
    """Return the suite for a kata or for the workloads, with points as properties."""
    names = Counter[str]()
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


def export(directory: Path, options: ExportOptions) -> list[str]:
    """Write the suites of all submissions to a single file. Raises CallError if there are no results."""
    problems: list[str] = []
    suites = (suites for _, suites in convert_each(directory, Renderer(platform.node()), problems, options.people))
    write_file(options.out, wrap(suites))
    return problems


EXPORTER = Exporter(export, frozenset({"people"}))
