"""Mistakes in the steps of a training loop and in the model that it builds."""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray as Array

from reference.adagrad import oracle as adagrad
from reference.train import loss_mistakes, oracle
from reference.train.loss_mistakes import Batches, Run, Weights, descend, downhill
from torchkata import Mistake, instead_of

SHARED = [loss_mistakes]
MANY = "one extra step is taken"
SHORT = "one step is missing"
NOT_TAKEN = "the last step is not taken"
STILL = "the weights never change: do backward() and then step() run for each batch, without zero_grad() between them?"
DEFAULT_RATE = "every step uses an lr of 0.01, SGD's default, instead of the lr passed to train"
BY_HAND_AS_WELL = "the final weight moves twice as far in each step as it should"
FROM_ZEROS = "the weights are initialized to zero"


def change_events(
    message: str, *, each_step: Sequence[str] = ("batch", "step"), rates: list[float] | None = None, move: bool = False
) -> Mistake:
    """Return a mistake that changes the events of each step, the learning rates, or whether the weights change."""
    return instead_of(oracle.seen_by_sgd, message)(
        lambda steps, lr: {
            "events": [*each_step] * steps,
            "rates": [lr] if rates is None else rates,
            "weights move": move,
        }
    )


@instead_of(oracle.train, "gradients are not zeroed between steps, so they accumulate")
def piling_up(weights: Weights, batches: Batches, lr: float) -> Run:
    total: list[Array] = [np.zeros_like(w) for w in weights]

    def update(weights: Weights, grads: Weights) -> Weights:
        total[:] = [t + g for t, g in zip(total, grads, strict=True)]
        return downhill(lr)(weights, total)

    return descend(weights, batches, update)


@instead_of(oracle.train, "gradients are zeroed only in every second step")
def zeroed_every_other_step(weights: Weights, batches: Batches, lr: float) -> Run:
    last: list[Weights] = []

    def update(weights: Weights, grads: Weights) -> Weights:
        if len(last) % 2:
            grads = [a + b for a, b in zip(last[-1], grads, strict=True)]
        last.append(grads)
        return downhill(lr)(weights, grads)

    return descend(weights, batches, update)


@instead_of(oracle.train, "only the final layer's gradients are zeroed")
def final_zeroed(weights: Weights, batches: Batches, lr: float) -> Run:
    total: list[Array] = [np.zeros_like(w) for w in weights]

    def update(weights: Weights, grads: Weights) -> Weights:
        total[:] = [*(t + g for t, g in zip(total[:-1], grads[:-1], strict=True)), grads[-1]]
        return downhill(lr)(weights, total)

    return descend(weights, batches, update)


@instead_of(oracle.train, "step() uses the gradients of the previous batch: call it after backward()")
def stepped_before(weights: Weights, batches: Batches, lr: float) -> Run:
    last: list[Weights] = [[np.zeros_like(w) for w in weights]]

    def update(weights: Weights, grads: Weights) -> Weights:
        last.append(grads)
        return downhill(lr)(weights, last[-2])

    return descend(weights, batches, update)


@instead_of(oracle.train, STILL)
def still(weights: Weights, batches: Batches, lr: float) -> Run:
    return weights, oracle.train(weights, batches, 0.0)[1]


still_seen = change_events(STILL, each_step=["batch"])


@instead_of(oracle.train, MANY)
def one_more(weights: Weights, batches: Batches, lr: float) -> Run:
    weights, losses = oracle.train(weights, [*batches, batches[0]], lr)
    return weights, losses[:-1]


@instead_of(oracle.seen_by_sgd, MANY)
def one_more_seen(steps: int, lr: float) -> dict[str, object]:
    return oracle.seen_by_sgd(steps + 1, lr)


@instead_of(oracle.asked, SHORT)
def one_less_asked(rows: int, dim: int, steps: int) -> list[int]:
    return [rows] * (steps - 1)


@instead_of(oracle.seen_by_sgd, SHORT)
def one_less_seen(steps: int, lr: float) -> dict[str, object]:
    return oracle.seen_by_sgd(steps - 1, lr)


@instead_of(oracle.train, NOT_TAKEN)
def last_not_taken(weights: Weights, batches: Batches, lr: float) -> Run:
    return oracle.train(weights, batches[:-1], lr)[0], oracle.train(weights, batches, lr)[1]


@instead_of(oracle.seen_by_sgd, NOT_TAKEN)
def last_not_seen(steps: int, lr: float) -> dict[str, object]:
    return oracle.seen_by_sgd(steps, lr) | {"events": (["batch", "step"] * steps)[:-1]}


@instead_of(oracle.train, "each step moves the weights by twice lr times the gradient")
def stepped_twice(weights: Weights, batches: Batches, lr: float) -> Run:
    return descend(weights, batches, downhill(lr, times=2))


twice_seen = change_events("step() is called twice for each batch", each_step=["batch", "step", "step"])


@instead_of(oracle.seen_by_sgd, "two steps with lr / 2 are taken for each batch")
def half_steps(steps: int, lr: float) -> dict[str, object]:
    return oracle.seen_by_sgd(steps, lr / 2) | {"events": ["batch", "step", "step"] * steps}


@instead_of(oracle.train, DEFAULT_RATE)
def default_rate(weights: Weights, batches: Batches, lr: float) -> Run:
    return oracle.train(weights, batches, 0.01)


default_rate_seen = change_events(DEFAULT_RATE, rates=[0.01])
rate_in_the_loss = change_events("SGD's lr is 1 instead of the lr passed to train", rates=[1.0])


@instead_of(oracle.train, "each step is divided by the number of steps: the loss is the mean over this batch only")
def divided_by_steps(weights: Weights, batches: Batches, lr: float) -> Run:
    return oracle.train(weights, batches, lr / len(batches))


@instead_of(
    oracle.train, "the returned weights are those with the lowest loss, not those after the last step", steps=[0, 1]
)
def best_returned(weights: Weights, batches: Batches, lr: float, steps: int) -> Run:
    losses = oracle.train(weights, batches, lr)[1]
    return oracle.train(weights, batches[: int(np.argmin(losses)) + steps], lr)[0], losses


@instead_of(oracle.train, "lr decreases from step to step")
def falling_rate(weights: Weights, batches: Batches, lr: float) -> Run:
    losses = []
    for t, batch in enumerate(batches):
        weights, (loss,) = oracle.train(weights, [batch], lr * (1 - t / len(batches)))
        losses.append(loss)
    return weights, losses


@instead_of(oracle.train, "the gradients are clipped to norm {most:g}", most=[0.1, 0.5, 1.0, 5.0, 10.0])
def clipped(weights: Weights, batches: Batches, lr: float, most: float) -> Run:
    def update(weights: Weights, grads: Weights) -> Weights:
        norm = float(np.sqrt(sum((g**2).sum() for g in grads)))
        return downhill(lr * min(1.0, most / (norm + 1e-6)))(weights, grads)

    return descend(weights, batches, update)


other_optimizer = change_events(
    "the steps are not taken by the SGD from sgd.py", each_step=["batch"], rates=[], move=True
)
by_hand = change_events("SGD's step() is never called, but the weights change", each_step=["batch"], move=True)


@instead_of(oracle.train, BY_HAND_AS_WELL)
def by_hand_as_well(weights: Weights, batches: Batches, lr: float) -> Run:
    return descend(
        weights,
        batches,
        lambda ws, gs: [*downhill(lr)(ws[:-1], gs[:-1]), *downhill(lr, times=2)(ws[-1:], gs[-1:])],
    )


by_hand_as_well_seen = change_events(BY_HAND_AS_WELL, move=True)


@instead_of(oracle.train, "the weights are updated with AdaGrad instead of SGD")
def adagrads(weights: Weights, batches: Batches, lr: float) -> Run:
    memory: list[Array] = [np.zeros_like(w) for w in weights]

    def update(weights: Weights, grads: Weights) -> Weights:
        moved = [adagrad.step(w, m, g, lr) for w, m, g in zip(weights, memory, grads, strict=True)]
        memory[:] = [m for _, m in moved]
        return [w for w, _ in moved]

    return descend(weights, batches, update)


@instead_of(oracle.train, "only the final layer is trained")
def final_only(weights: Weights, batches: Batches, lr: float) -> Run:
    return descend(weights, batches, lambda ws, gs: [*ws[:-1], *downhill(lr)(ws[-1:], gs[-1:])])


@instead_of(oracle.train, "the losses are right, but the returned model has its initial weights")
def copy_trained(weights: Weights, batches: Batches, lr: float) -> Run:
    return weights, oracle.train(weights, batches, lr)[1]


@instead_of(oracle.train, FROM_ZEROS)
def from_zeros(weights: Weights, batches: Batches, lr: float) -> Run:
    return oracle.train([np.zeros_like(w) for w in weights], batches, lr)


from_zeros_seen = change_events(FROM_ZEROS, move=True)
drawn_first_seen = change_events(
    "the initial weights differ from those of a new Cruncher: build it first, set no seed, and leave its weights alone",
    move=True,
)


@instead_of(oracle.built, "a layer is created even for num_layers=0")
def at_least_one_layer(dim: int, num_layers: int, device: str, steps: int) -> dict[str, object]:
    return oracle.built(dim, max(1, num_layers), device, steps)


@instead_of(oracle.built, "the model is not on the requested device")
def other_device(dim: int, num_layers: int, device: str, steps: int) -> dict[str, object]:
    return oracle.built(dim, num_layers, "cpu", steps)


@instead_of(oracle.built, "a layer is on the requested device, but final is not")
def layers_moved(dim: int, num_layers: int, device: str, steps: int) -> dict[str, object]:
    places = sorted({"cpu", device} if num_layers else {"cpu"})
    return oracle.built(dim, num_layers, device, steps) | {"devices": places}
