"""Reads the commands and their output from the documentation."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from grader.tests import ROOT

DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "grader/tests/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
OURS = ("grader", "kata", "pytest", "make", "python", "python3")  # a block that begins with a program lists commands
OTHERS = ("apt-get", "export", "git", "pip", "podman", "sbatch", "source", "srun", "uv")
PIECE = re.compile(
    r"^```(?P<language>\w*)\n(?P<block>.*?)^```$|^#+ (?P<heading>[^\n]+)$|^\| (?P<cell>[^|\n]*) \|",
    re.MULTILINE | re.DOTALL,
)
CODE = re.compile(rf"`((?:{'|'.join(OURS)})(?: [^`\n]*)?)`")
COMMENT = re.compile(r"\s+# .*")


@dataclass(eq=False)
class Section:
    """A section of a document: the part under one heading."""

    document: Path
    heading: str
    commands: list[str] = field(default_factory=list)  # one per line
    shown: list[str] = field(default_factory=list)  # blocks of printed output

    def __str__(self) -> str:
        return f"{self.document.name}: {self.heading}"


def read_sections(document: Path) -> list[Section]:
    """Return the sections of a document. Sections with the same heading are merged."""
    found: dict[str, Section] = {}
    here = Section(document, "")
    for piece in PIECE.finditer(document.read_text("utf-8")):
        if piece["heading"]:
            here = found.setdefault(piece["heading"], Section(document, piece["heading"]))
        elif piece["cell"] is not None:
            here.commands += CODE.findall(piece["cell"])
        elif piece["language"] in ("", "bash", "sh"):
            lines = [COMMENT.sub("", line) for line in re.sub(r"\\\n\s*", "", piece["block"]).splitlines()]
            if lines[0].partition(" ")[0] in (*OURS, *OTHERS):
                here.commands += filter(None, lines)
            else:
                here.shown.append(piece["block"])
    return list(found.values())
