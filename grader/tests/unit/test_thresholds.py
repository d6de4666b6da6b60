"""Tests that the GPU thresholds catch the mistakes listed in docs/evidence/thresholds.md, according to the roofline."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

import pytest
import torch

from grader.tests import ROOT
from torchkata.course import course
from torchkata.inside.speed.device import Device
from torchkata.inside.speed.sizes import Size, product_flops
from torchkata.inside.speed.workload import work_of
from torchkata.speed.bench import DEMANDS
from torchkata.speed.datasheets import devices
from torchkata.speed.decision import TIERS, as_ratios, thresholds_on
from torchkata.speed.memory import SHARE_OF_GPU, bytes_for, fit

MARGIN = 0.05  # amount by which a ratio may differ without changing the outcome
DEVICES = ("NVIDIA H100 80GB HBM3", "NVIDIA H200", "NVIDIA H100 PCIe", "NVIDIA A100-SXM4-80GB")
CEILINGS = (0.70, 0.81)  # the range of the MFU of a plain product on devices with thresholds in MFU
COPY_SHARE = 0.9  # fraction of the datasheet's bandwidth that copies reach
HOST_MS = {  # for a batch on one core, measured; the first is the baseline's gather
    "one gather of a sliding window": 2.9,
    "index arithmetic": 5.05,
    "`torch.stack` of slices": 5.11,
}
COPY_MS = 1.5  # for a batch in pageable memory, which begins when the device has finished the product before
GIB = {  # memory as reported by the driver
    "Tesla T4": 14.6,
    "Tesla V100-SXM2-16GB": 15.8,
    "NVIDIA L4": 22.0,
    "NVIDIA GeForce RTX 4090": 23.5,
    "NVIDIA A100-SXM4-40GB": 39.4,
    "NVIDIA H100 80GB HBM3": 79.1,
    "NVIDIA H200": 139.8,
    "NVIDIA B200": 178.4,
}
Case: TypeAlias = tuple[str, str, float, str]  # workload, code, ratio to the baseline, tier


def list_cases(on: Device, ceiling: float) -> list[Case]:
    """Return the cases that the roofline predicts for a device on which a plain matmul reaches the given MFU."""
    peaks, linear = on.tflops, work_of("linear_forward").sizes["cuda"]
    B, D, K = linear.batch, linear.width, linear.outputs
    product = flops_of("linear_forward") / (ceiling * peaks["bf16"] * 1e12)

    def copy(moved: float) -> float:
        return product / (product + moved / (COPY_SHARE * on.bandwidth))

    result, inputs = 2 * 2 * B * K, 2 * 2 * (B * D + D * K)  # bytes of copying y; of copying x and the weight
    step, whole = 11, {"cruncher_step": 12, "train_throughput": 12}  # products of a step; of a step with x's gradient

    def move(workload: str, code: str, per_parameter: int, tier: str) -> Case:
        moves: int = getattr(work_of(workload), "moves")  # noqa: B009
        return workload, code, 4 * moves / per_parameter, tier

    return [
        *(list_batches(product) if on.mfu else []),  # on slower devices, a copy that waits costs less than a tenth
        ("linear_forward", "one product, and a copy of the result", copy(result), "full"),
        ("linear_forward", "copies x and the weight in each call", copy(inputs), "full"),
        ("linear_forward", "TF32", peaks["tf32"] / peaks["bf16"], "failed"),
        ("linear_forward", "float32", peaks["fp32"] / peaks["bf16"], "failed"),
        ("linear_forward", "the product twice", 1 / 2, "failed"),
        ("cruncher_step", "TF32", peaks["tf32"] / peaks["bf16"], "failed"),
        ("cruncher_step", "float32", peaks["fp32"] / peaks["bf16"], "failed"),
        ("cruncher_step", "the whole step twice", 1 / 2, "failed"),
        *((name, "the gradient of x, too", step / products, "full") for name, products in whole.items()),
        ("train_throughput", "each step's gradients twice", 1 / 2, "failed"),
        move("sgd_step", "`p.add_(grad, alpha=-lr)`", 12, "full"),
        move("sgd_step", "`p -= lr * grad`", 20, "passing"),
        move("sgd_step", "copies p and grad, then `p -= lr * grad`", 36, "failed"),
        move("adagrad_step", "`addcmul_`, `add`, `sqrt_`, `addcdiv_`", 44, "full"),
        move("adagrad_step", "the formula, one operation after the other", 68, "passing"),
        move("adagrad_step", "the formula with copies of p, grad and g2", 92, "failed"),
    ]


def list_batches(product: float) -> Iterator[Case]:
    """Return the cases of `get_batch`, if the product behind which a batch can hide takes this many seconds."""
    shown = 1e3 * product
    for code, host in HOST_MS.items():
        yield "get_batch_throughput", f"{code}, pinned", shown / max(shown, host), "full"
    for code, host in HOST_MS.items():
        yield "get_batch_throughput", f"{code}, and a copy that waits", shown / (max(shown, host) + COPY_MS), "passing"


def flops_of(workload: str) -> float:
    """Return the FLOPs of one call on a GPU."""
    work = work_of(workload)
    return work.amount(work.sizes["cuda"])


def judge(workload: str, ratio: float, on: Device, ceiling: float) -> str:
    """Return the tier that a ratio reaches."""
    entry = course().workloads[workload]
    thresholds, peak = thresholds_on(on, "cuda", entry, torch.bfloat16)
    needed = as_ratios(thresholds, peak, ceiling * (peak or 1))
    return next((tier for tier in TIERS if ratio >= getattr(needed, tier)), "failed")


def test_get_batch_hides_behind_a_long_product() -> None:
    width = work_of("get_batch_throughput").sizes["cuda"].width
    assert product_flops(width, width, width) == flops_of("linear_forward")


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("ceiling", CEILINGS)
def test_thresholds_separate_mistakes_with_a_margin(name: str, ceiling: float) -> None:
    on = devices()[name]
    for workload, code, ratio, tier in list_cases(on, ceiling):
        for changed in (ratio * (1 - MARGIN), ratio * (1 + MARGIN)):
            assert judge(workload, changed, on, ceiling) == tier, f"{workload}: {code}"


def read_table(heading: str) -> Mapping[str, list[str]]:
    """Return the rows of the document's table with the given heading, keyed by their first cell."""
    text = (ROOT / "docs/evidence/thresholds.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+) \|$", text.partition(f"| {heading} |")[2].partition("\n\n")[0], flags=re.MULTILINE)
    cells = [row.split(" | ") for row in rows]
    return {f"{row[0]}: {row[1]}" if "outcome" in heading else row[0]: row for row in cells}


def test_thresholds_document_states_the_predicted_ratios() -> None:
    h100 = devices()[DEVICES[0]]
    table = read_table("workload | code | ratio to the baseline | outcome")
    cases = list_cases(h100, CEILINGS[1])
    assert len(table) == len(cases)
    for workload, code, ratio, tier in cases:
        assert table[f"`{workload}`: {code}"][2:] == [f"{ratio:.2f}", tier]


def test_thresholds_document_states_sizes_that_fit() -> None:
    """Also checks that each workload fits on each device, and that sizes are whole from 40 GB on."""
    table = read_table("device | GiB | " + " | ".join(f"`{name}`" for name in course().workloads))
    assert table.keys() == GIB.keys() <= devices().keys()
    for name, gib in GIB.items():
        room, cells = int(SHARE_OF_GPU * gib * 2**30), []
        for workload in course().workloads:
            work = work_of(workload)
            whole = work.sizes["cuda"]
            size, calls = fit(work, whole, room)
            assert bytes_for(work, size, calls) <= room < bytes_for(work, size, calls + 1)
            assert size == whole or gib < 39
            cells.append(f"{min(calls, DEMANDS['cuda'].most_calls)}" + ("" if size == whole else " (1/2)"))
            assert size in (whole, replace(whole, **{part: getattr(whole, part) // 2 for part in work.shrinks}))
        assert table[name][1:] == [f"{gib:g}", *cells], " | ".join([name, f"{gib:g}", *cells])


def test_thresholds_document_states_work_and_minimum_time() -> None:
    h100 = devices()[DEVICES[0]]
    table = read_table("workload | work of a call | bound on an H100 SXM | thresholds")
    for name, entry in course().workloads.items():
        work = work_of(name)
        if work.unit == "tokens":
            continue
        size: Size = work.sizes["cuda"]
        peak = h100.tflops["bf16" if size.dtype == "bfloat16" else "fp32"] * 1e12
        bound = work.amount(size) / (peak if work.unit == "FLOP" else h100.bandwidth)
        amount = f"{work.amount(size) / 1e12:.2f} TFLOP" if work.unit == "FLOP" else f"{work.amount(size) / 1e9:.2f} GB"
        _, stated_amount, stated_bound, thresholds = table[f"`{name}`"]
        assert (amount in stated_amount, stated_bound) == (True, f"{1e3 * bound:.2f} ms")
        tiers = entry.mfu if entry.mfu else entry.ratio["cuda"]
        assert thresholds == f"{'MFU ' if entry.mfu else ''}{tiers.passing:.2f}, {tiers.full:.2f}"
