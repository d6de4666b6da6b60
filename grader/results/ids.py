"""Ids of submissions: the digest that distinguishes similar names, and what a platform adds to a person's name."""

import hashlib
import os
import re
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
