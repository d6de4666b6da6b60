"""Tests for promised_flops."""

from collections.abc import Callable

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.promised_flops import oracle
from tests.probes import promised_flops as probes
from torchkata import Plain, Student, Text, assert_equal, assert_number, check, speed

DEVICES = ["NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "NVIDIA B200"]
TABLE = {name: speed.devices()[name].tflops for name in DEVICES}
A_HUNDREDTH = 1e-2  # datasheets round differently: an H100 has 66.9, 67 or 67.5 TFLOP/s in float32
DTYPES = [*speed.NAMES, torch.float64, torch.int8, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]
COLUMNS = {str(dtype).removeprefix("torch."): speed.NAMES.get(dtype, "") for dtype in DTYPES}
CHANGES: list[Callable[[str], str]] = [
    str.lower,
    lambda name: name.partition(" ")[2],
    lambda name: name.rpartition(" ")[0],
    lambda name: name[:-1],
    lambda name: f"{name} ",
    lambda name: f"{name} MIG 1g.10gb",
    lambda _: "",
    lambda _: "NVIDIA H100",
    lambda _: "cpu",
]


def assert_values_of_all_devices(student: Student, dtypes: list[str]) -> None:
    """Check the values of all devices for the given dtypes."""
    for name in DEVICES:
        for dtype in dtypes:
            if COLUMNS[dtype] in TABLE[name]:
                yours = student.call(probes.promised, name, dtype)
                assert_answer({"raised": [], "returned": [yours]}, name, dtype)


def assert_answer(reply: Plain, name: str, dtype: str, note: Text | str = "") -> None:
    """Check that the result is the table's value, or that the exception is raised if there is none."""
    expected = oracle.promised_flop_per_sec(name, COLUMNS[dtype], TABLE)
    if isinstance(expected, str):
        raised = reply["raised"]
        seen = (
            Text("{note}: raises {error} instead of {wanted}", note=note, error=raised[0], wanted=expected)
            if raised
            else Text("{note}: returns a value instead of raising", note=note)
        )
        check(
            expected in raised,
            mistake=seen,
            yours=reply["errors"][0] if raised else reply["returned"][0],
            expected=Text("a {kind}Error", kind=expected.removesuffix("Error")),
        )
    elif expected is None:
        assert_equal(reply["returned"], [None])
    else:
        check(reply["returned"] != [], note, yours=reply["raised"])
        assert_number(reply["returned"][0], expected, relative=A_HUNDREDTH, what=Text("FLOP/s in {dtype}", dtype=dtype))


def test_sixteen_bit_peaks_are_dense(student: Student) -> None:
    """For bfloat16 and float16, the result is the dense value from the datasheet, in FLOP/s."""
    assert_values_of_all_devices(student, ["bfloat16", "float16"])


def test_float32_is_not_tf32(student: Student) -> None:
    """For float32, the result is the float32 value in the table, not the TF32 value, in FLOP/s."""
    assert_values_of_all_devices(student, ["float32"])


def test_eight_bit_peaks_are_dense(student: Student) -> None:
    """For both float8 dtypes, the result is the dense value from the datasheet, if there is one, in FLOP/s."""
    assert_values_of_all_devices(student, ["float8_e4m3fn", "float8_e5m2"])


@given(st.sampled_from(DEVICES), st.sampled_from(range(len(CHANGES))), st.sampled_from(["float32", "bfloat16"]))
def test_unknown_names_raise(student: Student, name: str, change: int, dtype: str) -> None:
    """A name that is not in the table raises a ValueError, even if it is similar to a name in the table."""
    other = CHANGES[change](name)
    if other not in speed.devices():
        reply = student.call(probes.call_without_value, other, dtype)
        assert_answer(reply, other, dtype, Text("the table has no device named {name}", name=repr(other)))


def test_dtypes_missing_from_table_raise(student: Student) -> None:
    """If the table has no value for the device in this dtype, a ValueError is raised."""
    for name in DEVICES:
        for dtype in COLUMNS:
            if COLUMNS[dtype] not in TABLE[name]:
                reply = student.call(probes.call_without_value, name, dtype)
                assert_answer(
                    reply, name, dtype, Text("the table has no value for {dtype} on this device", dtype=dtype)
                )


@given(st.floats(1, 1e20), st.floats(1e-6, 1e6), st.floats(1e9, 1e16))
def test_mfu_divides_by_promised_flops(student: Student, flops: float, seconds: float, promised: float) -> None:
    """mfu returns flops / seconds / promised, and does not clip the result at 1."""
    yours = student.call("promised_flops.mfu", flops, seconds, promised)
    assert_number(yours, oracle.mfu(flops, seconds, promised), what="mfu")


@given(st.sampled_from(DEVICES), st.floats(0.01, 1), st.floats(0.01, 1))
def test_bfloat16_speedup_is_ratio_of_achieved_flop_rates(
    student: Student, name: str, mfu_float32: float, mfu_bfloat16: float
) -> None:
    """bfloat16_speedup is MFU · dense FLOP/s of the datasheet in bfloat16, divided by the same in float32."""
    yours = student.call(probes.speedup, name, mfu_float32, mfu_bfloat16)
    expected = oracle.speedup(name, mfu_float32, mfu_bfloat16, TABLE)
    assert_number(yours, expected, relative=2 * A_HUNDREDTH, what=Text("speedup"))
