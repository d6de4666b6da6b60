"""Mistakes about the roofline."""

from reference.misconceptions import instead_of
from reference.oracle import roofline as oracle


@instead_of(oracle.elementwise_work, "the result is not counted among the bytes")
def read_only(n: int, flops_each: int, itemsize: int) -> tuple[int, int]:
    """Read, never written."""
    return flops_each * n, n * itemsize


@instead_of(oracle.elementwise_work, "elements are counted in place of bytes")
def elements_of_vectors(n: int, flops_each: int, itemsize: int) -> tuple[int, int]:
    """Without the size of one."""
    return flops_each * n, 2 * n


@instead_of(oracle.elementwise_work, "an element takes 2 bytes in every dtype")
def always_two_bytes(n: int, flops_each: int, itemsize: int) -> tuple[int, int]:
    """As if all were bfloat16."""
    return flops_each * n, 4 * n


@instead_of(oracle.product_work, "the result is not counted among the bytes")
def products_read_only(m: int, k: int, n: int, itemsize: int) -> tuple[int, int]:
    """Read, never written."""
    return 2 * m * k * n, (m * k + k * n) * itemsize


@instead_of(oracle.product_work, "a sum of n products is counted with n - 1 additions; the convention is 2 · n")
def one_addition_less(m: int, k: int, n: int, itemsize: int) -> tuple[int, int]:
    """The first product is added to nothing."""
    return m * n * (2 * k - 1), (m * k + k * n + m * n) * itemsize


@instead_of(oracle.product_work, "only multiplications are counted, not the additions")
def without_additions(m: int, k: int, n: int, itemsize: int) -> tuple[int, int]:
    """One FLOP where there are two."""
    return m * k * n, (m * k + k * n + m * n) * itemsize


@instead_of(oracle.product_work, "elements are counted in place of bytes")
def elements_of_matrices(m: int, k: int, n: int, itemsize: int) -> tuple[int, int]:
    """Without the size of one."""
    return 2 * m * k * n, m * k + k * n + m * n


@instead_of(oracle.product_work, "the elements are read anew for each multiplication; each is to be counted once")
def read_for_each_product(m: int, k: int, n: int, itemsize: int) -> tuple[int, int]:
    """Without a cache."""
    return 2 * m * k * n, (2 * m * k * n + m * n) * itemsize


@instead_of(oracle.arithmetic_intensity, "it is upside down: bytes over FLOPs")
def upside_down(flops: int, moved: int) -> float:
    """Bytes for each FLOP."""
    return moved / flops


@instead_of(oracle.accelerator_intensity, "it is upside down: bytes/s over FLOP/s")
def device_upside_down(flop_per_sec: float, bytes_per_sec: float) -> float:
    """Bytes in the time of a FLOP."""
    return bytes_per_sec / flop_per_sec


@instead_of(oracle.attainable_mfu, "a device can't do more than its peak: 1 is the most")
def without_a_roof(intensity: float, accelerator: float) -> float:
    """The slope goes on."""
    return intensity / accelerator


@instead_of(oracle.attainable_mfu, "it is upside down: accelerator over intensity")
def falling(intensity: float, accelerator: float) -> float:
    """The more work for each byte, the worse."""
    return min(1.0, accelerator / intensity)


@instead_of(oracle.bound, "the two words have changed places")
def swapped(flops: float, moved: float, flop_per_sec: float, bytes_per_sec: float) -> str:
    """Compute-bound where memory is slower."""
    return "compute" if moved / bytes_per_sec > flops / flop_per_sec else "memory"
