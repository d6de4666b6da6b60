"""`python -m torchkata.notebook.install`: what the handout needs and this Python lacks; an installed torch stays.

Colab's torch knows Colab's GPU, and takes minutes to be replaced: where another would be needed, pip says so instead.
"""

import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

HANDOUT = Path(__file__).parents[2]
NAME = re.compile(r"[\w.-]+")


def main() -> int:
    """Pip's exit code; 0 where nothing is missing."""
    if not is_missing():
        return 0
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept.txt"
        kept.write_text("".join(f"torch=={version}\n" for version in installed("torch")))
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        return subprocess.run([*pip, "--constraint", str(kept), "--editable", str(HANDOUT)]).returncode


def is_missing() -> bool:
    """Whether anything is, this package itself or what it asks for."""
    if not installed("torchkata"):
        return True
    needed = [one for one in metadata.requires("torchkata") or [] if "extra ==" not in one]
    return not all(installed(found[0]) for one in needed if (found := NAME.match(one)))


def installed(name: str) -> list[str]:
    """The version that is installed; none, or one."""
    return [one.version for one in metadata.distributions(name=name)][:1]


if __name__ == "__main__":
    sys.exit(main())
