"""The public API for timed workloads (`from torchkata import speed`).

A workload is a subclass of `Rate` that defines its sizes and tensors (`Field`), and returns one `Block` that runs the
student's code and one that runs plain torch code. A `Check` verifies the results. Names are imported when they are
first used, as in `torchkata`.
"""

from typing import TYPE_CHECKING, Any

from torchkata.inside.lazy import import_name

if TYPE_CHECKING:  # the list of the public names; `import_name` reads these lines from this file
    from torchkata.inside.speed.device import NAMES as NAMES
    from torchkata.inside.speed.freivalds import CHECK_BYTES as CHECK_BYTES
    from torchkata.inside.speed.freivalds import OWN_MARGIN as OWN_MARGIN
    from torchkata.inside.speed.freivalds import ROUNDING as ROUNDING
    from torchkata.inside.speed.freivalds import floor as floor
    from torchkata.inside.speed.freivalds import relative_error as relative_error
    from torchkata.inside.speed.layout import Field as Field
    from torchkata.inside.speed.layout import Memory as Memory
    from torchkata.inside.speed.layout import dtype_of as dtype_of
    from torchkata.inside.speed.seeded import SeededInputs as SeededInputs
    from torchkata.inside.speed.sizes import PRODUCT as PRODUCT
    from torchkata.inside.speed.sizes import Size as Size
    from torchkata.inside.speed.sizes import product_flops as product_flops
    from torchkata.inside.speed.workload import CRAWL as CRAWL
    from torchkata.inside.speed.workload import Block as Block
    from torchkata.inside.speed.workload import Check as Check
    from torchkata.inside.speed.workload import Measured as Measured
    from torchkata.inside.speed.workload import Rate as Rate

    from .datasheets import devices as devices


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    return import_name(__name__, name)
