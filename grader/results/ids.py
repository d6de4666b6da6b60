"""Ids of submissions: the digest that distinguishes similar names, and what a platform adds to a person's name."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

DIGEST = re.compile(r"~[0-9a-f]{16}$")
LONGEST = 255  # maximum length of a file name in bytes on almost every file system
METADATA = "submission_metadata.yml"  # the file that Gradescope adds to a downloaded class
# files downloaded from Canvas: name_user_attachment_file
CANVAS = re.compile(r"(?P<name>[^_]+)(?P<late>_late)?_(?P<lms_id>\d+)_(?:\d+_.+|files)", re.IGNORECASE)
MOODLE = re.compile(r"(?P<name>.+)_\d+_assignsubmission_(?:file|onlinetext)_?", re.IGNORECASE)


def append_digest(name: str, path: Path) -> str:
    """Append the digest of a submission's path to its name. The name is shortened if the id would be too long."""
    digest = f"~{hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:16]}"
    return name.encode()[: LONGEST - len(digest)].decode(errors="ignore") + digest


def shorten_names(submissions: Sequence[str], known: Mapping[str, str] = {}) -> dict[str, str]:
    """Return the name to display for each submission: the `known` one, or the name without what a platform adds to it.

    A name that several submissions share is not shortened.
    """
    shorter = {one: known.get(one) or strip_platform(one) for one in submissions}
    shared = Counter(shorter.values())
    return {one: name if shared[name] == 1 else one for one, name in shorter.items()}


def strip_platform(submission: str) -> str:
    """Return the name of a student or group without the ids that Canvas or Moodle adds to it."""
    found = MOODLE.fullmatch(submission) or CANVAS.fullmatch(submission)
    return found["name"] if found else submission
