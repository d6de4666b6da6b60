"""Reads submitters and submission times from `submission_metadata.yml`, a file in Gradescope's "Export Submissions".

The keys in the file are the names of the submission folders. Gradescope does not document the format. This module
parses it the way published tools do (github.com/search?q=submission_metadata.yml+:submitters).
"""

from datetime import datetime
from pathlib import Path

import msgspec

from grader.base.errors import CallError
from grader.marks.tables import read_text


class Submitter(msgspec.Struct, frozen=True, rename=lambda field: f":{field}"):
    """A member of the group that made the submission."""

    name: str | None = None
    sid: str | int | None = None  # the student id assigned by the school, which YAML may parse as a number
    email: str | None = None


class Downloaded(msgspec.Struct, frozen=True, rename=lambda field: f":{field}"):
    """The metadata of a downloaded submission: who submitted it, and when."""

    submitters: tuple[Submitter, ...]
    created_at: datetime


def read_metadata(path: Path) -> dict[str, Downloaded]:
    """Return the metadata, keyed by submission, or {} if the file is missing. Raises CallError if it is invalid."""
    if not path.exists():
        return {}
    try:
        found = msgspec.yaml.decode(read_text(path), type=dict[str, Downloaded])
    except msgspec.DecodeError as error:
        raise CallError(f"{path}: not in Gradescope's format ({' '.join(str(error).split())})") from None
    for name, submission in found.items():
        if submission.created_at.tzinfo is None:
            raise CallError(f"{path}: the time of {name} has no time zone")
    return found
