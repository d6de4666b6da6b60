"""Programs that some tests need besides Python, and the tier in which a test runs.

`make test` runs the tests outside of `integration/`, and those in it that have the mark `sample`, unless one of their
fixtures needs a program of this table other than bubblewrap. `make check` runs them all. Run as a script, this file
checks that all programs are installed, before `make check` begins.
"""

import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SYSTEM_FOLDERS = ("/usr/sbin", "/sbin", "/usr/local/sbin")  # not on the PATH of ordinary users


@dataclass(frozen=True)
class Program:
    """A program, or several that are used together."""

    title: str  # completes the sentence "these tests need …"
    commands: tuple[str, ...]
    packages: str  # of Debian
    modules: tuple[str, ...] = ()  # of Python, installed by `make check` only
    root: bool = False

    @property
    def remedy(self) -> str:
        """The command that installs the program."""
        as_root = "as root: " if self.root else ""
        return f"{as_root}apt-get install {self.packages}" if self.packages else "make check"

    def list_missing(self) -> list[str]:
        """Return the commands that are not installed, and `root` if the program only works for root."""
        absent = [name for name in self.commands if shutil.which(name, path=get_search_path()) is None]
        return [*absent, *(["root"] if self.root and os.geteuid() != 0 else [])]

    def demand(self) -> None:
        """Exit with one line if something is missing."""
        if missing := self.list_missing():
            sys.exit(f"error: {self.title} is not usable here without {', '.join(missing)} ({self.remedy})")


def get_search_path() -> str:
    """Return PATH extended with the folders of system programs."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS])


PROGRAMS: Mapping[str, Program] = {  # keyed by the fixture with which a test says that it needs the program
    "needs_bwrap": Program("bubblewrap", ("bwrap",), "bubblewrap libseccomp2"),
    "needs_browser": Program("a browser", ("chromium", "chromedriver"), "chromium chromium-driver", ("selenium",)),
    "needs_slurm": Program(
        "Slurm", ("munged", "slurmctld", "slurmd", "sbatch", "srun"), "slurm-wlm munge", ("submitit",), root=True
    ),
    "needs_compiler": Program("a C compiler", ("cc",), "gcc libc6-dev"),
    "needs_mkdocs": Program("the documentation tools", (), "", ("mkdocs",)),
    "needs_jupyter": Program("Jupyter", (), "", ("nbclient", "jupytext")),
    "needs_matplotlib": Program("matplotlib", (), "", ("matplotlib",)),
    "needs_linters": Program("ruff and mypy", (), "", ("ruff", "mypy")),
}
QUICK = ("needs_bwrap",)  # `make test` uses these if they are installed


@cache
def is_installed(fixture: str) -> bool:
    """Return whether the program of a fixture, and the packages with which tests control it, are installed."""
    program = PROGRAMS[fixture]
    return not program.list_missing() and all(map(importlib.util.find_spec, program.modules))


def find_programs(fixtures: Iterable[str]) -> list[str]:
    """Return the fixtures among these that need a program."""
    return [name for name in PROGRAMS if name in fixtures]


def find_absent_package(path: Path) -> str:
    """Return the fixture of a program whose Python package is imported by a file but not installed, or ""."""
    imported = set(re.findall(r"^(?:from|import) (\w+)", path.read_text("utf-8"), re.MULTILINE))
    for fixture, program in PROGRAMS.items():
        if any(name in imported and importlib.util.find_spec(name) is None for name in program.modules):
            return fixture
    return ""


def count_tests(path: Path) -> int:
    """Return the number of test functions in a file."""
    return len(re.findall(r"^def test_", path.read_text("utf-8"), re.MULTILINE))


def describe_left_out(counts: Mapping[str, int]) -> str:
    """Return a line on the tests that did not run: how many there are, and how to run them."""
    found = [(counts[name], program) for name, program in PROGRAMS.items() if counts.get(name)]
    parts = [f"{count} need {program.title} ({program.remedy})" for count, program in found]
    if counts.get("check"):
        parts.append(f"{counts['check']} more (make check)")
    return f"not run: {', '.join(parts)}" if parts else ""


def main() -> None:
    """Exit with code 2 and one line if a program is missing that `make check` needs."""
    missing = [f"{program.title} ({program.remedy})" for program in PROGRAMS.values() if program.list_missing()]
    if missing:
        print(f"error: make check needs {', '.join(missing)}; make test works without", file=sys.stderr)
        raise SystemExit(2)


if __name__ == "__main__":
    main()
