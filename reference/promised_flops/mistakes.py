"""Common mistakes in promised_flops."""

from reference.promised_flops import oracle
from reference.promised_flops.oracle import Answer, Table
from torchkata import instead_of

TENSOR_CORES = ("bf16", "fp16", "tf32", "fp8")
SXM = "NVIDIA H100 80GB HBM3"


def scale(factor: float, answer: Answer) -> Answer:
    """Multiply a datasheet value by a factor, and leave other answers unchanged."""
    return factor * answer if isinstance(answer, float) else answer


def look_up(name: str | None, column: str, table: Table) -> Answer:
    """Return the answer for the wrong device that a mistake uses in place of the given one."""
    return oracle.promised_flop_per_sec(name or "", column, table)


@instead_of(oracle.promised_flop_per_sec, "returns the value with sparsity, twice the dense value")
def with_sparsity(name: str, column: str, table: Table) -> Answer:
    return scale(2 if column in TENSOR_CORES else 1, oracle.promised_flop_per_sec(name, column, table))


@instead_of(oracle.promised_flop_per_sec, "halves the float32 value, too: only the values marked * are with sparsity")
def half_of_float32(name: str, column: str, table: Table) -> Answer:
    return scale(0.5 if column == "fp32" else 1, oracle.promised_flop_per_sec(name, column, table))


@instead_of(
    oracle.promised_flop_per_sec, "returns the H100's 16-bit value with sparsity, 1979: the dense value is half of it"
)
def h100_with_sparsity(name: str, column: str, table: Table) -> Answer:
    factor = 2 if name == SXM and column in ("bf16", "fp16") else 1
    return scale(factor, oracle.promised_flop_per_sec(name, column, table))


@instead_of(oracle.promised_flop_per_sec, "returns TFLOP/s instead of FLOP/s")
def in_tera(name: str, column: str, table: Table) -> Answer:
    return scale(1e-12, oracle.promised_flop_per_sec(name, column, table))


@instead_of(oracle.promised_flop_per_sec, "returns the TF32 value for float32")
def tf32(name: str, column: str, table: Table) -> Answer:
    column = "tf32" if column == "fp32" and "tf32" in table.get(name, {}) else column
    return oracle.promised_flop_per_sec(name, column, table)


@instead_of(
    oracle.promised_flop_per_sec, "returns the 16-bit value for float32, which is also that of TF32 with sparsity"
)
def float32_like_sixteen_bits(name: str, column: str, table: Table) -> Answer:
    return oracle.promised_flop_per_sec(name, "fp16" if column == "fp32" else column, table)


@instead_of(oracle.promised_flop_per_sec, "returns the 16-bit value for float8, which is twice as fast")
def float8_like_sixteen_bits(name: str, column: str, table: Table) -> Answer:
    right = oracle.promised_flop_per_sec(name, column, table)
    return oracle.promised_flop_per_sec(name, "fp16", table) if column == "fp8" and right != "ValueError" else right


@instead_of(
    oracle.promised_flop_per_sec,
    "returns the float32 value for a dtype that is not in the table instead of raising a ValueError",
)
def float32_by_default(name: str, column: str, table: Table) -> Answer:
    return oracle.promised_flop_per_sec(name, column if column in table.get(name, {}) else "fp32", table)


@instead_of(oracle.promised_flop_per_sec, "accepts names that match only in part: compare whole names")
def part_of_a_name(name: str, column: str, table: Table) -> Answer:
    return look_up(next((known for known in table if known in name or name in known), None), column, table)


@instead_of(oracle.promised_flop_per_sec, "accepts a name that only begins with a known one: compare whole names")
def beginning_of_a_name(name: str, column: str, table: Table) -> Answer:
    return look_up(next((known for known in table if name.startswith(known)), None), column, table)


@instead_of(oracle.promised_flop_per_sec, "ignores case when comparing names")
def any_case(name: str, column: str, table: Table) -> Answer:
    return look_up(next((known for known in table if known.lower() == name.lower()), None), column, table)


@instead_of(oracle.promised_flop_per_sec, "raises a KeyError for an unknown name instead of a ValueError")
def key_error(name: str, column: str, table: Table) -> Answer:
    return oracle.promised_flop_per_sec(name, column, table) if name in table else "KeyError"


@instead_of(oracle.promised_flop_per_sec, "returns None for an unknown name instead of raising a ValueError")
def none_for_unknown_names(name: str, column: str, table: Table) -> Answer:
    return oracle.promised_flop_per_sec(name, column, table) if name in table else None


@instead_of(oracle.mfu, "returns promised / achieved instead of achieved / promised")
def upside_down(flops: float, seconds: float, promised: float) -> float:
    return promised * seconds / flops


@instead_of(oracle.mfu, "clips the MFU at 1")
def cut_off(flops: float, seconds: float, promised: float) -> float:
    return min(1.0, flops / seconds / promised)


@instead_of(oracle.mfu, "multiplies by the seconds instead of dividing by them")
def times_seconds(flops: float, seconds: float, promised: float) -> float:
    return flops * seconds / promised


@instead_of(oracle.mfu, "returns a percentage instead of a fraction")
def in_percent(flops: float, seconds: float, promised: float) -> float:
    return 100 * oracle.mfu(flops, seconds, promised)


@instead_of(oracle.mfu, "rounds to three decimal places, so a small MFU becomes 0")
def rounded(flops: float, seconds: float, promised: float) -> float:
    return round(oracle.mfu(flops, seconds, promised), 3)


@instead_of(oracle.speedup, "returns the ratio of the MFUs, as if both dtypes had the same promised FLOP/s")
def ratio_of_mfus(name: str, mfu_float32: float, mfu_bfloat16: float, table: Table) -> float:
    return mfu_bfloat16 / mfu_float32


@instead_of(oracle.speedup, "ignores the MFUs, as if the promised FLOP/s were achieved")
def ratio_of_peaks(name: str, mfu_float32: float, mfu_bfloat16: float, table: Table) -> float:
    return oracle.speedup(name, 1, 1, table)


@instead_of(oracle.speedup, "returns the speedup of float32 over bfloat16")
def slowdown(name: str, mfu_float32: float, mfu_bfloat16: float, table: Table) -> float:
    return 1 / oracle.speedup(name, mfu_float32, mfu_bfloat16, table)


@instead_of(oracle.speedup, "divides by the MFU in bfloat16 and multiplies by the MFU in float32")
def mfus_exchanged(name: str, mfu_float32: float, mfu_bfloat16: float, table: Table) -> float:
    return oracle.speedup(name, mfu_bfloat16, mfu_float32, table)


@instead_of(oracle.speedup, "ignores mfu_{which}", which=["float32", "bfloat16"])
def one_mfu_ignored(name: str, mfu_float32: float, mfu_bfloat16: float, table: Table, *, which: str) -> float:
    used = {"float32": mfu_float32, "bfloat16": mfu_bfloat16, which: 1.0}
    return oracle.speedup(name, used["float32"], used["bfloat16"], table)


@instead_of(oracle.speedup, "multiplies by both MFUs: divide by the MFU in float32")
def mfus_multiplied(name: str, mfu_float32: float, mfu_bfloat16: float, table: Table) -> float:
    return oracle.speedup(name, 1 / mfu_float32, mfu_bfloat16, table)


@instead_of(oracle.speedup, "returns twice the ratio of the MFUs, as if bfloat16 promised twice the FLOP/s of float32")
def twice_for_half_the_bits(name: str, mfu_float32: float, mfu_bfloat16: float, table: Table) -> float:
    return 2 * mfu_bfloat16 / mfu_float32
