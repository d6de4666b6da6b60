"""`python -m torchkata.notebook.install`: what the handout needs and this Python lacks; a torch that is there stays.

Colab's torch knows Colab's GPU, and takes minutes to be replaced: where another would be needed, pip says so instead.
"""

import subprocess
import sys
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path

HANDOUT = Path(__file__).parents[2]


def main() -> int:
    """Pip's exit code; 0 where nothing is missing."""
    needed = missing(tomllib.loads((HANDOUT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"])
    if not needed:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept.txt"
        kept.write_text("".join(f"torch=={version}\n" for version in installed("torch")))
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        return subprocess.run([*pip, "--constraint", str(kept), *needed]).returncode


def missing(requirements: list[str]) -> list[str]:
    """Those that nothing here meets; all, where it can't be told."""
    try:
        from packaging.requirements import Requirement  # pytest brings it
    except ImportError:
        return requirements
    needed = {text: Requirement(text) for text in requirements}
    return [
        text
        for text, one in needed.items()
        if not any(one.specifier.contains(version, prereleases=True) for version in installed(one.name))
    ]


def installed(name: str) -> list[str]:
    """The version that is installed; none, or one."""
    return [one.version for one in metadata.distributions(name=name)][:1]


if __name__ == "__main__":
    sys.exit(main())
