"""Digests of everything that a result depends on. A stored result or proof is reused only if its digest is unchanged.

    digest_engine    the files of `torchkata/` and `grader/` without its tests, and the versions of Python and libraries
    digest_course    the engine, and the course's files with tests, settings and points
    digest_kata      the course's files that affect the points of a kata, their imports, and the course's settings
    digest_result    the course, the options of the grading and the submission: the fingerprint of a result
    digest_basis     the engine, the rules for findings, the options and the submission: shared by all katas of a result
    digest_proof     everything that a claim of `grader certify` runs: files, imports, platform, versions, inputs
    digest_call      the course, the options and the submissions of one run on a cluster

`digest_result`, `digest_basis` and `digest_kata` are used for regrading, `digest_proof` for the cache of proven claims,
and `digest_call` for the record of jobs on a cluster. Each file is read only once per process.
"""

import contextlib
import hashlib
import platform
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from grader.base.imports import follow_imports, module_path
from torchkata.course import ENGINE, Kata, cached_by_course, course

LIBRARIES = ("numpy", "hypothesis", "pytest")  # in addition to the libraries preloaded by the course
SHORT = 16  # number of digits, which is enough within a class, because an attack would gain nothing from a collision

ENGINE_FILES = tuple(f"{package}/**/*.{kind}" for package in ("torchkata", "grader") for kind in ("py", "toml", "po"))
GRADING_FILES = (
    *(f"torchkata/{room}/*.py" for room in ("compare", "diagnosis", "pytest_plugin", "seam")),
    "torchkata/inside/**/*.py",
    "grader/pipeline/session.py",
    "grader/pipeline/setup.py",
    "grader/sandbox/**/*.py",
)
FINDINGS = ("reference/lint.toml",)
KATA_FILES = (
    *("conftest.py", "tests/test_{kata}.py", "tests/probes/{kata}.py", "reference/{kata}/*.py"),
    "reference/{kata}/hidden.toml",
)
KATA_SETTINGS = ("reference/{kata}/*.toml", "reference/{kata}/*.po", "reference/*.toml", "reference/*.po")


def digest(*parts: object) -> str:
    """Return the digest of plain values: strings, numbers, and tuples, lists and dicts of them."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@cache
def digest_file(path: Path) -> str:
    """Return the digest of the content of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest_files(paths: Iterable[Path]) -> str:
    """Return the digest of the contents and paths of these files, regardless of their order."""
    return digest(sorted((module_path(path).as_posix(), digest_file(path)) for path in paths))


def digest_submission(files: Mapping[str, bytes]) -> str:
    """Return the digest of the files of a submission."""
    return digest(sorted((name, hashlib.sha256(content).hexdigest()) for name, content in files.items()))


@cached_by_course
def digest_engine() -> str:
    """Return the digest of the files and versions that affect scores in any course."""
    files = [path for path in find_files(ENGINE, ENGINE_FILES) if ENGINE / "grader/tests" not in path.parents]
    return digest(versions(), digest_files(files))


@cached_by_course
def digest_course() -> str:
    """Return the digest of everything that affects a score, except the submission and the options."""
    return digest(digest_engine(), digest_files([*course().rules(), *find_files(course().root, FINDINGS)]))


@cached_by_course
def digest_kata(kata: str) -> str:
    """Return the digest of the course files and settings that belong to a kata."""
    settings = (course().limits, course().languages, course().katas[kata].builds_on)
    return digest(settings, digest_files(find_kata_files(kata)))[:SHORT]


def digest_result(files: Mapping[str, bytes], options: Mapping[str, object]) -> str:
    """Return the fingerprint of the result of a submission."""
    return f"sha256:{digest(sorted(options.items()), digest_course(), digest_submission(files))}"


def digest_basis(files: Mapping[str, bytes], options: Mapping[str, object]) -> str:
    """Return the digest of everything that the findings and all katas of a submission depend on."""
    findings = digest_files(find_files(course().root, FINDINGS))
    return digest(sorted(options.items()), digest_engine(), findings, digest_submission(files))[:SHORT]


def digest_proof(
    katas: Sequence[Kata], files: Mapping[str, bytes], known_good: Collection[str], options: Sequence[object]
) -> str:
    """Return the digest of everything that affects the results of these katas of a submission.

    Of the submission's files, only those of these katas and of the katas that they build on are included.
    """
    names = {kata.name for kata in katas}
    needed = sorted({*names, *(name for kata in names for name in course().prerequisites(kata))})
    given = {name: content for name, content in files.items() if name.removesuffix(".py") in needed}
    points = [(kata.name, [*kata.points], digest_grading(kata.name)) for kata in katas]
    good = [name for name in needed if name in known_good]
    return digest(environment(), points, needed, good, digest_submission(given), options)


@cached_by_course
def digest_grading(kata: str) -> str:
    """Return the digest of all files of the engine and of the course that are used to grade a kata."""
    roots = [*find_files(ENGINE, GRADING_FILES), *find_files(course().root, KATA_FILES, kata)]
    roots = [path for path in roots if path.name != "solution.py"]  # the solution is graded like a submission
    roots += [course().fallback(name) for name in course().prerequisites(kata)]
    return digest(course().preload, digest_files(follow_imports(roots)))


def digest_call(options: Mapping[str, object], submissions: Iterable[tuple[str, Path]]) -> str:
    """Return the digest of a run on a cluster. `submissions` are pairs of an id and a path."""
    return digest(
        sorted(options.items()), digest_course(), [(name, str(path.absolute())) for name, path in submissions]
    )


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


def find_kata_files(kata: str) -> list[Path]:
    """Return the files of the course that affect the points of a kata."""
    files = find_files(course().root, (*KATA_FILES, *KATA_SETTINGS), kata)
    files = [path for path in files if not path.is_relative_to(course().reference) or course().affects_points(path)]
    fallbacks = [course().fallback(name) for name in course().prerequisites(kata)]
    engine = (ENGINE / "torchkata", ENGINE / "grader")
    return sorted(
        path
        for path in follow_imports([*files, *fallbacks])
        if path.is_relative_to(course().root) and not any(path.is_relative_to(one) for one in engine)
    )


def find_files(root: Path, patterns: Iterable[str], kata: str = "") -> list[Path]:
    """Return the files below a folder that match any of these patterns."""
    return [path for pattern in patterns for path in root.glob(pattern.format(kata=kata)) if path.is_file()]
