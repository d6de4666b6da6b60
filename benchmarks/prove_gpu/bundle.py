"""Write a zip file with the code and the wheels that `run.py` needs on a machine without a network.

python -m benchmarks.prove_gpu.bundle [--to FILE]       x86-64 Linux, Python 3.11 to 3.13; torch is not included
"""

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import ROOT

PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64")
FOLDERS = ("assignment", "benchmarks", "grader", "reference", "tests", "torchkata")
FILES = ("conftest.py", "pyproject.toml", "LICENSE")
UNUSED = ("torch", "jinja2", "pyyaml", "typer")  # packages that no step needs, or that are preinstalled
MOST_BYTES = 60 * 2**20


def list_requirements() -> Iterator[str]:
    """Yield those requirements of the engine, the grader and the students that the steps need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    groups = project["project"]["optional-dependencies"]["grader"], project["dependency-groups"]["students"]
    for requirement in (*project["project"]["dependencies"], *(each for group in groups for each in group)):
        if re.split(r"[^\w-]", requirement)[0] not in UNUSED:
            yield requirement.partition(";")[0]


def download(folder: Path) -> str:
    """Download the wheels for each version of Python. Return "", or the reason why the download failed."""
    options = [option for name in PLATFORMS for option in ("--platform", name)]
    options += ["--constraint", str(ROOT / "constraints.txt"), "--only-binary", ":all:", "--dest", str(folder)]
    for python in PYTHONS:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--python-version", python, *options]
        done = subprocess.run([*command, *list_requirements()], capture_output=True, text=True)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip failed"]
            return f"the wheels can't be downloaded; is the package index reachable? ({lines[-1]})"
    return ""


def list_files() -> Iterator[Path]:
    """Yield the files of this project that the steps need."""
    yield from (ROOT / name for name in FILES)
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.is_file() and is_source(path))


def is_source(path: Path) -> bool:
    """Return whether a file belongs to the project and not to a cache."""
    return not any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(ROOT).parts)


def write_bundle(target: Path, wheels: Path) -> None:
    """Write the zip file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.write(Path(__file__).with_name("run.py"), "run.py")
        for path in list_files():
            bundle.write(path, path.relative_to(ROOT))
        for wheel in sorted(wheels.glob("*.whl")):
            bundle.write(wheel, f"wheels/{wheel.name}", zipfile.ZIP_STORED)


def main() -> int:
    """Write the bundle and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prove_gpu.bundle")
    parser.add_argument("--to", type=Path, default=ROOT / "results/gpu-bundle.zip")
    target: Path = parser.parse_args().to
    with tempfile.TemporaryDirectory() as wheels:
        if reason := download(Path(wheels)):
            sys.exit(reason)
        write_bundle(target, Path(wheels))
    size = target.stat().st_size
    print(f"{target}: {size / 2**20:.1f} MiB; unpack it on the machine with the GPU and run: python3 run.py")
    return 0 if size <= MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
