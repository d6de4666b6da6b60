"""Promised FLOP/s: the figures of datasheets by exact name, and the share of them that was reached."""

from collections.abc import Callable

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.promised_flops import oracle
from tests.probes import promised_flops as probes
from torchkata import Plain, Student, assert_equal, assert_number, check, speed

TO_KNOW = [
    "Tesla T4",
    "NVIDIA A100-SXM4-80GB",
    "NVIDIA L40S",
    "NVIDIA H100 80GB HBM3",
    "NVIDIA H100 PCIe",
    "NVIDIA H200",
    "NVIDIA B200",
]
TABLE = {name: speed.devices()[name].tflops for name in TO_KNOW}
A_HUNDREDTH = 1e-2  # datasheets round: an H100 has 66.9, 67 or 67.5 TFLOP/s in float32
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


def assert_figures(student: Student, dtypes: list[str]) -> None:
    """Demand the figures of all devices that have one for these dtypes."""
    for name in TO_KNOW:
        for dtype in dtypes:
            if COLUMNS[dtype] in TABLE[name]:
                yours = student.call(probes.promised, name, dtype)
                assert_answer({"raised": [], "returned": [yours]}, name, dtype)


def assert_answer(reply: Plain, name: str, dtype: str, note: str = "") -> None:
    """Demand the table's figure, or that none is given."""
    expected = oracle.promised_flop_per_sec(name, COLUMNS[dtype], TABLE)
    if isinstance(expected, str):
        raised = reply["raised"]
        seen = f"{note}, and {raised[0]} is raised, which is no {expected}" if raised else f"{note}, and one is given"
        check(expected in raised, mistake=seen, yours=raised[0] if raised else "a figure", expected=f"a {expected}")
    elif expected is None:
        assert_equal(reply["returned"], [None])
    else:
        check(reply["returned"] != [], note, yours=reply["raised"])
        assert_number(reply["returned"][0], expected, relative=A_HUNDREDTH, what=f"FLOP/s in {dtype}")


def test_sixteen_bit_figures_are_dense(student: Student) -> None:
    """bfloat16 and float16 have the dense figure of the datasheet, in FLOP/s."""
    assert_figures(student, ["bfloat16", "float16"])


def test_float32_is_not_tf32(student: Student) -> None:
    """float32 has the figure of plain float32, not that of TF32."""
    assert_figures(student, ["float32"])


def test_eight_bit_figures_are_dense(student: Student) -> None:
    """Both float8 types have the dense figure of the datasheet, where there is one."""
    assert_figures(student, ["float8_e4m3fn", "float8_e5m2"])


@given(st.sampled_from(TO_KNOW), st.sampled_from(range(len(CHANGES))), st.sampled_from(["float32", "bfloat16"]))
def test_only_exact_names_are_known(student: Student, name: str, change: int, dtype: str) -> None:
    """A name that is not in the table raises a ValueError, however much it looks like one that is."""
    other = CHANGES[change](name)
    if other not in speed.devices():
        reply = student.call(probes.refused, other, dtype)
        assert_answer(reply, other, dtype, f"there is no device named {other!r}")


def test_types_without_a_figure_are_refused(student: Student) -> None:
    """A dtype for which the device's row has no figure raises a ValueError."""
    for name in TO_KNOW:
        for dtype in COLUMNS:
            if COLUMNS[dtype] not in TABLE[name]:
                reply = student.call(probes.refused, name, dtype)
                assert_answer(reply, name, dtype, f"the table has no figure for {dtype} on this device")


@given(st.floats(1, 1e20), st.floats(1e-6, 1e6), st.floats(1e9, 1e16))
def test_mfu_is_the_share_of_what_was_promised(student: Student, flops: float, seconds: float, promised: float) -> None:
    """mfu is flops / seconds, as a share of what was promised, and not cut off at 1."""
    assert_number(student.call(probes.mfu, flops, seconds, promised), oracle.mfu(flops, seconds, promised), what="mfu")
