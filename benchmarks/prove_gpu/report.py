"""The report of a run, in Markdown and JSON. This file needs only the standard library."""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

DONE = ("holds", "lacking")  # outcomes of a step that do not make the run fail
SO_FAR = "holds so far"  # the outcome of a step that did not fail, but did not try everything in time


@dataclass
class StepOutcome:
    """The outcome of a step so far."""

    name: str
    claim: str
    outcome: str = "not run"
    reason: str = ""
    seconds: float = 0.0
    lines: list[Any] = field(default_factory=list)
    errors: str = ""  # the end of the error output
    time: str = ""

    @property
    def text(self) -> str:
        """The outcome and the reason for it."""
        return f"**{self.outcome}**: {self.reason}" if self.reason else self.outcome


class Report:
    """The outcomes so far, in two files that are rewritten after every change."""

    def __init__(self, path: Path, about: Mapping[str, str], claims: Mapping[str, str]) -> None:
        self.path = find_writable(path)
        self.about = dict(about)
        self.outcomes = {name: StepOutcome(name, claim) for name, claim in claims.items()}
        self.outcomes |= {name: outcome for name, outcome in self.read().items() if name in self.outcomes}

    def read(self) -> dict[str, StepOutcome]:
        """Return the outcomes of an earlier run on the same device with the same version of torch."""
        try:
            found = json.loads(self.path.with_suffix(".json").read_text("utf-8"))
            outcomes = [StepOutcome(**stored) for stored in found["outcomes"] if found["about"] == self.about]
        except (OSError, ValueError, KeyError, TypeError):
            return {}
        return {outcome.name: outcome for outcome in outcomes}

    def write(self) -> None:
        """Write both files."""
        content = {"about": self.about, "outcomes": [asdict(outcome) for outcome in self.outcomes.values()]}
        for path, text in (
            (self.path.with_suffix(".json"), json.dumps(content, ensure_ascii=False, indent=1)),
            (self.path, self.format()),
        ):
            part = path.with_name(path.name + ".part")
            part.write_text(text + "\n", "utf-8")
            part.replace(path)

    def format(self) -> str:
        """Return the report in Markdown."""
        lines = ["`python -m benchmarks.prove_gpu`", "", *(f"- {name}: {text}" for name, text in self.about.items())]
        lines += ["", "| step | claim | outcome | s | at |", "|---|---|---|---|---|"]
        for each in self.outcomes.values():
            lines.append(format_row([each.name, each.claim, each.text, f"{each.seconds:.0f}", each.time]))
        for each in self.outcomes.values():
            if each.lines or each.errors:
                lines += ["", f"## {each.name}", "", *format_lines(each.lines)]
            if each.errors and each.outcome not in (*DONE, SO_FAR):
                lines += ["", "```", each.errors, "```"]
        return "\n".join([*lines, *self.format_evidence()])

    def format_evidence(self) -> Iterator[str]:
        """Yield a table of all steps that ran, with a row for each measurement, for a page in `docs/evidence/`."""
        devices = re.sub(r" \(UUID[^)]*\)", "", self.about.get("devices", ""))
        yield from ("", "## For docs/evidence/measurements.md", "", f"{devices}, torch {self.about.get('torch', '')}")
        yield from ("", format_row(["step", "measured", "result"]), "|---|---|---|")
        for each in self.outcomes.values():
            if each.outcome == "not run":
                continue
            yield format_row([each.name, f"{each.claim} ({each.time})", each.text])
            for row in each.lines:
                figures = [f"{key} {value}" for key, value in row.items()] if isinstance(row, dict) else []
                figures = [figure for figure in figures if not figure.endswith((" ", " None"))]
                if figures:
                    yield format_row([each.name, figures[0], "; ".join(figures[1:])])


def find_writable(path: Path) -> Path:
    """Return the path if a file can be written there. Otherwise return a path in a new temporary folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".part").touch()
        path.with_suffix(".part").unlink()
    except OSError:
        return Path(tempfile.mkdtemp(prefix="prove-gpu-"), path.name)
    return path


def format_lines(values: Sequence[Any]) -> Iterator[str]:
    """Yield remarks and tables in Markdown. Consecutive rows with the same columns form one table."""
    columns: list[str] = []
    for value in values:
        if isinstance(value, str):
            yield from (["", f"- {value}"] if columns else [f"- {value}"])
            columns = []
            continue
        if list(value) != columns:
            columns = list(value)
            yield from ("", format_row(columns), "|---" * len(columns) + "|")
        yield format_row(value.values())


def format_row(cells: Any) -> str:
    """Return a row of a table in Markdown."""
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
