"""Mistakes in xavier_truncated_normal."""

import math

from reference.initialization import oracle
from reference.initialization.distributions import (
    NEVER,
    Between,
    Clamped,
    DrawnOnce,
    Emptied,
    Mistaken,
    Positive,
    Uniform,
)
from reference.initialization.oracle import TruncatedNormal
from torchkata import instead_of

UNIFORM = ["kaiming_uniform_", "xavier_uniform_"]


@instead_of(oracle.distribution, "the weights are truncated at -3 and 3 instead of at three standard deviations")
def cut_at_three_itself(input_dim: int, output_dim: int) -> TruncatedNormal:
    std = oracle.distribution(input_dim, output_dim).std
    return Mistaken(std, 3 / std)


@instead_of(
    oracle.distribution,
    "the weights are truncated at -2 and 2, trunc_normal_'s defaults: pass -3 * std and 3 * std as a and b",
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
    oracle.distribution,
    "the standard deviation is sqrt({factor:g} / (input_dim + output_dim)): Glorot initialization adds both sizes",
    factor=[2.0, 1.0],
)
def glorot(input_dim: int, output_dim: int, factor: float) -> TruncatedNormal:
    return Mistaken(math.sqrt(factor / (input_dim + output_dim)))


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
    return Between(oracle.distribution(input_dim, output_dim).std, low=NEVER)


@instead_of(oracle.distribution, "the lower bound is -2, the default of trunc_normal_: pass both a and b")
def a_by_default(input_dim: int, output_dim: int) -> TruncatedNormal:
    std = oracle.distribution(input_dim, output_dim).std
    return Between(std, low=2 / std)


@instead_of(
    oracle.distribution,
    "the standard deviation before truncation is 1, trunc_normal_'s default, and only the bounds are right: pass std",
)
def std_by_default(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Between(1.0, 3 / math.sqrt(input_dim), 3 / math.sqrt(input_dim))


@instead_of(
    oracle.distribution,
    "the mean is 1 / sqrt(input_dim) and the standard deviation 1: trunc_normal_'s second argument is the mean",
)
def std_as_mean(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Between(1.0, 3 / math.sqrt(input_dim), 3 / math.sqrt(input_dim), 1 / math.sqrt(input_dim))


@instead_of(oracle.distribution, "the weights are truncated at 3 / input_dim: the bounds lack the square root")
def bounds_without_root(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Between(input_dim**-0.5, 3 / math.sqrt(input_dim), 3 / math.sqrt(input_dim))


@instead_of(oracle.distribution, "the standard deviation is sqrt(input_dim) instead of 1 / sqrt(input_dim)")
def multiplied(input_dim: int, output_dim: int) -> TruncatedNormal:
    return Mistaken(math.sqrt(input_dim))


@instead_of(oracle.distribution, "the weights are uniform, as those of nn.init.{name}", name=UNIFORM)
def uniform_of_torch(input_dim: int, output_dim: int, name: str) -> TruncatedNormal:
    fan = output_dim if name == "kaiming_uniform_" else input_dim + output_dim
    return Uniform(math.sqrt(6 / fan) / 3)


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
