"""What the installed distribution says that it needs; nothing where the engine is a copy that nobody installed."""

from importlib import metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

NAME = "torchkata"


def pythons() -> SpecifierSet:
    """The versions of Python that the engine runs on."""
    try:
        return SpecifierSet(metadata.metadata(NAME)["Requires-Python"])
    except metadata.PackageNotFoundError:
        return SpecifierSet()


def requirements(extra: str = "") -> list[str]:
    """What the engine imports on this platform, with the part of it that an extra names."""
    try:
        needed = [Requirement(text) for text in metadata.requires(NAME) or ()]
    except metadata.PackageNotFoundError:
        return []
    chosen = [one for one in needed if one.marker is None or one.marker.evaluate({"extra": extra})]
    return sorted(f"{one.name}{one.specifier}" for one in chosen)
