"""What decides the points of one kata, in two digests: what its course says of it, and all else.

    test_<kata>.py, its probes, what is known of it, and what these import ──► the kata's digest
    hand-in, options, engine, versions, what is found in sources            ──► the basis, of all katas of a result

A kata whose two digests are stored already need not be graded again, whatever has changed about the others.
"""

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path

from grader.base.imports import with_imports
from grader.results.result import digest_of, engine_digest
from torchkata.course import ENGINE, cached_by_course, course

OF_A_KATA = ("tests/test_{kata}.py", "tests/probes/{kata}.py", "reference/{kata}/*.py", "reference/{kata}/*.toml")
OF_ALL = ("conftest.py", "reference/*.toml")
SHOWN = 16  # digits: 500 submissions are no attack on a digest
NOT_COMMITTED = "+"
RULES = (
    "conftest.py",
    *(f":(glob){folder}/**/*.{kind}" for folder in ("tests", "reference") for kind in ("py", "toml")),
)


@cached_by_course
def kata_digest(kata: str) -> str:
    """Of what the course says of a kata, as it was when this was first asked."""
    settings = (course().limits, course().languages, course().katas[kata].builds_on)
    return digest_of(rules_of(kata), course().root, repr(settings))[:SHOWN]


def rules_of(kata: str) -> list[Path]:
    """The files of the course that decide this kata's points, whatever its student hands in."""
    root = course().root
    asked = [path for pattern in OF_A_KATA for path in root.glob(pattern.format(kata=kata))]
    asked = [path for path in asked if not path.is_relative_to(course().reference) or not course().is_private(path)]
    shared = [path for pattern in OF_ALL for path in root.glob(pattern)]
    fallbacks = [course().fallback(name) for name in course().foundations(kata)]
    engine = (ENGINE / "torchkata", ENGINE / "grader")
    found = with_imports([*asked, *shared, *fallbacks])
    return sorted(
        path for path in found if path.is_relative_to(root) and not any(path.is_relative_to(one) for one in engine)
    )


def basis(files: Mapping[str, bytes], options: Mapping[str, object]) -> str:
    """Of what all katas of a submission have in common."""
    digest = hashlib.sha256(repr((sorted(options.items()), engine_digest())).encode())
    for name, content in sorted(files.items()):
        digest.update(f"{name}:{hashlib.sha256(content).hexdigest()};".encode())
    return digest.hexdigest()[:SHOWN]


@cached_by_course
def course_version() -> str:
    """The commit of the course, with a mark where what is asked is not committed; "" where it is no git checkout."""
    asked = (("rev-parse", "HEAD"), ("status", "--porcelain", "--", *RULES))
    command = ["git", "-C", str(course().root)]
    try:
        said = [subprocess.run([*command, *one], capture_output=True, text=True, check=True).stdout for one in asked]
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said[0].strip() + (NOT_COMMITTED if said[1] else "")
