"""The platforms that run a packaged grader: each has a folder in `files/` with its files and a `platform.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILES = Path(__file__).with_name("files")
COMMON = "common"  # the files of every platform
ABOUT = "platform.toml"


@dataclass(frozen=True)
class Platform:
    """The content of a `platform.toml`."""

    name: str
    title: str
    next: str  # what to do with the package, shown after writing it
    folder: str = ""  # directory of the files in the package
    is_zip: bool = False  # whether it is a zip to upload rather than files for a repository
    hides_totals: bool = False  # whether it hides the total from students if any test is hidden


def load_platform(name: str) -> Platform:
    """Return the platform with this name."""
    return Platform(name, **tomllib.loads((FILES / name / ABOUT).read_text("utf-8")))
