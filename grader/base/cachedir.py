"""The cache directory for files that can be re-created: proven claims, and checks of the solution."""

import os
import tempfile
from pathlib import Path


def cache_dir() -> Path:
    """Return `$XDG_CACHE_HOME/torchkata`. A relative path is ignored, as the XDG specification requires."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else find_home() / ".cache") / "torchkata"


def find_home() -> Path:
    """Return the user's home directory, or a temporary one if HOME is not set and the user is not in the database."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"home-{os.getuid()}"
