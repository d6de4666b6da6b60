"""The digest at the end of an id, which distinguishes a submission from others with similar names."""

import hashlib
import os
import re
from pathlib import Path

DIGEST = re.compile(r"~[0-9a-f]{16}$")
LONGEST = 255  # maximum length of a file name in bytes on almost every file system


def append_digest(name: str, path: Path) -> str:
    """Append the digest of a submission's path to its name. The name is shortened if the id would be too long."""
    digest = f"~{hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:16]}"
    return name.encode()[: LONGEST - len(digest)].decode(errors="ignore") + digest
