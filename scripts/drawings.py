"""Draw the pictures of `docs/katas.md` in `docs/images/katas/`: `python -m scripts.drawings [--to FOLDER]`.

Each picture shows what the reference solutions compute. The colors follow the reader's system, light or dark.
"""

import argparse
import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.profiler import profile

from benchmarks import ROOT
from grader.tests.support.solution import SOLUTION
from scripts.svg import CELL, WIDTH, Curve, box, dot, grid, line, plot, render, scale, text
from torchkata.course import course
from torchkata.inside.assignment import Assignment

KATAS: Any = Assignment(SOLUTION, "drawings")
FOLDER = ROOT / "docs/images/katas"
WAY_WIDTH = 950


def draw_storage() -> list[str]:
    """Draw one storage and three views of it."""
    x = torch.arange(6).view(2, 3)
    drawn = [text(30, 40, "storage"), *grid(130, 12, [range(6)])]
    for column, (name, view) in enumerate({"x": x, "x[1]": x[1], "x.t()": x.t()}.items()):
        left, rows = 30 + 215 * column, view if view.ndim == 2 else view[None]
        drawn += [text(left, 96, name), text(left, 114, f"shape {tuple(view.shape)}", "small")]
        drawn += [text(left, 130, f"offset {view.storage_offset()}, strides {view.stride()}", "small")]
        drawn += grid(left, 142, rows.tolist(), "on")
    return drawn


def draw_strides() -> list[str]:
    """Draw how strides lead from an index to an element of the storage, for a tensor and its transpose."""
    drawn = []
    for row, (name, shape, index) in enumerate((("x", (2, 3), (1, 2)), ("x.t()", (3, 2), (2, 1)))):
        strides = (
            KATAS.strides.contiguous_strides(shape) if name == "x" else KATAS.strides.contiguous_strides((2, 3))[::-1]
        )
        element, top = KATAS.strides.storage_index(strides, index), 70 + 130 * row
        drawn += [text(30, top - 42, f"{name}   strides {strides}"), *grid(240, top, [range(6)])]
        drawn += [
            text(
                30,
                top + 28,
                f"[{index[0]}, {index[1]}]: {index[0]} · {strides[0]} + {index[1]} · {strides[1]} = {element}",
            )
        ]
        stops = [0, index[0] * strides[0], element]
        for number, (start, end) in enumerate(pairwise(stops)):
            a, b = (240 + (each + 0.5) * CELL for each in (start, end))
            drawn += [line([(a, top), (a, top - 14), (b, top - 14), (b, top)], f"curve s{number}")]
            drawn += [text((a + b) / 2, top - 20, f"{index[number]} · {strides[number]}", "small middle")]
        drawn += [dot(240 + (element + 0.5) * CELL, top + CELL - 8, "f1")]
    return drawn


def draw_broadcasting() -> list[str]:
    """Draw the difference of a column and a row."""
    x, y = torch.tensor([10, 20]), torch.tensor([1, 2, 3])
    left, right = x[:, None].expand(2, 3), y.expand(2, 3)
    parts = (("x[:, None]   (2, 1)", left, 1), ("y   (3,)", right, 3), ("difference   (2, 3)", x[:, None] - y, 6))
    drawn = []
    for column, (name, values, own) in enumerate(parts):
        drawn += [text(30 + 205 * column, 36, name), *grid(30 + 205 * column, 50, values.tolist(), "off")]
        cells = {1: values[:, :1], 3: values[:1], 6: values}[own]
        drawn += grid(30 + 205 * column, 50, cells.tolist(), "on")
    return [
        *drawn,
        text(179, 98, "−", "middle"),
        text(384, 98, "="),
        text(30, 170, "pale cells: repeated, but not stored", "small"),
    ]


def draw_deviation() -> list[str]:
    """Draw the standard deviation of the values after each of 32 linear layers, with and without the scale."""
    torch.manual_seed(0)
    curves: dict[str, Curve] = {}
    for name, factor in (("randn", 16.0), ("randn / √256", 1.0)):
        x, points = torch.randn(256, 256, dtype=torch.float64), [(0.0, 0.0)]
        for number in range(1, 33):
            layer = KATAS.linear.Linear(256, 256).double()
            x = factor * layer(x).detach()
            points.append((number, math.log10(x.std().item())))
        curves[name] = points
    return plot(curves, ("layer", 0, 32), ("log10 of the standard deviation", -2, 40))


def draw_formats() -> list[str]:
    """Draw all values of three small formats up to 8, and the range of each format."""
    small = {"fp4 E2M1": [0, 0.5, 1, 1.5, 2, 3, 4, 6]}
    for name, dtype in (("fp8 E5M2", torch.float8_e5m2), ("fp8 E4M3", torch.float8_e4m3fn)):
        small[name] = torch.arange(128, dtype=torch.uint8).view(dtype).float().tolist()
    drawn = [text(30, 30, "values from 0 to 8")]
    for row, (name, values) in enumerate(small.items()):
        drawn += [text(120, 60 + 30 * row, name, "small end"), line([(130, 62 + 30 * row), (610, 62 + 30 * row)])]
        drawn += [
            line([(130 + 60 * v, 50 + 30 * row), (130 + 60 * v, 62 + 30 * row)], "line s0") for v in values if v <= 8
        ]
    drawn += [text(130 + 60 * v, 140, v, "small middle") for v in range(0, 9, 2)]
    drawn += [text(30, 185, "from the smallest positive to the largest number, in powers of ten")]
    for row, dtype in enumerate((torch.float8_e4m3fn, torch.float8_e5m2, torch.float16, torch.bfloat16, torch.float32)):
        largest, info = KATAS.floating_point.largest(dtype), torch.finfo(dtype)
        ends = [math.log10(info.smallest_normal * info.eps), math.log10(largest)]
        a, b = (370 + 5 * end for end in ends)
        drawn += [text(120, 215 + 26 * row, str(dtype).removeprefix("torch."), "small end")]
        drawn += [box(a, 203 + 26 * row, b - a, 16, "on"), text(b + 6, 216 + 26 * row, f"{largest:.3g}", "small")]
    return drawn + [text(370 + 5 * p, 348, f"1e{p}", "small middle") for p in (-40, -20, 0, 20)]


def draw_blocks() -> list[str]:
    """Draw 32 numbers with an outlier before and after quantization to fp4, with one scale and with one per block."""
    torch.manual_seed(0)
    x, outlier, drawn = torch.randn(32).clamp(-1.7, 1.7), 19, []
    x[outlier] = 42.0
    for row, (block, name) in enumerate(((32, "one scale for 32 numbers"), (8, "a scale for each block of 8"))):
        rounded = KATAS.block_scaling.dequantize(*KATAS.block_scaling.quantize(x, block, 4))
        place = scale((40, WIDTH - 20), (170 + 170 * row, 50 + 170 * row), (-0.5, 31.5), (-2.5, 2.5))
        drawn += [text(30, 30 + 170 * row, name), line([place(-0.5, 0), place(31.5, 0)])]
        drawn += [line([place(edge - 0.5, -2.5), place(edge - 0.5, 2.5)], "line faint") for edge in range(0, 33, block)]
        for i, (before, after) in enumerate(zip(x.tolist(), rounded.tolist(), strict=True)):
            if i != outlier:
                drawn += [line([place(i, before), place(i, after)], "line"), dot(*place(i, before), "f0", 3)]
                drawn += [dot(*place(i, after), "f1")]
        drawn += [text(*place(outlier, 1.9), f"{x[outlier]:.0f} ↑", "small middle")]
    legend = (("f0", 330, "before"), ("f1", 440, "value · scale"))
    return [*drawn, *(dot(left, 26, look) for look, left, _ in legend), *(text(at + 10, 30, w) for _, at, w in legend)]


def draw_roofline() -> list[str]:
    """Draw the roofline of an H100 in bfloat16 with the five operations of the lecture."""
    kata, n, dtype = KATAS.roofline, 1024, torch.bfloat16
    ridge = kata.accelerator_intensity(989.5e12, 3.35e12)
    works = {"ReLU": kata.relu_work(n * n, dtype), "dot": kata.dot_work(n * n, dtype)}
    works |= {"matrix · vector": kata.matrix_vector_work(n, n, dtype), "GELU": kata.gelu_work(n * n, dtype)}
    works |= {"matrix · matrix": kata.matrix_matrix_work(n, n, n, dtype)}
    x, y = ("FLOPs per byte (log10)", -1.0, 3.0), ("FLOP/s (log10)", 11.0, 15.5)
    roof = [10 ** (step / 10) for step in range(-10, 31)]
    high = [(math.log10(i), math.log10(989.5e12 * kata.attainable_mfu(i, ridge))) for i in roof]
    drawn, place = plot({"H100": high}, x, y), scale((70, WIDTH - 150), (250, 30), x[1:], y[1:])
    for name, work in works.items():
        i = kata.arithmetic_intensity(*work)
        at = place(math.log10(i), math.log10(989.5e12 * kata.attainable_mfu(i, ridge)))
        drawn += [dot(*at, "f1"), text(at[0] + 8, at[1] + 18, name, "small")]
    kink = place(math.log10(ridge), y[1])
    return [
        *drawn,
        line([kink, place(math.log10(ridge), 15)], "line faint"),
        text(kink[0] + 4, 244, f"{ridge:.0f}", "small"),
    ]


def draw_share() -> list[str]:
    """Draw the share of attention in the FLOPs of two models over the context."""
    kata, curves = KATAS.transformer_accounting, dict[str, Curve]()
    for name, layers, width in (("GPT-2 XL", 48, 1600), ("GPT-3", 96, 12288)):
        one, two = (
            kata.flops_per_token(kata.Config(layers, width, 1, 4 * width, 50257, context, True)) for context in (1, 2)
        )
        contexts = [2.0 ** (step / 8) for step in range(56, 145)]
        curves[name] = [
            (math.log2(context), 100 * context * (two - one) / (one + (context - 1) * (two - one)))
            for context in contexts
        ]
    drawn = plot(curves, ("context (log2)", 7, 18), ("share of attention in the FLOPs, in %", 0, 100))
    half = [scale((70, WIDTH - 150), (250, 30), (7, 18), (0, 100))(x, 50) for x in (7, 18)]
    return [*drawn, line(half, "line faint"), text(64, half[0][1] + 5, "50", "small end")]


def draw_memory() -> list[str]:
    """Draw the number of activations in memory during a step, as torch's profiler sees them."""
    curves: dict[str, Curve] = {}
    torch.manual_seed(0)
    for name, segment in (("64 blocks", 0), ("segments of 8", 8)):
        model = KATAS.deep_network.DeepNetwork(32, 64) if segment == 0 else None
        live = count_activations(model or KATAS.activation_checkpointing.DeepNetworkCheckpointed(32, 64, segment))
        curves[name] = [(100 * i / len(live), count) for i, count in enumerate(live)]
    return plot(
        curves,
        ("% of the allocations and releases of a step", 0, 100),
        ("activations in memory", 0, 70),
        named_at_top=True,
    )


def count_activations(model: torch.nn.Module, batch: int = 48, dim: int = 32) -> list[int]:
    """Return how many tensors of the size of an activation exist after each allocation and release in a step."""
    x = torch.randn(batch, dim)
    with profile(profile_memory=True) as watched:
        model(x).sum().backward()
    sizes = [event.nbytes() for event in watched.profiler.kineto_results.events() if event.name() == "[memory]"]
    changes = torch.tensor([size // abs(size) for size in sizes if abs(size) == x.nbytes])
    return changes.cumsum(0).tolist()


def draw_optimizers() -> list[str]:
    """Draw 40 steps of four optimizers in a valley that is 20 times as steep across as along."""
    kinds = {
        "SGD": KATAS.sgd.SGD,
        "momentum": KATAS.momentum.Momentum,
        "RMSprop": KATAS.rmsprop.RMSprop,
        "Adam": KATAS.adam.Adam,
    }
    options: dict[str, dict[str, float]] = {"SGD": {"lr": 0.09}, "momentum": {"lr": 0.02, "momentum": 0.9}}
    options |= {"RMSprop": {"lr": 0.1}, "Adam": {"lr": 0.3}}
    place = scale((30, WIDTH - 30), (290, 50), (-4.6, 1.2), (-1.5, 1.5))
    drawn = [
        line([place(r * math.cos(a / 30), r * math.sin(a / 30) / math.sqrt(20)) for a in range(189)], "line faint")
        for r in (0.5, 1.5, 2.5, 3.5, 4.5)
    ]
    for number, (name, kind) in enumerate(kinds.items()):
        p = torch.nn.Parameter(torch.tensor([-4.0, 1.0]))
        optimizer, path = kind([p], **options[name]), [p.tolist()]
        for _ in range(40):
            optimizer.zero_grad()
            p.grad = torch.stack([p[0], 20 * p[1]]).detach()  # of (x² + 20 y²) / 2
            optimizer.step()
            path.append(p.tolist())
        ends = [place(*point) for point in path]
        drawn += [line(ends, f"curve s{number}"), *(dot(*end, f"f{number}", 2) for end in ends)]
        drawn += [text(40 + 150 * number, 30, f"{name}, lr {options[name]['lr']}", f"small f{number}")]
    return [*drawn, text(*place(0.05, -0.04), "minimum", "small")]


def draw_mask() -> list[str]:
    """Draw a causal mask of six tokens."""
    mask: Tensor = KATAS.named_dimensions.causal_mask(6)
    drawn = [*grid(170, 50, mask.tolist()), text(302, 22, "key: the position that is read", "middle")]
    drawn += [text(30, 188, "query: the"), text(30, 206, "position that"), text(30, 224, "reads")]
    drawn += [text(192 + CELL * i, 43, i, "small middle") for i in range(6)]
    drawn += [text(160, 77 + CELL * i, i, "small end") for i in range(6)]
    return [
        *drawn,
        box(470, 140, 22, 22, "on"),
        text(500, 156, "True: may attend"),
        box(470, 172, 22, 22),
        text(500, 188, "False"),
    ]


def draw_attention() -> list[str]:
    """Draw the scores of four tokens, a causal mask, and the weights that follow from both."""
    q = torch.tensor([[2.0, 0, 0, 0], [0, 2, 0, 0], [2, 1, 0, 0], [0, 0, 0, 2]])
    k = torch.tensor([[1.0, 0, 0, 1], [0, 2, 0, 0], [1, 0, 0, -1], [3, 1, 0, 1]])
    mask = KATAS.named_dimensions.causal_mask(4)
    weights = KATAS.attention.attention(q, k, torch.eye(4), mask)
    scores = KATAS.named_dimensions.attention_scores(q, k) / q.shape[-1] ** 0.5
    parts = {"scores   q kᵀ / √d": scores, "mask": mask, "weights, in %": (100 * weights).round()}
    drawn = [text(30, 70 + CELL * i + 8, f"token {i}", "small") for i in range(4)]
    for column, (name, values) in enumerate(parts.items()):
        left = 80 + 188 * column
        rows = values.tolist() if values.dtype == torch.bool else [[f"{x:g}" for x in row] for row in values.tolist()]
        drawn += [text(left, 36, name), *grid(left, 50, rows)]
    return drawn


def draw_decoding() -> list[str]:
    """Draw the tokens per second of a model with 7e9 weights in bfloat16 on an H100, for growing batches."""
    kata, weights, most = KATAS.kv_cache, 14e9, 989.5e12 / (2 * 7e9)
    cache = kata.cache_bytes(32, 1024, 4096, itemsize=2)
    curves: dict[str, Curve] = {}
    for name, each in (("weights only", 0), ("and caches", cache)):
        batches = range(0, 513, 8)
        speeds = [kata.tokens_per_second(weights, each * b, 3.35e12, batch=b) for b in batches]
        curves[name] = [(b, min(speed, most) / 1000) for b, speed in zip(batches, speeds, strict=True)]
    drawn = plot(curves, ("batch", 0, 512), ("thousand tokens per second", 0, 80))
    batch = kata.compute_bound_batch(989.5e12, 3.35e12, itemsize=2)
    x, y = scale((70, WIDTH - 150), (250, 30), (0, 512), (0, 80))(batch, most / 1000)
    return [*drawn, dot(x, y, "f1"), text(x - 8, y - 10, f"compute-bound from {batch} on", "small end")]


def draw_way() -> list[str]:
    """Draw what the two capstones import, directly and indirectly."""
    katas, spots, drawn = course().katas, dict[str, tuple[float, float]](), []
    for goal, left in (("train_language_model", 20), ("measure_step", 650)):
        needed = [*course().prerequisites(goal), goal]
        depth: dict[str, int] = {}
        for name in needed:
            depth[name] = 1 + max((depth[one] for one in katas[name].builds_on), default=-1)
        depth = {name: max(depth.values()) if name == goal else level for name, level in depth.items()}
        for level in range(max(depth.values()) + 1):
            row = [name for name in needed if depth[name] == level]
            for place, name in enumerate(row):
                spots[f"{goal}/{name}"] = (left + 145 * level, 20 + 38 * place + (60 if level and name != goal else 0))
        for name in needed:
            for one in katas[name].builds_on:
                (a, b), (c, d) = spots[f"{goal}/{one}"], spots[f"{goal}/{name}"]
                drawn.append(line([(a + 130, b + 14), (c, d + 14)], "line faint"))
    for key, (x, y) in spots.items():
        drawn += [box(x, y, 130, 28, "on" if key.count(key.partition("/")[0]) == 2 else "off")]
        drawn += [text(x + 65, y + 19, key.partition("/")[2], "small middle")]
    return drawn


DRAWINGS: dict[str, tuple[Callable[[], list[str]], int, str]] = {
    "storage": (draw_storage, 290, "Three views of one storage of six elements"),
    "strides": (draw_strides, 260, "Strides lead from an index to an element"),
    "broadcasting": (draw_broadcasting, 190, "A column minus a row is a matrix"),
    "deviation": (draw_deviation, 300, "Standard deviation after each of 32 layers"),
    "formats": (draw_formats, 365, "Values and ranges of floating-point formats"),
    "blocks": (draw_blocks, 360, "Numbers with an outlier, with one scale and with a scale per block"),
    "roofline": (draw_roofline, 300, "Roofline of an H100 with five operations"),
    "share": (draw_share, 300, "Share of attention in the FLOPs of two models"),
    "memory": (draw_memory, 300, "Activations in memory during a step"),
    "optimizers": (draw_optimizers, 310, "Four optimizers in a narrow valley"),
    "mask": (draw_mask, 330, "A causal mask"),
    "attention": (draw_attention, 240, "Scores, a causal mask, and the weights"),
    "decoding": (draw_decoding, 300, "Tokens per second for growing batches"),
    "way": (draw_way, 298, "What the capstones import"),
}


def main() -> None:
    """Write all drawings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=FOLDER, metavar="FOLDER")
    folder = parser.parse_args().to
    for name, (draw, height, title) in DRAWINGS.items():
        svg = render(title, WAY_WIDTH if draw is draw_way else WIDTH, height, draw())
        (folder / f"{name}.svg").write_text(svg, "utf-8")


if __name__ == "__main__":
    main()
