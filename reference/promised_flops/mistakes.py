"""Mistakes in reading a datasheet."""

from reference.promised_flops import oracle
from reference.promised_flops.oracle import Answer, Table
from torchkata import instead_of

TENSOR_CORES = ("bf16", "fp16", "tf32", "fp8")
SXM, PCIE = "NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe"


def times(factor: float, answer: Answer) -> Answer:
    """A figure, so many times as large."""
    return factor * answer if isinstance(answer, float) else answer


def of_another(name: str | None, column: str, table: Table) -> Answer:
    """What is said of the device that a name is taken for."""
    return oracle.promised_flop_per_sec(name or "", column, table)


@instead_of(oracle.promised_flop_per_sec, "the figure is the one with sparsity, twice the dense one")
def with_sparsity(name: str, column: str, table: Table) -> Answer:
    return times(2 if column in TENSOR_CORES else 1, oracle.promised_flop_per_sec(name, column, table))


@instead_of(oracle.promised_flop_per_sec, "the 16-bit figure of the H100 is the one with sparsity, 1979; dense is half")
def h100_with_sparsity(name: str, column: str, table: Table) -> Answer:
    factor = 2 if name == SXM and column in ("bf16", "fp16") else 1
    return times(factor, oracle.promised_flop_per_sec(name, column, table))


@instead_of(oracle.promised_flop_per_sec, "the figure is in TFLOP/s, not in FLOP/s")
def in_tera(name: str, column: str, table: Table) -> Answer:
    return times(1e-12, oracle.promised_flop_per_sec(name, column, table))


@instead_of(oracle.promised_flop_per_sec, "float32 has the figure of TF32")
def tf32(name: str, column: str, table: Table) -> Answer:
    column = "tf32" if column == "fp32" and "tf32" in table.get(name, {}) else column
    return oracle.promised_flop_per_sec(name, column, table)


@instead_of(oracle.promised_flop_per_sec, "float32 has the figure of the 16-bit types")
def float32_like_sixteen_bits(name: str, column: str, table: Table) -> Answer:
    return oracle.promised_flop_per_sec(name, "fp16" if column == "fp32" else column, table)


@instead_of(
    oracle.promised_flop_per_sec, "float8 has the figure of the 16-bit types; with half the bits it is twice as fast"
)
def float8_like_sixteen_bits(name: str, column: str, table: Table) -> Answer:
    right = oracle.promised_flop_per_sec(name, column, table)
    return oracle.promised_flop_per_sec(name, "fp16", table) if column == "fp8" and right != "ValueError" else right


@instead_of(oracle.promised_flop_per_sec, "the H100 PCIe has the figures of the H100 with HBM3, which is faster")
def pcie_like_sxm(name: str, column: str, table: Table) -> Answer:
    return oracle.promised_flop_per_sec(SXM if name == PCIE else name, column, table)


@instead_of(oracle.promised_flop_per_sec, "a dtype without a figure gets that of float32 instead of a ValueError")
def float32_by_default(name: str, column: str, table: Table) -> Answer:
    return oracle.promised_flop_per_sec(name, column if column in table.get(name, {}) else "fp32", table)


@instead_of(
    oracle.promised_flop_per_sec,
    "a figure is given for bfloat16 on the Tesla T4, whose tensor cores don't know that dtype",
)
def t4_with_bfloat16(name: str, column: str, table: Table) -> Answer:
    return oracle.promised_flop_per_sec(name, "fp16" if (name, column) == ("Tesla T4", "bf16") else column, table)


@instead_of(oracle.promised_flop_per_sec, "a part of a name is enough; the whole name counts")
def part_of_a_name(name: str, column: str, table: Table) -> Answer:
    return of_another(next((known for known in table if known in name or name in known), None), column, table)


@instead_of(oracle.promised_flop_per_sec, "what comes after a name that is known is passed over; the whole name counts")
def beginning_of_a_name(name: str, column: str, table: Table) -> Answer:
    return of_another(next((known for known in table if name.startswith(known)), None), column, table)


@instead_of(oracle.promised_flop_per_sec, "upper and lower case are taken for the same")
def any_case(name: str, column: str, table: Table) -> Answer:
    return of_another(next((known for known in table if known.lower() == name.lower()), None), column, table)


@instead_of(oracle.promised_flop_per_sec, "an unknown name raises the dict's KeyError, not a ValueError")
def key_error(name: str, column: str, table: Table) -> Answer:
    return oracle.promised_flop_per_sec(name, column, table) if name in table else "KeyError"


@instead_of(oracle.promised_flop_per_sec, "None is returned for an unknown name; a ValueError should be raised")
def none_for_unknown_names(name: str, column: str, table: Table) -> Answer:
    return oracle.promised_flop_per_sec(name, column, table) if name in table else None


@instead_of(oracle.mfu, "it is upside down: promised over reached")
def upside_down(flops: float, seconds: float, promised: float) -> float:
    return promised * seconds / flops


@instead_of(oracle.mfu, "what is more than 1 is cut off")
def cut_off(flops: float, seconds: float, promised: float) -> float:
    return min(1.0, flops / seconds / promised)


@instead_of(oracle.mfu, "the seconds multiply where they should divide")
def times_seconds(flops: float, seconds: float, promised: float) -> float:
    return flops * seconds / promised


@instead_of(oracle.mfu, "mfu is in percent, not a share of 1")
def in_percent(flops: float, seconds: float, promised: float) -> float:
    return 100 * oracle.mfu(flops, seconds, promised)


@instead_of(oracle.mfu, "mfu is rounded to three digits; what is small becomes 0")
def rounded(flops: float, seconds: float, promised: float) -> float:
    return round(oracle.mfu(flops, seconds, promised), 3)
