"""The public API of torchkata, for the tests, probes and mistakes of a course.

A course may import only these names (`from torchkata import Student, assert_close`). Every other module of `torchkata`
and `grader` is private and may change in any release. Before a public name is removed, it is deprecated for one minor
release with a `DeprecationWarning` that names its replacement.

Names are imported lazily because a sandboxed worker has only some of the modules, and because `kata --help` should not
import pytest or torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from . import speed
    from .compare.assertions import as_float64, asking, assert_close, assert_equal, check, precondition, require, same
    from .compare.numbers import assert_count, assert_number
    from .compare.repro_code import literal
    from .compare.show import show
    from .diagnosis.mistakes import Mistake, instead_of
    from .inside.probes import call_methods, typed
    from .inside.torch_internals import DispatchMode
    from .inside.values import Plain
    from .seam.student import Student

__all__ = [
    "DispatchMode",
    "Mistake",
    "Plain",
    "Student",
    "as_float64",
    "asking",
    "assert_close",
    "assert_count",
    "assert_equal",
    "assert_number",
    "call_methods",
    "check",
    "instead_of",
    "literal",
    "precondition",
    "require",
    "same",
    "show",
    "speed",
    "typed",
]

_MODULES = {
    "compare.assertions": (
        *("as_float64", "asking", "assert_close", "assert_equal", "check", "precondition", "require", "same"),
    ),
    "compare.numbers": ("assert_count", "assert_number"),
    "compare.repro_code": ("literal",),
    "compare.show": ("show",),
    "inside.torch_internals": ("DispatchMode",),
    "diagnosis.mistakes": ("Mistake", "instead_of"),
    "inside.probes": ("call_methods", "typed"),
    "seam.student": ("Student",),
    "inside.values": ("Plain",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    if name == "speed":
        return import_module("torchkata.speed")
    if name not in _HOMES:
        raise AttributeError(f"module 'torchkata' has no attribute {name!r}")
    value = getattr(import_module(f"torchkata.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Register the `%kata` and `%%kata` magics. IPython calls this function for `%load_ext torchkata`."""
    import_module("torchkata.notebook.magic").register(shell)
