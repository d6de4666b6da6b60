"""Run the checks on a GPU from a bundle, with the packages in `wheels/`: python3 run.py [OPTION ...]

The options are those of `benchmarks/prove_gpu/__main__.py`. Nothing is installed: the wheels that fit this Python are
unpacked into a temporary folder. torch must be installed. Like `__main__.py`, this file runs with Python 3.10.
"""

import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def fits(wheel: Path, version: tuple[int, int] = sys.version_info[:2], machine: str = platform.machine()) -> bool:
    """Return whether a wheel is for this version of Python and this kind of processor."""
    python, abi, system = wheel.stem.split("-")[-3:]
    found = re.search(r"cp3(\d+)", python)
    minor = int(found[1]) if found else None
    right = "py3" in python or minor == version[1] or (abi == "abi3" and minor is not None and minor <= version[1])
    return right and (system == "any" or system.endswith(machine))


def unpack(wheels: Path, folder: Path) -> None:
    """Unpack the suitable wheels into a folder that every user can read, because sandboxed workers import from it."""
    folder.chmod(0o755)
    for wheel in filter(fits, sorted(wheels.glob("*.whl"))):
        zipfile.ZipFile(wheel).extractall(folder)


def main() -> int:
    """Run the checks and return their exit code."""
    with tempfile.TemporaryDirectory(prefix="prove-gpu-packages-", ignore_cleanup_errors=True) as folder:
        unpack(HERE / "wheels", Path(folder))
        paths = [folder, str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
        report = str(Path.cwd() / "prove_gpu.md")
        command = [sys.executable, "-m", "benchmarks.prove_gpu", "--to", report, *sys.argv[1:]]
        return subprocess.call(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})


if __name__ == "__main__":
    sys.exit(main())
