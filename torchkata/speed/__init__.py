"""The public API for timed workloads (`from torchkata import speed`).

A workload is a subclass of `Rate` that defines its sizes and tensors (`Field`), and returns one `Block` that runs the
student's code and one that runs plain torch code. A `Check` verifies the results. Names are imported lazily, as in
`torchkata`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchkata.inside.speed.device import NAMES
    from torchkata.inside.speed.freivalds import CHECK_BYTES, OWN_MARGIN, ROUNDING, floor, relative_error
    from torchkata.inside.speed.layout import Field, Memory, dtype_of
    from torchkata.inside.speed.seeded import SeededInputs
    from torchkata.inside.speed.sizes import PRODUCT, Size, product_flops
    from torchkata.inside.speed.workload import CRAWL, Block, Check, Measured, Rate

    from .datasheets import devices

__all__ = [
    "CHECK_BYTES",
    "CRAWL",
    "NAMES",
    "OWN_MARGIN",
    "PRODUCT",
    "ROUNDING",
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
    "speed.datasheets": ("devices",),
    "inside.speed.device": ("NAMES",),
    "inside.speed.freivalds": ("CHECK_BYTES", "OWN_MARGIN", "ROUNDING", "floor", "relative_error"),
    "inside.speed.layout": ("Field", "Memory", "dtype_of"),
    "inside.speed.seeded": ("SeededInputs",),
    "inside.speed.sizes": ("PRODUCT", "Size", "product_flops"),
    "inside.speed.workload": ("CRAWL", "Block", "Check", "Measured", "Rate"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'torchkata.speed' has no attribute {name!r}")
    value = getattr(import_module(f"torchkata.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
