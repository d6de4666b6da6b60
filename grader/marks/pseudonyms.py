"""Reads the key that maps the new names of an anonymized class to the real names (a JSON object)."""

from pathlib import Path

import msgspec

from grader.base.errors import CallError
from grader.marks.tables import read_text


def read_key(path: Path) -> dict[str, str]:
    """Return the real name for each new name, or {} if the file is missing. Raises CallError if it is invalid."""
    if not path.exists():
        return {}
    try:
        return msgspec.json.decode(read_text(path), type=dict[str, str])
    except msgspec.DecodeError:
        raise CallError(f"{path}: not a pseudonym key (a JSON object of strings)") from None
