"""`python -m torchkata.notebook.install`: installs missing packages of the handout without replacing torch.

The preinstalled torch supports Colab's GPU, and replacing it would take minutes. If the handout needs a different
version, pip reports a conflict.
"""

import subprocess
import sys
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement

HANDOUT = Path(__file__).parents[2]


def main() -> int:
    """Install the missing packages. Return the exit code of pip, or 0 if nothing is missing."""
    needed = find_missing(tomllib.loads((HANDOUT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"])
    if not needed:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text("".join(f"torch=={version}\n" for version in find_versions("torch")))
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        return subprocess.run([*pip, "--constraint", str(constraints), *needed]).returncode


def find_missing(requirements: list[str]) -> list[str]:
    """Return the requirements that are not installed, or all of them if `packaging` is not installed."""
    try:
        from packaging.requirements import Requirement  # `packaging` is a dependency of pytest
    except ImportError:
        return requirements
    return [text for text in requirements if not is_installed(Requirement(text))]


def is_installed(requirement: "Requirement") -> bool:
    """Return whether an installed version meets the requirement."""
    return any(requirement.specifier.contains(found, prereleases=True) for found in find_versions(requirement.name))


def find_versions(name: str) -> list[str]:
    """Return a list that contains the installed version, or an empty list."""
    return [package.version for package in metadata.distributions(name=name)][:1]


if __name__ == "__main__":
    sys.exit(main())
