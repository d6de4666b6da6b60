"""Mistakes in a training loop."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.misconceptions import instead_of
from reference.oracle import adagrad, cruncher
from reference.oracle import train as oracle

Weights: TypeAlias = Sequence[Float[Array, "d k"]]
Batches: TypeAlias = Sequence[tuple[Float[Array, "batch d"], Float[Array, "batch"]]]
Run: TypeAlias = tuple[Weights, list[float]]
Loss: TypeAlias = Callable[[Array, Array, int], tuple[float, Array]]  # (outputs, targets, width) → (loss, slope)
Update: TypeAlias = Callable[[Weights, Weights], Weights]  # (weights, gradients) → weights

ONE_BATCH = "one batch is used for all steps"
TWO_BATCHES = "two batches are asked for in every step: x comes from one and y from the other"
AHEAD = "the next batch is asked for at the end of each step: one more than there are steps"
MANY = "there is one step too many"
SHORT = "there is one step too few"
NOT_TAKEN = "the last step is not taken"
TWICE = "step() is called twice for each batch"
STILL = "the weights never move: step() or backward() is missing, or the gradients are zeroed between the two"
DEFAULT_RATE = "SGD is not given lr, and takes its default"
OTHER_OPTIMIZER = "the steps are not taken by SGD from sgd.py"
BY_HAND_AS_WELL = "the final weight is moved by hand, too"
DRAWN_FIRST = "the model starts otherwise than a new Cruncher: something is drawn, built or seeded first, or it is set"
FROM_ZEROS = "the weights are set to zero at the start"


def squared(out: Array, y: Array, width: int) -> tuple[float, Array]:
    """The mean squared error, and its slope for each output."""
    return float(np.mean((out - y) ** 2)), 2 * (out - y) / len(y)


def descend(weights: Weights, batches: Batches, update: Update, loss: Loss = squared) -> Run:
    """A step for each batch, and each loss before its update."""
    losses = []
    for x, y in batches:
        value, slope = loss(cruncher.forward(weights, x), y, x.shape[1])
        weights = update(weights, cruncher.backward(weights, x, slope)[0])
        losses.append(value)
    return weights, losses


def downhill(lr: float, *, times: int = 1) -> Update:
    """Plain descent."""
    return lambda weights, grads: [w - times * lr * g for w, g in zip(weights, grads, strict=True)]


@instead_of(oracle.train, "gradients are not zeroed between the steps: they pile up")
def piling_up(weights: Weights, batches: Batches, lr: float) -> Run:
    """Each step uses all gradients so far."""
    total: list[Array] = [np.zeros_like(w) for w in weights]

    def update(weights: Weights, grads: Weights) -> Weights:
        total[:] = [t + g for t, g in zip(total, grads, strict=True)]
        return downhill(lr)(weights, total)

    return descend(weights, batches, update)


@instead_of(oracle.train, "gradients are zeroed in every other step only")
def zeroed_every_other_step(weights: Weights, batches: Batches, lr: float) -> Run:
    """The second, the fourth … use two batches' gradients."""
    last: list[Weights] = []

    def update(weights: Weights, grads: Weights) -> Weights:
        if len(last) % 2:
            grads = [a + b for a, b in zip(last[-1], grads, strict=True)]
        last.append(grads)
        return downhill(lr)(weights, grads)

    return descend(weights, batches, update)


@instead_of(oracle.train, "only the final layer's gradients are zeroed")
def final_zeroed(weights: Weights, batches: Batches, lr: float) -> Run:
    """Those of the layers pile up."""
    total: list[Array] = [np.zeros_like(w) for w in weights]

    def update(weights: Weights, grads: Weights) -> Weights:
        total[:] = [*(t + g for t, g in zip(total[:-1], grads[:-1], strict=True)), grads[-1]]
        return downhill(lr)(weights, total)

    return descend(weights, batches, update)


@instead_of(oracle.train, "step() is called before backward(): it uses the gradients of the batch before")
def stepped_before(weights: Weights, batches: Batches, lr: float) -> Run:
    """The first step has none."""
    last: list[Weights] = [[np.zeros_like(w) for w in weights]]

    def update(weights: Weights, grads: Weights) -> Weights:
        last.append(grads)
        return downhill(lr)(weights, last[-2])

    return descend(weights, batches, update)


@instead_of(oracle.train, STILL)
def still(weights: Weights, batches: Batches, lr: float) -> Run:
    """Every loss is the start's."""
    return weights, oracle.train(weights, batches, 0.0)[1]


@instead_of(oracle.seen_by_sgd, STILL)
def still_seen(steps: int, lr: float) -> dict[str, object]:
    """No step()."""
    return oracle.seen_by_sgd(steps, lr) | {"events": ["batch"] * steps}


@instead_of(oracle.train, "the loss is computed anew after the update")
def loss_afterwards(weights: Weights, batches: Batches, lr: float) -> Run:
    """It should be the one that the step descends from."""
    losses = []
    for x, y in batches:
        weights = oracle.train(weights, [(x, y)], lr)[0]
        losses.append(squared(cruncher.forward(weights, x), y, 0)[0])
    return weights, losses


@instead_of(oracle.train, "the mean of all losses so far is returned for each step")
def running_mean(weights: Weights, batches: Batches, lr: float) -> Run:
    """Smoother, and not the step's own."""
    weights, losses = oracle.train(weights, batches, lr)
    return weights, [float(np.mean(losses[: t + 1])) for t in range(len(losses))]


@instead_of(oracle.train, "the losses are rounded to four digits")
def rounded(weights: Weights, batches: Batches, lr: float) -> Run:
    """As for a log."""
    weights, losses = oracle.train(weights, batches, lr)
    return weights, [round(loss, 4) for loss in losses]


@instead_of(oracle.train, "the losses are divided by the batch size once more")
def divided_again(weights: Weights, batches: Batches, lr: float) -> Run:
    """They are means already."""
    weights, losses = oracle.train(weights, batches, lr)
    return weights, [loss / len(y) for loss, (_, y) in zip(losses, batches, strict=True)]


@instead_of(oracle.train, "the squared errors are summed, not averaged")
def summed(weights: Weights, batches: Batches, lr: float) -> Run:
    """The step grows with the batch."""
    return descend(weights, batches, downhill(lr), lambda out, y, _: (float(((out - y) ** 2).sum()), 2 * (out - y)))


@instead_of(oracle.train, "half the mean squared error is minimised")
def halved(weights: Weights, batches: Batches, lr: float) -> Run:
    """So that the 2 is gone from the slope."""
    return descend(weights, batches, downhill(lr), lambda out, y, d: (squared(out, y, d)[0] / 2, (out - y) / len(y)))


@instead_of(oracle.train, "the mean absolute error is minimised")
def absolute(weights: Weights, batches: Batches, lr: float) -> Run:
    """Not its square."""
    return descend(
        weights, batches, downhill(lr), lambda out, y, _: (float(abs(out - y).mean()), np.sign(out - y) / len(y))
    )


@instead_of(oracle.train, "the root of the mean squared error is minimised")
def rooted(weights: Weights, batches: Batches, lr: float) -> Run:
    """It falls as long as the square does."""

    def loss(out: Array, y: Array, width: int) -> tuple[float, Array]:
        value, slope = squared(out, y, width)
        return float(np.sqrt(value)), slope / (2 * np.sqrt(value))

    return descend(weights, batches, downhill(lr), loss)


@instead_of(oracle.train, "the mean is taken before the square")
def mean_first(weights: Weights, batches: Batches, lr: float) -> Run:
    """Errors of opposite signs cancel."""

    def loss(out: Array, y: Array, width: int) -> tuple[float, Array]:
        mean = float((out - y).mean())
        return mean**2, np.full(len(y), 2 * mean / len(y))

    return descend(weights, batches, downhill(lr), loss)


@instead_of(oracle.train, "the sum of the squared errors is divided by D, not by the batch size")
def over_width(weights: Weights, batches: Batches, lr: float) -> Run:
    """The wrong axis."""

    def loss(out: Array, y: Array, width: int) -> tuple[float, Array]:
        return float(((out - y) ** 2).sum()) / width, 2 * (out - y) / width

    return descend(weights, batches, downhill(lr), loss)


@instead_of(oracle.train, "every output is compared with every target: a column less a row is a matrix")
def all_pairs(weights: Weights, batches: Batches, lr: float) -> Run:
    """Broadcasting, unasked."""

    def loss(out: Array, y: Array, width: int) -> tuple[float, Array]:
        errors = out[:, None] - y[None, :]
        return float((errors**2).mean()), 2 * errors.mean(1) / len(y)

    return descend(weights, batches, downhill(lr), loss)


@instead_of(oracle.train, "targets are added to the outputs, not taken off")
def added(weights: Weights, batches: Batches, lr: float) -> Run:
    """A sign."""
    return oracle.train(weights, [(x, -y) for x, y in batches], lr)


@instead_of(oracle.train, ONE_BATCH)
def one_batch(weights: Weights, batches: Batches, lr: float) -> Run:
    """The first."""
    return oracle.train(weights, [*batches[:1]] * len(batches), lr)


@instead_of(oracle.asked, ONE_BATCH)
def asked_once(rows: int, dim: int, steps: int) -> list[int]:
    """Before the loop."""
    return [rows]


@instead_of(oracle.seen_by_sgd, ONE_BATCH)
def one_batch_seen(steps: int, lr: float) -> dict[str, object]:
    """Before the loop."""
    return oracle.seen_by_sgd(steps, lr) | {"events": ["batch"] + ["step"] * steps}


@instead_of(oracle.train, TWO_BATCHES)
def two_batches(weights: Weights, batches: Batches, lr: float) -> Run:
    """The targets belong to other inputs."""
    n = len(batches)
    return oracle.train(weights, [(batches[2 * t % n][0], batches[(2 * t + 1) % n][1]) for t in range(n)], lr)


@instead_of(oracle.asked, TWO_BATCHES)
def asked_twice(rows: int, dim: int, steps: int) -> list[int]:
    """In each step."""
    return [rows] * (2 * steps)


@instead_of(oracle.seen_by_sgd, TWO_BATCHES)
def two_batches_seen(steps: int, lr: float) -> dict[str, object]:
    """In each step."""
    return oracle.seen_by_sgd(steps, lr) | {"events": ["batch", "batch", "step"] * steps}


@instead_of(oracle.asked, AHEAD)
def asked_ahead(rows: int, dim: int, steps: int) -> list[int]:
    """One is left over."""
    return [rows] * (steps + 1)


@instead_of(oracle.seen_by_sgd, AHEAD)
def ahead_seen(steps: int, lr: float) -> dict[str, object]:
    """One is left over."""
    return oracle.seen_by_sgd(steps, lr) | {"events": ["batch"] + ["step", "batch"] * steps}


@instead_of(oracle.asked, "a batch of one row is asked for first, to look at it")
def asked_to_look(rows: int, dim: int, steps: int) -> list[int]:
    """D is given."""
    return [1] + [rows] * steps


@instead_of(oracle.asked, "batches of D rows are asked for, not of B")
def asked_for_width(rows: int, dim: int, steps: int) -> list[int]:
    """The wrong size."""
    return [dim] * steps


@instead_of(oracle.seen_by_sgd, "all batches are asked for before the first step")
def all_batches_first(steps: int, lr: float) -> dict[str, object]:
    """They are all in memory at once."""
    return oracle.seen_by_sgd(steps, lr) | {"events": ["batch"] * steps + ["step"] * steps}


@instead_of(oracle.train, "the last row of each batch is dropped")
def last_row_dropped(weights: Weights, batches: Batches, lr: float) -> Run:
    """A slice that ends too early."""
    return oracle.train(weights, [(x[: max(1, len(x) - 1)], y[: max(1, len(y) - 1)]) for x, y in batches], lr)


@instead_of(oracle.train, "the inputs of each batch are normalised first")
def normalised(weights: Weights, batches: Batches, lr: float) -> Run:
    """The model should fit them as they are."""
    return oracle.train(weights, [((x - x.mean(0)) / (x.std(0) + 1e-5), y) for x, y in batches], lr)


@instead_of(oracle.train, MANY)
def one_more(weights: Weights, batches: Batches, lr: float) -> Run:
    """Its loss is not returned."""
    weights, losses = oracle.train(weights, [*batches, batches[0]], lr)
    return weights, losses[:-1]


@instead_of(oracle.asked, MANY)
def one_more_asked(rows: int, dim: int, steps: int) -> list[int]:
    """A batch for it."""
    return [rows] * (steps + 1)


@instead_of(oracle.seen_by_sgd, MANY)
def one_more_seen(steps: int, lr: float) -> dict[str, object]:
    """With a batch."""
    return oracle.seen_by_sgd(steps + 1, lr)


@instead_of(oracle.asked, SHORT)
def one_less_asked(rows: int, dim: int, steps: int) -> list[int]:
    """As range(1, steps) counts."""
    return [rows] * (steps - 1)


@instead_of(oracle.seen_by_sgd, SHORT)
def one_less_seen(steps: int, lr: float) -> dict[str, object]:
    """As range(1, steps) counts."""
    return oracle.seen_by_sgd(steps - 1, lr)


@instead_of(oracle.train, NOT_TAKEN)
def last_not_taken(weights: Weights, batches: Batches, lr: float) -> Run:
    """Its loss is there."""
    return oracle.train(weights, batches[:-1], lr)[0], oracle.train(weights, batches, lr)[1]


@instead_of(oracle.seen_by_sgd, NOT_TAKEN)
def last_not_seen(steps: int, lr: float) -> dict[str, object]:
    """Its batch is asked for."""
    return oracle.seen_by_sgd(steps, lr) | {"events": (["batch", "step"] * steps)[:-1]}


@instead_of(oracle.train, TWICE)
def stepped_twice(weights: Weights, batches: Batches, lr: float) -> Run:
    """With the same gradients."""
    return descend(weights, batches, downhill(lr, times=2))


@instead_of(oracle.seen_by_sgd, TWICE)
def twice_seen(steps: int, lr: float) -> dict[str, object]:
    """After each batch."""
    return oracle.seen_by_sgd(steps, lr) | {"events": ["batch", "step", "step"] * steps}


@instead_of(oracle.seen_by_sgd, "two steps are taken for each batch, each at half of lr")
def half_steps(steps: int, lr: float) -> dict[str, object]:
    """For SGD it comes to the same."""
    return oracle.seen_by_sgd(steps, lr / 2) | {"events": ["batch", "step", "step"] * steps}


@instead_of(oracle.train, DEFAULT_RATE)
def default_rate(weights: Weights, batches: Batches, lr: float) -> Run:
    """0.01."""
    return oracle.train(weights, batches, 0.01)


@instead_of(oracle.seen_by_sgd, DEFAULT_RATE)
def default_rate_seen(steps: int, lr: float) -> dict[str, object]:
    """0.01."""
    return oracle.seen_by_sgd(steps, 0.01)


@instead_of(oracle.seen_by_sgd, "lr scales the loss, and SGD steps at 1")
def rate_in_the_loss(steps: int, lr: float) -> dict[str, object]:
    """For SGD it comes to the same."""
    return oracle.seen_by_sgd(steps, 1.0)


@instead_of(oracle.train, "lr falls from step to step")
def falling_rate(weights: Weights, batches: Batches, lr: float) -> Run:
    """Towards 0 after the last."""
    losses = []
    for t, batch in enumerate(batches):
        weights, (loss,) = oracle.train(weights, [batch], lr * (1 - t / len(batches)))
        losses.append(loss)
    return weights, losses


@instead_of(oracle.train, "the gradients are clipped to norm 1")
def clipped(weights: Weights, batches: Batches, lr: float) -> Run:
    """As clip_grad_norm_ does."""

    def update(weights: Weights, grads: Weights) -> Weights:
        norm = float(np.sqrt(sum((g**2).sum() for g in grads)))
        return downhill(lr * min(1.0, 1 / (norm + 1e-6)))(weights, grads)

    return descend(weights, batches, update)


@instead_of(oracle.seen_by_sgd, OTHER_OPTIMIZER)
def other_optimizer(steps: int, lr: float) -> dict[str, object]:
    """Another one, as torch.optim.SGD."""
    return {"events": ["batch"] * steps, "rates": [], "weights move": True}


@instead_of(oracle.seen_by_sgd, "the weights are moved by hand, not by SGD")
def by_hand(steps: int, lr: float) -> dict[str, object]:
    """There is an SGD, and it is not asked."""
    return {"events": ["batch"] * steps, "rates": [lr], "weights move": True}


@instead_of(oracle.train, BY_HAND_AS_WELL)
def by_hand_as_well(weights: Weights, batches: Batches, lr: float) -> Run:
    """Twice as far."""
    return descend(
        weights,
        batches,
        lambda ws, gs: [*downhill(lr)(ws[:-1], gs[:-1]), *downhill(lr, times=2)(ws[-1:], gs[-1:])],
    )


@instead_of(oracle.seen_by_sgd, BY_HAND_AS_WELL)
def by_hand_as_well_seen(steps: int, lr: float) -> dict[str, object]:
    """Though SGD stands still."""
    return oracle.seen_by_sgd(steps, lr) | {"weights move": True}


@instead_of(oracle.train, "the steps are AdaGrad's")
def adagrads(weights: Weights, batches: Batches, lr: float) -> Run:
    """Not SGD's."""
    memory: list[Array] = [np.zeros_like(w) for w in weights]

    def update(weights: Weights, grads: Weights) -> Weights:
        moved = [adagrad.step(w, m, g, lr) for w, m, g in zip(weights, memory, grads, strict=True)]
        memory[:] = [m for _, m in moved]
        return [w for w, _ in moved]

    return descend(weights, batches, update)


@instead_of(oracle.train, "only the final layer is trained")
def final_only(weights: Weights, batches: Batches, lr: float) -> Run:
    """SGD has no other parameters."""
    return descend(weights, batches, lambda ws, gs: [*ws[:-1], *downhill(lr)(ws[-1:], gs[-1:])])


@instead_of(oracle.train, "the model that is returned is not the one that was trained")
def copy_trained(weights: Weights, batches: Batches, lr: float) -> Run:
    """The losses are the other one's."""
    return weights, oracle.train(weights, batches, lr)[1]


@instead_of(oracle.train, FROM_ZEROS)
def from_zeros(weights: Weights, batches: Batches, lr: float) -> Run:
    """A deep model never leaves them."""
    return oracle.train([np.zeros_like(w) for w in weights], batches, lr)


@instead_of(oracle.seen_by_sgd, FROM_ZEROS)
def from_zeros_seen(steps: int, lr: float) -> dict[str, object]:
    """They are not what they were."""
    return oracle.seen_by_sgd(steps, lr) | {"weights move": True}


@instead_of(oracle.untrained, DRAWN_FIRST)
def drawn_first() -> dict[str, bool]:
    """The generator stands elsewhere then."""
    return oracle.untrained() | {"as Cruncher(D, num_layers) starts": False}


@instead_of(oracle.seen_by_sgd, DRAWN_FIRST)
def drawn_first_seen(steps: int, lr: float) -> dict[str, object]:
    """The weights are not those of the seed."""
    return oracle.seen_by_sgd(steps, lr) | {"weights move": True}


@instead_of(oracle.untrained, "the model is a class of its own, not Cruncher from cruncher.py")
def other_model() -> dict[str, bool]:
    """It computes the same."""
    return oracle.untrained() | {"is a Cruncher": False}


@instead_of(oracle.attached, "the losses are kept with their graphs: detach() them")
def graphs_kept() -> bool:
    """And with all that the graphs hold."""
    return True


@instead_of(oracle.built, "there is at least one layer, for num_layers=0, too")
def at_least_one_layer(dim: int, num_layers: int, device: str) -> dict[str, object]:
    """Final alone is a model."""
    return oracle.built(dim, max(1, num_layers), device)


@instead_of(oracle.built, "the model is not put on the device")
def other_device(dim: int, num_layers: int, device: str) -> dict[str, object]:
    """It stays where it was built."""
    return oracle.built(dim, num_layers, "cpu")


@instead_of(oracle.built, "only the layers are put on the device, not the final one")
def layers_moved(dim: int, num_layers: int, device: str) -> dict[str, object]:
    """The whole model should be."""
    places = sorted({"cpu", device} if num_layers else {"cpu"})
    return oracle.built(dim, num_layers, device) | {"devices": places}
