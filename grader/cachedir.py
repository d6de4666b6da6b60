"""Where this machine's grader keeps what it may lose: figures, proofs, drawn inputs."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """`$XDG_CACHE_HOME/torchkata`, or `~/.cache/torchkata`; it need not be there."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "torchkata"
