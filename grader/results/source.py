"""What was graded, and when: `DIR/<id>/hand_in.json`, beside the result, for the page that shows the code."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from grader.base.errors import MachineError
from grader.results.result import write_whole

FILE = "hand_in.json"
MAX_FILE = 32 * 2**10  # characters that are kept of a file: what is typed by hand is shorter
MAX_TOTAL = 256 * 2**10  # and of all of them
LINE_END = re.compile(r"\r\n|\r|\n")  # as Python counts lines


class Source(msgspec.Struct, frozen=True):
    """A file of the student's."""

    text: str
    whole: bool = True  # where not, its rest was not kept

    @property
    def lines(self) -> list[str]:
        """Its lines, numbered as Python numbers them."""
        lines = LINE_END.split(self.text)
        return lines if lines[-1] else lines[:-1]


class HandIn(msgspec.Struct, frozen=True):
    """The files behind a result."""

    fingerprint: str  # of that result
    graded: datetime
    files: dict[str, Source] = {}


def kept(files: Mapping[str, bytes]) -> dict[str, Source]:
    """The files as text, of all together no more than is sensible for a class."""
    room, found = MAX_TOTAL, dict[str, Source]()
    for name, content in files.items():
        text = content.decode("utf-8-sig", "replace")
        found[name] = Source(text[: min(MAX_FILE, room)], len(text) <= min(MAX_FILE, room))
        room -= len(found[name].text)
    return found


def store(directory: Path, submission: str, fingerprint: str, files: Mapping[str, bytes]) -> None:
    """Store what was graded. Raises MachineError."""
    hand_in = HandIn(fingerprint, datetime.now(UTC).replace(microsecond=0), kept(files))
    try:
        (directory / submission).mkdir(parents=True, exist_ok=True)
        write_whole(directory / submission / FILE, msgspec.json.format(msgspec.json.encode(hand_in), indent=1))
    except OSError as error:
        raise MachineError(f"can't store what {submission} handed in ({error.strerror})") from None


def hand_in_of(directory: Path, submission: str, fingerprint: str) -> HandIn | None:
    """What this result is about; None where that is not stored."""
    try:
        found = msgspec.json.decode((directory / submission / FILE).read_bytes(), type=HandIn)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None
    return found if found.fingerprint == fingerprint else None
