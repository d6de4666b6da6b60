"""Builds the wheel of the engine for a handout: the package `torchkata`, without the grader and without solutions."""

import base64
import hashlib
from collections.abc import Mapping
from importlib import metadata
from itertools import takewhile

from grader.base import distribution
from grader.base.errors import MachineError
from grader.commands.package.project import list_engine_files
from torchkata.course import ENGINE, handout
from torchkata.course.submission import zip_files

FORMAT = "Wheel-Version: 1.0\nGenerator: torchkata\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
LEFT_OUT = ("Version:", "Provides-Extra:")  # fields of METADATA


def build_wheel() -> tuple[str, bytes]:
    """Return the version and the content of the wheel. Both depend only on the files of the engine and its metadata.

    Raises MachineError if the engine is not installed, because its metadata is then unknown.
    """
    engine = {path.relative_to(ENGINE).as_posix(): path.read_bytes() for path in list_engine_files("torchkata")}
    try:
        about = read_metadata()
    except metadata.PackageNotFoundError:
        raise MachineError("torchkata is not installed, so its wheel can't be built: pip install -e .") from None
    digest = hashlib.sha256(handout.listing(engine | about)).hexdigest()[:8]
    version = f"{distribution.get_version().partition('+')[0]}+h{digest}"  # a number alone would lose its zeros
    folder = f"torchkata-{version}.dist-info"
    about["METADATA"] += f"Version: {version}\n".encode()
    files = engine | {f"{folder}/{name}": content for name, content in about.items()}
    return version, zip_files(files | {f"{folder}/RECORD": make_record(files, f"{folder}/RECORD")})


def read_metadata() -> dict[str, bytes]:
    """Return the metadata of the installed engine without the grader's part, the version and the description."""
    installed = metadata.distribution(distribution.NAME)

    def read(name: str) -> list[str]:
        return (installed.read_text(name) or "").splitlines(keepends=True)

    head = [*takewhile(str.strip, read("METADATA"))]
    texts = {
        "METADATA": [line for line in head if not line.startswith(LEFT_OUT) and "extra ==" not in line],
        "WHEEL": [FORMAT],
        "entry_points.txt": [line for line in read("entry_points.txt") if not line.startswith("grader")],
        "licenses/LICENSE": read("licenses/LICENSE"),
    }
    return {name: "".join(lines).encode() for name, lines in texts.items()}


def make_record(files: Mapping[str, bytes], itself: str) -> bytes:
    """Return the file RECORD, which lists the digest and size of each file except `itself`."""
    lines = []
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{itself},,\n"]).encode()
