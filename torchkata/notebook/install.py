"""`python -m torchkata.notebook.install`: installs packages that a course needs without replacing torch.

The preinstalled torch supports Colab's GPU, and replacing it would take minutes. If the handout needs a different
version, pip reports a conflict.
"""

import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from torchkata.course import course
from torchkata.pytest_plugin.packages import find_missing, find_versions


def main() -> int:
    """Install the missing packages. Return the exit code of pip, or 0 if nothing is missing."""
    engine = [line for line in metadata.requires("torchkata") or () if "extra ==" not in line]
    needed = find_missing([*engine, *course().dependencies])
    if not needed:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text("".join(f"torch=={version}\n" for version in find_versions("torch")))
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        return subprocess.run([*pip, "--constraint", str(constraints), *needed]).returncode


if __name__ == "__main__":
    sys.exit(main())
