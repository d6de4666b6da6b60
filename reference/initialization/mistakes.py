"""Mistakes in a start."""

import math

from reference.initialization import oracle
from reference.initialization.oracle import Start
from reference.initialization.starts import (
    NEVER,
    Clamped,
    DrawnOnce,
    Emptied,
    Mistaken,
    OneSided,
    Positive,
    Uniform,
)
from torchkata import instead_of


@instead_of(oracle.start, "the ends of the cut are -3 and 3 themselves; they should be three standard deviations away")
def cut_at_three_itself(input_dim: int, output_dim: int) -> Start:
    return Mistaken(input_dim**-0.5, 3 * input_dim**0.5)


@instead_of(
    oracle.start, "trunc_normal_ cuts at -2 and 2 whatever std is: give it a and b of three standard deviations"
)
def cut_by_torch(input_dim: int, output_dim: int) -> Start:
    return Mistaken(input_dim**-0.5, 2 * input_dim**0.5)


@instead_of(oracle.start, "nothing is cut off")
def uncut(input_dim: int, output_dim: int) -> Start:
    return Mistaken(input_dim**-0.5, NEVER)


@instead_of(oracle.start, "the cut is at {cut:g} standard deviations, not at 3", cut=[1.0, 1.5, 2.0, 2.5, 4.0])
def another_cut(input_dim: int, output_dim: int, cut: float) -> Start:
    return Mistaken(input_dim**-0.5, cut)


@instead_of(oracle.start, "the standard deviation is 1 / input_dim, without the root")
def without_root(input_dim: int, output_dim: int) -> Start:
    return Mistaken(1 / input_dim)


@instead_of(oracle.start, "trunc_normal_ is given the variance, 1 / input_dim; it takes the standard deviation")
def variance_for_std(input_dim: int, output_dim: int) -> Start:
    return Mistaken(1 / input_dim, 3 * input_dim**0.5)


@instead_of(oracle.start, "the standard deviation is 1, whatever the layer's size")
def standard(input_dim: int, output_dim: int) -> Start:
    return Mistaken(1)


@instead_of(oracle.start, "the standard deviation is 1 / sqrt(output_dim): it is the inputs that are summed")
def of_outputs(input_dim: int, output_dim: int) -> Start:
    return Mistaken(output_dim**-0.5)


@instead_of(oracle.start, "the standard deviation is sqrt(2 / input_dim), as He chose it for what a ReLU follows")
def he(input_dim: int, output_dim: int) -> Start:
    return Mistaken(math.sqrt(2 / input_dim))


@instead_of(oracle.start, "the standard deviation is sqrt(2 / (input_dim + output_dim)), Glorot's")
def glorot(input_dim: int, output_dim: int) -> Start:
    return Mistaken(math.sqrt(2 / (input_dim + output_dim)))


@instead_of(oracle.start, "the standard deviation is {std:g}, whatever the layer's size", std=[0.01, 0.02, 0.05, 0.1])
def one_for_all_sizes(input_dim: int, output_dim: int, std: float) -> Start:
    return Mistaken(std)


@instead_of(oracle.start, "the standard deviation is 1 / sqrt(input_dim) after the cut; it is meant before it")
def made_up_for(input_dim: int, output_dim: int) -> Start:
    right = oracle.start(input_dim, output_dim)
    return Mistaken(right.std**2 / math.sqrt(right.variance))


@instead_of(oracle.start, "the weights are uniform between the two ends, not normal")
def uniform(input_dim: int, output_dim: int) -> Start:
    return Uniform(input_dim**-0.5)


@instead_of(oracle.start, "the weights are uniform with the right standard deviation, not normal")
def uniform_of_that_spread(input_dim: int, output_dim: int) -> Start:
    return Uniform((3 * input_dim) ** -0.5)


@instead_of(oracle.start, "what is beyond the bound is moved to it, as clamp does; it should be drawn again")
def clamped(input_dim: int, output_dim: int) -> Start:
    return Clamped(input_dim**-0.5)


@instead_of(oracle.start, "what is beyond the bound is set to 0; it should be drawn again")
def set_to_zero(input_dim: int, output_dim: int) -> Start:
    return Emptied(input_dim**-0.5)


@instead_of(oracle.start, "what is beyond the bound is drawn again only once, and may be beyond again")
def drawn_again_once(input_dim: int, output_dim: int) -> Start:
    return DrawnOnce(input_dim**-0.5)


@instead_of(oracle.start, "the cut is on one side only")
def cut_above(input_dim: int, output_dim: int) -> Start:
    return OneSided(input_dim**-0.5)


@instead_of(oracle.start, "all weights are positive: the signs are lost")
def positive(input_dim: int, output_dim: int) -> Start:
    return Positive(input_dim**-0.5)


@instead_of(oracle.start, "the standard deviation is widened to make up for the cut; it is meant before it")
def widened(input_dim: int, output_dim: int) -> Start:
    right = oracle.start(input_dim, output_dim)
    wider = right.std**2 / math.sqrt(right.variance)
    return Mistaken(wider, right.bound / wider)
