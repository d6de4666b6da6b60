"""Mistakes in xavier_truncated_normal."""

import math

from reference.initialization import oracle
from reference.initialization.distributions import (
    NEVER,
    Clamped,
    DrawnOnce,
    Emptied,
    Mistaken,
    OneSided,
    Positive,
    Uniform,
)
from reference.initialization.oracle import TruncatedNormal
from torchkata import instead_of


@instead_of(oracle.distribution, "the weights are truncated at -3 and 3 instead of at three standard deviations")
def cut_at_three_itself(input_dim: int, output_dim: int) -> TruncatedNormal:
    std = oracle.distribution(input_dim, output_dim).std
    return Mistaken(std, 3 / std)


@instead_of(
    oracle.distribution,
    "the weights are truncated at -2 and 2, trunc_normal_'s defaults: pass three standard deviations as a and b",
)
def cut_by_torch(input_dim: int, output_dim: int) -> TruncatedNormal:
    std = oracle.distribution(input_dim, output_dim).std
    return Mistaken(std, 2 / std)


@instead_of(oracle.distribution, "the normal is not truncated")
def uncut(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Mistaken(oracle.distribution(input_dim, output_dim).std, NEVER)


@instead_of(
    oracle.distribution,
    "the weights are truncated at {cut:g} standard deviations instead of 3",
    cut=[1.0, 1.5, 2.0, 2.5, 4.0],
)
def another_cut(input_dim: int, output_dim: int, cut: float) -> TruncatedNormal:
    return Mistaken(oracle.distribution(input_dim, output_dim).std, cut)


@instead_of(oracle.distribution, "the standard deviation is 1 / input_dim: the square root is missing")
def without_root(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Mistaken(1 / input_dim)


@instead_of(
    oracle.distribution,
    "the standard deviation is 1 / input_dim, the variance, but the weights are truncated at 3 / sqrt(input_dim)",
)
def variance_for_std(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Mistaken(1 / input_dim, 3 * input_dim**0.5)


@instead_of(oracle.distribution, "the standard deviation is always 1")
def standard(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Mistaken(1)


@instead_of(oracle.distribution, "the standard deviation is 1 / sqrt(output_dim) instead of 1 / sqrt(input_dim)")
def of_outputs(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Mistaken(output_dim**-0.5)


@instead_of(oracle.distribution, "the standard deviation is sqrt(2 / input_dim), as in He initialization")
def he(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Mistaken(math.sqrt(2 / input_dim))


@instead_of(
    oracle.distribution, "the standard deviation is sqrt(2 / (input_dim + output_dim)), as in Glorot initialization"
)
def glorot(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Mistaken(math.sqrt(2 / (input_dim + output_dim)))


@instead_of(oracle.distribution, "the standard deviation is always {std:g}", std=[0.01, 0.02, 0.05, 0.1])
def one_for_all_sizes(input_dim: int, output_dim: int, std: float) -> TruncatedNormal:
    return Mistaken(std)


@instead_of(oracle.distribution, "the standard deviation is 1 / sqrt(input_dim) after truncation instead of before")
def made_up_for(input_dim: int, output_dim: int) -> TruncatedNormal:
    right = oracle.distribution(input_dim, output_dim)
    return Mistaken(right.std**2 / math.sqrt(right.variance))


@instead_of(oracle.distribution, "the weights are uniform between the bounds, not normal")
def uniform(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Uniform(oracle.distribution(input_dim, output_dim).std)


@instead_of(oracle.distribution, "the weights are uniform with the correct standard deviation, not normal")
def uniform_of_that_spread(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Uniform((3 * input_dim) ** -0.5)


@instead_of(oracle.distribution, "values beyond the bound are clamped to it instead of drawn again")
def clamped(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Clamped(oracle.distribution(input_dim, output_dim).std)


@instead_of(oracle.distribution, "values beyond the bound are set to 0 instead of drawn again")
def set_to_zero(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Emptied(oracle.distribution(input_dim, output_dim).std)


@instead_of(oracle.distribution, "values beyond the bound are drawn again only once, so some are still beyond it")
def drawn_again_once(input_dim: int, output_dim: int) -> TruncatedNormal:
    return DrawnOnce(oracle.distribution(input_dim, output_dim).std)


@instead_of(oracle.distribution, "the normal distribution is truncated on one side only")
def cut_above(input_dim: int, output_dim: int) -> TruncatedNormal:
    return OneSided(oracle.distribution(input_dim, output_dim).std)


@instead_of(oracle.distribution, "all weights are positive: the signs are lost")
def positive(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Positive(oracle.distribution(input_dim, output_dim).std)


@instead_of(
    oracle.distribution,
    "the bounds are right, but the standard deviation is 1 / sqrt(input_dim) after truncation instead of before",
)
def widened(input_dim: int, output_dim: int) -> TruncatedNormal:
    right = oracle.distribution(input_dim, output_dim)
    wider = right.std**2 / math.sqrt(right.variance)
    return Mistaken(wider, right.bound / wider)
