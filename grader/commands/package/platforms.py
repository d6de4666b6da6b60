"""Platforms that run a packaged grader. To add one, add a folder to `files/` with its files and a `platform.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILES = Path(__file__).with_name("files")
COMMON = "common"  # the files of every platform
ABOUT = "platform.toml"


@dataclass(frozen=True)
class Platform:
    """A platform that runs the packaged grader: a folder in `files/` with its files and this table."""

    name: str
    title: str
    next: str  # what to do with the package
    folder: str = ""  # where the package's files go
    is_zip: bool = False  # a zip to upload instead of files to add to a repository
    hides_totals: bool = False  # hides the total from students if any test is hidden


def load_platform(name: str) -> Platform:
    """Read the table of a platform."""
    return Platform(name, **tomllib.loads((FILES / name / ABOUT).read_text("utf-8")))
