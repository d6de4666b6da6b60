"""The folder of files that the grader can recreate: calibrations, proofs, checks of the reference solution."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return `$XDG_CACHE_HOME/torchkata`. As the XDG specification demands, a relative path is ignored."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "torchkata"
