"""The public API for timed workloads (`from torchkata import speed`).

A workload is a subclass of `Rate` that defines its sizes and tensors (`Field`), and returns one `Block` that runs the
student's code and one that runs plain torch code. A `Check` verifies the results. Names are imported lazily, as in
`torchkata`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .datasheets import NAMES, devices
    from .freivalds import floor, relative_error
    from .layout import Field, Memory, dtype_of
    from .seeded import SeededInputs
    from .sizes import PRODUCT, Size, product_flops
    from .workload import CRAWL, Block, Check, Measured, Rate

__all__ = [
    "CRAWL",
    "NAMES",
    "PRODUCT",
    "Block",
    "Check",
    "Field",
    "Measured",
    "Memory",
    "Rate",
    "SeededInputs",
    "Size",
    "devices",
    "dtype_of",
    "floor",
    "product_flops",
    "relative_error",
]

_MODULES = {
    "datasheets": ("NAMES", "devices"),
    "freivalds": ("floor", "relative_error"),
    "layout": ("Field", "Memory", "dtype_of"),
    "seeded": ("SeededInputs",),
    "sizes": ("PRODUCT", "Size", "product_flops"),
    "workload": ("CRAWL", "Block", "Check", "Measured", "Rate"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'torchkata.speed' has no attribute {name!r}")
    value = getattr(import_module(f"torchkata.speed.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
