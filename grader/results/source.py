"""The graded source files of a submission, stored as `DIR/<id>/hand_in.json` for pages that show the code."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from grader.base.errors import MachineError, convert_write_errors
from grader.base.files import write_whole
from torchkata.inside.source.text import decode

FILE = "hand_in.json"
MAX_FILE = 32 * 2**10  # maximum number of characters that are stored per file; no hand-written file has more
MAX_TOTAL = 256 * 2**10  # maximum number of characters that are stored for all files together
LINE_END = re.compile(r"\r\n|\r|\n")  # the line endings that Python recognizes


class Source(msgspec.Struct, frozen=True):
    """A source file written by a student."""

    text: str
    whole: bool = True  # False if the text was truncated

    @property
    def lines(self) -> list[str]:
        """The lines, numbered as in Python tracebacks."""
        lines = LINE_END.split(self.text)
        return lines if lines[-1] else lines[:-1]


class StoredSubmission(msgspec.Struct, frozen=True):
    """The files of a submission."""

    hand_in: str  # digest of the submission
    graded: datetime
    files: dict[str, Source] = {}


def truncate(files: Mapping[str, bytes]) -> dict[str, Source]:
    """Return the files as text, truncated to the size limits."""
    room, found = MAX_TOTAL, dict[str, Source]()
    for name, content in files.items():
        text = decode(content)
        found[name] = Source(text[: min(MAX_FILE, room)], len(text) <= min(MAX_FILE, room))
        room -= len(found[name].text)
    return found


def store(directory: Path, submission: str, hand_in: str, files: Mapping[str, bytes]) -> None:
    """Store the graded files. Raises MachineError if they can't be written."""
    stored = StoredSubmission(hand_in, datetime.now(UTC).replace(microsecond=0), truncate(files))
    path = directory / submission / FILE
    with convert_write_errors(path, MachineError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, msgspec.json.format(msgspec.json.encode(stored), indent=1))


def load_submission(directory: Path, submission: str, hand_in: str) -> StoredSubmission | None:
    """Load the files of the submission with this digest. Return None if they are not stored."""
    try:
        found = msgspec.json.decode((directory / submission / FILE).read_bytes(), type=StoredSubmission)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None
    return found if found.hand_in == hand_in else None
