"""The export formats of `grader export`. Each module is named after a format and defines `EXPORTER`."""

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.output.exporter import Exporter


def format_names() -> list[str]:
    """Return the names of all formats without importing their modules."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_exporter(name: str) -> "Exporter":
    """Import the module of a format, and return its exporter."""
    exporter: Exporter = import_module(f"{__name__}.{name}").EXPORTER
    return exporter
