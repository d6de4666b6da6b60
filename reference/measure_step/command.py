"""The `kata measure` command, which uses the student's functions to measure this machine and a training step.

It draws a roofline as text, and additionally as an image if matplotlib is installed. It then compares the measured time
of each kind of operation, and of decoding with several batch sizes, with its prediction.
"""

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor

from reference import plots
from reference.plots import Axis

B, D, L = 512, 512, 4
N, ROWS = 1024, 65536  # matrices of 4 MiB, which may fit in a cache, and of 256 MiB, which do not
WIDTH, LAYERS = 2048, 8  # the weights of decoding, 128 MiB, which fit in few caches
BATCHES, CACHED = (1, 4, 16, 64), 16
RUNS, REPEATS = 3, 5
PICTURE = Path("roofline.png")
ROOF, PRODUCT, OTHER, STEP = ".", "x", "o", "S"


@dataclass(frozen=True)
class Point:
    """A point in the drawing: the FLOP/byte, FLOP/s and marker of an operation or of the whole step."""

    intensity: float
    flop_per_sec: float
    mark: str


@dataclass(frozen=True)
class Roofline:
    """A device's peak FLOP/s and memory bandwidth, and the student's `roofline` module."""

    flop_per_sec: float
    bytes_per_sec: float
    kata: Any

    @property
    def ridge(self) -> float:
        """The intensity above which operations are compute-bound."""
        ridge: float = self.kata.accelerator_intensity(self.flop_per_sec, self.bytes_per_sec)
        return ridge

    def at(self, intensity: float) -> float:
        """Return the FLOP/s attainable by an operation with the given arithmetic intensity."""
        mfu: float = self.kata.attainable_mfu(intensity, self.ridge)
        return self.flop_per_sec * mfu

    def place(self, flops: int, moved: int) -> Point:
        """Return an operation's point on the roofline, marked as a matrix product if its intensity is above 1."""
        intensity = self.kata.arithmetic_intensity(flops, moved)
        return Point(intensity, self.at(intensity), PRODUCT if intensity > 1 else OTHER)


def run(assignment: Any, texts: Mapping[str, str]) -> Iterator[str]:
    """Run the measurements and yield each line of output as soon as it is available."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    kata = assignment.measure_step
    yield texts["measuring"].format(B=B, D=D, L=L)
    yield from warn_if_busy(texts)
    with torch.device(device):
        flop_per_sec, bytes_per_sec = (check_positive("measure_device", each) for each in kata.measure_device(N, ROWS))
        predicted = kata.predict_step(B, D, L, torch.float32, flop_per_sec, bytes_per_sec)
        promised = look_up_promised(assignment.promised_flops) if device == "cuda" else None
        clock = make_clock(device)
        runs = [kata.measure_step(B, D, L, promised or flop_per_sec, clock) for _ in range(RUNS)]
        kinds = time_kinds(assignment.deep_network.DeepNetwork(D, L), clock)
        decoding = time_decoding(clock)
    seconds = sorted(check_positive("measure_step", run["seconds"]) for run in runs)
    step = Point(predicted["flops"] / predicted["bytes"], predicted["flops"] / median(seconds), STEP)
    roofline = Roofline(flop_per_sec, bytes_per_sec, assignment.roofline)
    points = [*(roofline.place(*work) for work in {*kata.step_work(B, D, L, torch.float32)}), step]
    yield texts["device"].format(flops=flop_per_sec, bytes=bytes_per_sec, ridge=roofline.ridge)
    yield ""
    yield from draw(roofline, points)
    marks = {PRODUCT: "product", OTHER: "other", STEP: "step"}
    yield "  " + "   ".join(f"{mark} {texts[name]}" for mark, name in marks.items())
    yield ""
    at_best = assignment.promised_flops.mfu(predicted["flops"], predicted["seconds"], promised or flop_per_sec)
    yield texts["predicted"].format(seconds=predicted["seconds"], mfu=at_best)
    yield texts["measured"].format(
        seconds=median(seconds), low=seconds[0], high=seconds[-1], runs=RUNS, mfu=median(run["mfu"] for run in runs)
    )
    yield ""
    yield from compare(predict_kinds(roofline, predicted["seconds"]), kinds, texts)
    if device == "cpu" and median(seconds) > predicted["seconds"]:
        yield from ["", texts["cpu"]]
    yield ""
    yield from compare_decoding(roofline, decoding, texts)
    yield ""
    yield save(roofline, points, texts)


def warn_if_busy(texts: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning if more programs want to run than there are cores. Windows does not tell."""
    load, cores = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0, os.cpu_count() or 1
    if load > cores:
        yield texts["busy"].format(load=load, cores=cores)


def check_positive(function: str, value: Any) -> float:
    """Return the value. Raises ValueError if it is not a positive, finite number."""
    if not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ValueError(f"your {function} returned {value!r}; expected a positive number")
    return value


def time_kinds(model: torch.nn.Module, clock: Callable[[], float]) -> dict[str, float]:
    """Return the seconds that each kind of operation takes in one step of the model."""
    x, ones = torch.randn(B, D), torch.ones(B, D)
    weights = [*model.parameters()]
    y = model(x)

    def backward() -> None:
        model.zero_grad()
        y.backward(ones, retain_graph=True)

    backward()
    grads = [(p, p.grad) for p in weights if p.grad is not None]
    with torch.no_grad():
        return {
            "matmul": L * time_fastest(lambda: x @ weights[0], clock),
            "relu": L * time_fastest(lambda: torch.relu(x), clock),
            "backward": time_fastest(torch.enable_grad()(backward), clock),
            "sgd": time_fastest(lambda: [p.sub_(grad, alpha=1e-6) for p, grad in grads], clock),
        }


def time_fastest(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Return how many seconds the fastest of several calls takes, excluding the first."""
    work()
    times = []
    for _ in range(REPEATS):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def predict_kinds(roofline: Roofline, step_seconds: float) -> dict[str, float]:
    """Return the minimum seconds of each kind of operation. The backward pass accounts for the rest of the step.

    Raises ValueError if no time remains.
    """
    kata = roofline.kata
    works = {
        "matmul": kata.matrix_matrix_work(B, D, D, torch.float32),
        "relu": kata.relu_work(B * D, torch.float32),
        "sgd": (2 * D * D, 3 * 4 * D * D),
    }
    least = {
        kind: L * max(flops / roofline.flop_per_sec, moved / roofline.bytes_per_sec)
        for kind, (flops, moved) in works.items()
    }
    if step_seconds <= sum(least.values()):
        raise ValueError("your predict_step returned fewer seconds than the operations other than backward take")
    return {**least, "backward": step_seconds - sum(least.values())}


def compare(least: Mapping[str, float], kinds: Mapping[str, float], texts: Mapping[str, str]) -> Iterator[str]:
    """Yield a table of predicted and measured seconds by kind of operation, an explanation, and a question."""
    yield texts["kinds"]
    ratios = {kind: seconds / least[kind] for kind, seconds in kinds.items()}
    for kind, seconds in kinds.items():
        yield f"{least[kind]:>11.2e}{seconds:>11.2e}{ratios[kind]:>9.2g}   {texts[kind]}"
    if min(ratios.values()) < 1:
        yield from ("", texts["below"], "")
    yield texts["question"]


@torch.no_grad()
def time_decoding(clock: Callable[[], float]) -> dict[str, float]:
    """Return the seconds of a decoding step for each batch size, and for `CACHED` rows with a cache.

    The cache has as many bytes as the weights.
    """
    weights = torch.randn(LAYERS, WIDTH, WIDTH) / WIDTH**0.5

    def multiply(x: Tensor) -> None:
        for weight in weights:
            x = x @ weight

    found = {str(batch): time_fastest(partial(multiply, torch.randn(batch, WIDTH)), clock) for batch in BATCHES}
    keys, values = torch.randn(2, LAYERS, CACHED, WIDTH // CACHED // 2, WIDTH)
    x = torch.randn(CACHED, WIDTH)

    def attend() -> None:
        multiply(x)
        for key, value in zip(keys, values, strict=True):
            ((key @ x[:, :, None]).mT / WIDTH**0.5).softmax(-1) @ value

    return found | {"cached": time_fastest(attend, clock)}


def compare_decoding(roofline: Roofline, found: Mapping[str, float], texts: Mapping[str, str]) -> Iterator[str]:
    """Yield a table of the predicted and measured seconds of decoding steps, and an explanation."""
    read, itemsize = 4 * LAYERS * WIDTH**2, 4
    compute_bound = math.ceil(roofline.ridge * itemsize / 2)
    yield texts["decoding"].format(layers=LAYERS, width=WIDTH, megabytes=read / 1e6, batch=compute_bound)
    for name, seconds in found.items():
        batch, moved = (CACHED, 2 * read) if name == "cached" else (int(name), read)
        least = max(moved / roofline.bytes_per_sec, batch * read / itemsize * 2 / roofline.flop_per_sec)
        row = texts["cached" if name == "cached" else "batch"].format(batch=batch, speed=batch / seconds)
        yield f"{least:>11.2e}{seconds:>11.2e}{seconds / least:>9.2g}   {row}"


def look_up_promised(kata: Any) -> float | None:
    """Return the GPU's FLOP/s from the student's table, or None if the table does not contain the GPU."""
    try:
        promised: float = kata.promised_flop_per_sec(torch.cuda.get_device_name(), torch.float32)
    except ValueError:
        return None
    return promised


def make_clock(device: str) -> Callable[[], float]:
    """Return a clock that waits until the device is idle before it reads the time."""

    def clock() -> float:
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    return clock


def make_axes(roofline: Roofline, points: Sequence[Point]) -> tuple[Axis, Axis]:
    """Return logarithmic axes on which the ridge and all points have some room."""
    intensities = [point.intensity for point in points] + [roofline.ridge]
    speeds = [point.flop_per_sec for point in points] + [roofline.flop_per_sec]
    x = Axis("FLOP/byte", min(intensities) / 2, max(intensities) * 2, ".3g", is_log=True)
    return x, Axis("FLOP/s", min(speeds) / 1.6, max(speeds) * 1.25, ".1e", is_log=True)


def draw(roofline: Roofline, points: Sequence[Point]) -> Iterator[str]:
    """Yield the lines of a roofline plot with logarithmic axes, drawn as text."""
    x, y = make_axes(roofline, points)
    intensities = [x.low * (x.high / x.low) ** (column / plots.COLUMNS) for column in range(plots.COLUMNS)]
    roof = [(intensity, roofline.at(intensity)) for intensity in intensities]
    marked = [(point.mark, [(point.intensity, point.flop_per_sec)]) for point in points]
    yield from plots.draw([(ROOF, roof), *marked], x, y)


def save(roofline: Roofline, points: Sequence[Point], texts: Mapping[str, str]) -> str:
    """Save the roofline plot as an image, and return a line that contains its path or says why it was not saved."""
    if find_spec("matplotlib") is None:
        return texts["no_matplotlib"]
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    x, _ = make_axes(roofline, points)
    ends = [x.low, roofline.ridge, x.high]
    axes.loglog(ends, [roofline.at(end) for end in ends], color="black")
    names = {PRODUCT: ("product, at best", "x"), OTHER: ("ReLU and SGD, at best", "o"), STEP: ("step, measured", "*")}
    for mark, (name, marker) in names.items():
        chosen = [point for point in points if point.mark == mark]
        axes.plot([p.intensity for p in chosen], [p.flop_per_sec for p in chosen], marker, markersize=10, label=name)
    axes.set_xlabel("arithmetic intensity (FLOP/byte)")
    axes.set_ylabel("FLOP/s")
    axes.set_title(f"DeepNetwork({D}, {L}) on {B} rows, float32")
    axes.grid(visible=True, which="both", alpha=0.2)
    axes.legend()
    try:
        figure.savefig(PICTURE, dpi=150)
    except OSError as error:
        return texts["not_saved"].format(file=PICTURE, error=error.strerror)
    return texts["saved"].format(file=PICTURE)
