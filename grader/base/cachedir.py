"""The cache directory for files that can be re-created: proven claims, and checks of the solution."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return `$XDG_CACHE_HOME/torchkata`. A relative path is ignored, as the XDG specification requires."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "torchkata"
