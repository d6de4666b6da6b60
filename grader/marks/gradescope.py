"""What Gradescope says of the submissions that an instructor downloads: whose each is, and when it came.

The download ("Export Submissions") has a folder for each submission and `submission_metadata.yml`, whose keys are the
folders' names. Its form is not documented; it is read as the tools that are published for it read it
(github.com/search?q=submission_metadata.yml+:submitters).
"""

from datetime import datetime
from pathlib import Path

import msgspec

from grader.base.errors import CallError

METADATA = "submission_metadata.yml"


class Submitter(msgspec.Struct, frozen=True, rename=lambda field: f":{field}"):
    """Somebody who handed in, perhaps with others."""

    name: str | None = None
    sid: str | int | None = None  # the school's number; YAML may take it for one
    email: str | None = None


class Downloaded(msgspec.Struct, frozen=True, rename=lambda field: f":{field}"):
    """One submission."""

    submitters: tuple[Submitter, ...]
    created_at: datetime


def read_metadata(path: Path) -> dict[str, Downloaded]:
    """By the name of the submission; none where there is no such file. Raises CallError."""
    try:
        found = msgspec.yaml.decode(path.read_bytes(), type=dict[str, Downloaded])
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CallError(f"{path}: can't be read ({error.strerror})") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CallError(f"{path}: is not as Gradescope writes it ({' '.join(str(error).split())})") from None
    for name, one in found.items():
        if one.created_at.tzinfo is None:
            raise CallError(f"{path}: {name} has a time without its zone")
    return found
