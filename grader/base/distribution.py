"""The version and requirements of the installed distribution. A copied engine that is not installed has neither."""

from contextlib import suppress
from importlib import metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

NAME = "torchkata"


def get_version() -> str:
    """Return the version of the engine, or "0" if it was not installed."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(NAME)
    return "0"


def get_python_versions() -> SpecifierSet:
    """Return the supported versions of Python."""
    with suppress(metadata.PackageNotFoundError):
        return SpecifierSet(metadata.metadata(NAME)["Requires-Python"])
    return SpecifierSet()


def requirements(extra: str = "") -> list[str]:
    """Return the packages that the engine requires on this platform, including those of an extra."""
    try:
        needed = [Requirement(text) for text in metadata.requires(NAME) or ()]
    except metadata.PackageNotFoundError:
        return []
    chosen = [item for item in needed if item.marker is None or item.marker.evaluate({"extra": extra})]
    return sorted(f"{item.name}{item.specifier}" for item in chosen)
