"""The public API for timed workloads (`from torchkata import speed`).

A workload is a subclass of `Rate` that defines its sizes and tensors (`Field`), and returns one `Block` that runs the
student's code and one that runs plain torch code. A `Check` verifies the results. Names are imported when they are
first used, as in `torchkata`.
"""

from typing import TYPE_CHECKING, Any

from torchkata.lazy import import_name

if TYPE_CHECKING:  # the list of the public names, which `import_name` reads
    from .datasheets import NAMES as NAMES
    from .datasheets import devices as devices
    from .freivalds import floor as floor
    from .freivalds import relative_error as relative_error
    from .layout import Field as Field
    from .layout import Memory as Memory
    from .layout import dtype_of as dtype_of
    from .seeded import SeededInputs as SeededInputs
    from .sizes import PRODUCT as PRODUCT
    from .sizes import Size as Size
    from .sizes import product_flops as product_flops
    from .workload import CRAWL as CRAWL
    from .workload import Block as Block
    from .workload import Check as Check
    from .workload import Measured as Measured
    from .workload import Rate as Rate


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    return import_name(__name__, name)
