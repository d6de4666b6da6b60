"""The cache directory for files that can be recreated: calibrations, proofs, checks of the reference solution."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return `$XDG_CACHE_HOME/torchkata`. Relative paths are ignored, as required by the XDG specification."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "torchkata"
