"""Draws inputs for the tests of train_language_model."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from torch import Tensor

from reference.train_language_model import oracle
from tests.language_model_inputs import Case, cases
from tests.strategies import SEEDS, normal, rng_of
from torchkata import as_float64

RATES = st.sampled_from([1e-3, 0.1, 1.0])


@st.composite
def schedules(draw: st.DrawFn, *, warm: bool) -> tuple[int, float, float, int, int]:
    """Draw the arguments of `learning_rate` for a step during the warm-up if `warm` is True, or after it otherwise."""
    peak = draw(st.sampled_from([1.0, 3e-4, 0.1]))
    final = peak * draw(st.sampled_from([0.1, 0.0, 0.5]))
    if warm:
        warmup = draw(st.integers(1, 100))
        return draw(st.integers(0, warmup - 1)), peak, final, warmup, warmup + draw(st.integers(0, 1000))
    warmup = draw(st.integers(0, 100))
    steps = warmup + draw(st.integers(0, 1000))
    edges = st.sampled_from([0, max(0, steps - warmup - 1), steps - warmup])
    return warmup + draw(st.integers(0, 1200) | edges), peak, final, warmup, steps


@st.composite
def gradients(draw: st.DrawFn, shares: st.SearchStrategy[float]) -> tuple[list[Tensor | None], float]:
    """Draw gradients, one of which may be None, and a maximum norm: their norm times a number from `shares`."""
    shapes = draw(st.lists(st.sampled_from([[3], [2, 2], [], [4, 1]]), min_size=1, max_size=3))
    rng = rng_of(draw(SEEDS))
    grads = [normal(rng, shape) + 1.0 for shape in shapes]
    grads[0] = grads[0] + grads[0].sign()  # a norm of at least 1, so that an epsilon of 1e-6 makes no difference
    norm = oracle.compute_norm([as_float64(grad) for grad in grads])
    given: list[Tensor | None] = [*grads]
    if draw(st.booleans()):
        given.insert(draw(st.integers(0, len(grads))), None)
    return given, norm * draw(shares)


@dataclass(frozen=True)
class Step:
    """A training step: the tables, their gradients before the step, and the arguments."""

    case: Case
    before: Tensor
    micro_batch_size: int
    max_norm: float
    lr: float


@st.composite
def steps(draw: st.DrawFn, *, rows: st.SearchStrategy[int], limits: st.SearchStrategy[float]) -> Step:
    """Draw an SGD step whose maximum norm is the norm of the batch's gradient times a number from `limits`."""
    micro_batch_size = draw(rows)
    count = micro_batch_size * draw(st.integers(1, 2)) + draw(st.integers(0, micro_batch_size - 1))
    case = draw(cases(rows=st.just(count)))
    before = normal(rng_of(draw(SEEDS)), list(case.tables.shape))
    gradient = oracle.compute_gradient(as_float64(case.tables), case.batch.numpy())
    return Step(case, before, micro_batch_size, draw(limits) * oracle.compute_norm([gradient]), draw(RATES))


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the settings of a short training run."""
    num_steps = draw(st.sampled_from([5, 4, 6, 3]))
    return {
        "vocab": draw(st.sampled_from([5, 3])),
        "dim": draw(st.sampled_from([4, 3])),
        "num_layers": draw(st.integers(0, 1)),
        "context": draw(st.sampled_from([3, 2, 4])),
        "steps": num_steps,
        "batch_size": draw(st.sampled_from([3, 2])),
        "micro_batch_size": draw(st.sampled_from([2, 1, 4])),
        "peak_lr": draw(st.sampled_from([0.1, 0.03])),
        "final_lr": 0.01,
        "warmup": draw(st.integers(0, 3)),
        "checkpoint_every": draw(st.sampled_from([2, 1, 3, 10])),
        "seed": draw(st.sampled_from([0, 7, 2**20])),
    }
