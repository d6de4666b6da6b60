"""The two digests by which a stored result is compared with what it depends on. If both are unchanged, it stands.

    digest_submission    the submission: its files, and the names of other files that may be katas
    digest_kata          everything that judges a kata:
                           the engine: all files of `torchkata/` and `grader/`, except the rooms in `ABOVE`
                           the versions of Python and of the libraries
                           the kata: its folder, tests, probes and workloads, all that they import, and the fallbacks
                             of the katas that it builds on
                           the course: its limits, languages, texts, and rules for findings
                           the options that affect points: seed, number of examples, isolation

Whatever is graded again is timed again, too. The cache of proven claims, the record of jobs on a cluster, and the
records of the reference solution combine the two digests with what else they depend on.
"""

import contextlib
import hashlib
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from grader.base.imports import PACKAGES, follow_imports
from torchkata.course import ENGINE, cached_by_course, course

LIBRARIES = ("numpy", "hypothesis", "pytest")  # in addition to the libraries preloaded by the course
ABOVE = (  # they start grading and show results: no module that judges may import them (import-linter)
    *("grader/cli", "grader/commands", "grader/output", "grader/proof", "grader/cluster", "grader/tests"),
    *("torchkata/cli", "torchkata/notebook"),
)
SUFFIXES = (".py", ".toml", ".po")


def digest(*parts: object) -> str:
    """Return the digest of plain values: strings, numbers, and tuples, lists and dicts of them."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@cache
def digest_file(path: Path) -> str:
    """Return the digest of the content of a file, which is read only once per process."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest_files(root: Path, paths: Iterable[Path]) -> str:
    """Return the digest of the contents and paths of these files below `root`, regardless of their order."""
    return digest(sorted((path.relative_to(root).as_posix(), digest_file(path)) for path in paths))


def digest_submission(files: Mapping[str, bytes]) -> str:
    """Return the digest of a submission. `files` are those in `Submission.judged`."""
    return digest(sorted((name, hashlib.sha256(content).hexdigest()) for name, content in files.items()))


@cached_by_course
def digest_kata(kata: str, *options: object) -> str:
    """Return the digest of everything that judges a kata, including these options."""
    settings = (course().limits, course().languages, course().prerequisites(kata))
    return digest(options, digest_engine(), settings, digest_files(course().root, find_kata_files(kata)))


@cached_by_course
def digest_engine() -> str:
    """Return the digest of the files and versions that affect points in any course."""
    return digest(versions(), digest_files(ENGINE, find_engine_files()))


@cached_by_course
def environment() -> dict[str, str]:
    """Return the platform and the versions of software that a result depends on, keyed by name."""
    libraries = {name: version_of(name) for name in dict.fromkeys((*course().preload, *LIBRARIES))}
    return {"python": platform.python_version(), "platform": platform.platform(), **libraries}


def versions() -> dict[str, str]:
    """Return the versions of libraries and of Python (without the patch number), which all cluster nodes must share."""
    here = environment()
    return {**here, "python": here["python"].rpartition(".")[0], "platform": ""}


def version_of(module: str) -> str:
    """Return the version of the package that contains a module, or "" if it is built in or not installed."""
    with contextlib.suppress(PackageNotFoundError):
        return version(module)
    names = packages_distributions().get(module, [])
    return version(names[0]) if names else ""


def find_engine_files() -> list[Path]:
    """Return the files of the engine that may affect points."""
    files = [path for package in PACKAGES for path in (ENGINE / package).rglob("*")]
    above = [ENGINE / room for room in ABOVE]
    return [path for path in files if path.suffix in SUFFIXES and not any(map(path.is_relative_to, above))]


@cached_by_course
def find_kata_files(kata: str) -> list[Path]:
    """Return the files of the course that judge a kata."""
    reference, tests = course().reference, course().tests
    folders = [course().folder(kata), *([reference / "workloads"] if course().timed_with([kata]) else [])]
    files = [*reference.glob("*.toml"), *reference.glob("*.po")]
    files += [path for folder in folders for path in folder.rglob("*")]
    files = [path for path in files if course().affects_points(path)]
    files += [tests / name for name in (f"test_{kata}.py", f"probes/{kata}.py", "conftest.py")]
    files += [course().root / "conftest.py", reference / "lint.toml"]
    files += map(course().fallback, course().prerequisites(kata))
    engine = [ENGINE / package for package in PACKAGES]
    return sorted(
        path
        for path in follow_imports(path for path in files if path.suffix in SUFFIXES)
        if path.is_relative_to(course().root) and not any(map(path.is_relative_to, engine))
    )
