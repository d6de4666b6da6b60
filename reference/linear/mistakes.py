"""Mistakes in a linear layer."""

import math
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.linear import oracle
from torchkata import instead_of

Weight = Float[Array, "input_dim output_dim"]
Input = Float[Array, "*leading input_dim"]
Output = Float[Array, "*leading output_dim"]

Moments: TypeAlias = tuple[float, float]  # the least and the most that it may be

UNIFORM = "the start is uniform, as in torch's own Linear, not normal"
POSITIVE = "all elements start positive: the signs are lost"
SIGNS = "all elements start with the same size, and only their signs are drawn"
CUT = "the start is cut off at {bound:g} standard deviations"
BOUNDS = [1.0, 1.5, 2.0, 2.5]
CUT_BY_TORCH = "trunc_normal_ cuts at -2 and 2 whatever std is: give it a and b of three standard deviations"


@instead_of(oracle.forward, "the weight is transposed before the product")
def transposed(weight: Weight, x: Input) -> Output:
    return x @ weight.T


@instead_of(oracle.backward, "no gradient reaches the weight")
def weight_detached(weight: Weight, x: Input, grad_y: Output) -> tuple[None, Input]:
    return None, oracle.backward(weight, x, grad_y)[1]


@instead_of(oracle.backward, "no gradient reaches the input")
def input_detached(weight: Weight, x: Input, grad_y: Output) -> tuple[Weight, None]:
    return oracle.backward(weight, x, grad_y)[0], None


@instead_of(oracle.backward, "the gradient of the weight is averaged over the rows, not summed")
def averaged_gradient(weight: Weight, x: Input, grad_y: Output) -> tuple[Weight, Input]:
    grad_weight, grad_x = oracle.backward(weight, x, grad_y)
    return grad_weight / max(1, x.size // x.shape[-1]), grad_x


@instead_of(oracle.forward, "a ReLU follows the product")
def relu(weight: Weight, x: Input) -> Output:
    return np.maximum(oracle.forward(weight, x), 0)


@instead_of(oracle.forward, "the leading dimensions are flattened into one")
def flattened(weight: Weight, x: Input) -> Output:
    return x.reshape(-1, x.shape[-1]) @ weight


@instead_of(oracle.forward, "all dimensions of size 1 are squeezed away")
def squeezed(weight: Weight, x: Input) -> Output:
    return np.squeeze(oracle.forward(weight, x))


@instead_of(oracle.forward, "a first dimension of size 1 is squeezed away")
def first_squeezed(weight: Weight, x: Input) -> Output:
    y = oracle.forward(weight, x)
    return y[0] if y.shape[0] == 1 else y


@instead_of(oracle.forward, "the last dimension is squeezed away where output_dim is 1")
def last_squeezed(weight: Weight, x: Input) -> Output:
    y = oracle.forward(weight, x)
    return y[..., 0] if y.shape[-1] == 1 else y


@instead_of(oracle.forward, "a vector becomes a batch of one row")
def made_a_batch(weight: Weight, x: Input) -> Output:
    return np.atleast_2d(oracle.forward(weight, x))


@instead_of(oracle.forward, "the output is divided by sqrt(input_dim): the start of the weight should be")
def scaled_output(weight: Weight, x: Input) -> Output:
    return oracle.forward(weight, x) / math.sqrt(x.shape[-1])


@instead_of(oracle.initial_std, "the start is not scaled: its standard deviation is 1")
def unscaled(input_dim: int, output_dim: int) -> float:
    return 1.0


@instead_of(oracle.initial_std, "the spread at the start is 1 / input_dim, without the root")
def without_root(input_dim: int, output_dim: int) -> float:
    return 1 / input_dim


@instead_of(oracle.initial_std, "the spread at the start is 1 / sqrt(output_dim): the other size counts")
def root_of_output_dim(input_dim: int, output_dim: int) -> float:
    return 1 / math.sqrt(output_dim)


@instead_of(oracle.initial_std, "the spread at the start is sqrt(input_dim): multiplied where it should be divided")
def multiplied(input_dim: int, output_dim: int) -> float:
    return math.sqrt(input_dim)


@instead_of(oracle.initial_std, "the spread at the start is sqrt(2 / input_dim), as it should be before a ReLU")
def he(input_dim: int, output_dim: int) -> float:
    return math.sqrt(2 / input_dim)


@instead_of(oracle.initial_std, "the spread at the start is sqrt(2 / (input_dim + output_dim)), Glorot's")
def glorot(input_dim: int, output_dim: int) -> float:
    return math.sqrt(2 / (input_dim + output_dim))


@instead_of(
    oracle.initial_std, "the spread at the start is {std:g} whatever the size", std=[0.01, 0.02, 0.05, 0.1, 0.5]
)
def one_for_all_sizes(input_dim: int, output_dim: int, std: float) -> float:
    return std


@instead_of(
    oracle.initial_std, "the spread at the start is {gain:g} / sqrt(input_dim), not 1", gain=[0.1, 0.5, 2.0, 3.0]
)
def with_a_gain(input_dim: int, output_dim: int, gain: float) -> float:
    return gain / math.sqrt(input_dim)


@instead_of(oracle.initial_std, UNIFORM)
def uniform_std(input_dim: int, output_dim: int) -> float:
    return 1 / math.sqrt(3 * input_dim)


@instead_of(oracle.initial_kurtosis, UNIFORM)
def uniform_kurtosis(input_dim: int, output_dim: int) -> Moments:
    return 1.8, 1.8


@instead_of(oracle.initial_mean, POSITIVE)
def positive_mean(input_dim: int, output_dim: int) -> float:
    return math.sqrt(2 / math.pi / input_dim)


@instead_of(oracle.initial_std, POSITIVE)
def positive_std(input_dim: int, output_dim: int) -> float:
    return math.sqrt((1 - 2 / math.pi) / input_dim)


def spread_of_cut(bound: float) -> tuple[float, float]:
    """Variance and kurtosis of a standard normal that is cut off at -bound and bound."""
    inside = math.erf(bound / math.sqrt(2))
    edge = 2 * math.exp(-(bound**2) / 2) / math.sqrt(2 * math.pi) / inside
    variance = 1 - bound * edge
    return variance, (3 * variance - bound**3 * edge) / variance**2


@instead_of(oracle.initial_std, CUT, bound=BOUNDS)
def cut_early(input_dim: int, output_dim: int, bound: float) -> float:
    return math.sqrt(spread_of_cut(bound)[0] / input_dim)


@instead_of(oracle.initial_kurtosis, CUT, bound=BOUNDS)
def cut_early_kurtosis(input_dim: int, output_dim: int, bound: float) -> Moments:
    return (spread_of_cut(bound)[1],) * 2


@instead_of(oracle.initial_std, CUT_BY_TORCH)
def cut_by_torch(input_dim: int, output_dim: int) -> float:
    return math.sqrt(spread_of_cut(2 * math.sqrt(input_dim))[0] / input_dim)


@instead_of(oracle.initial_kurtosis, CUT_BY_TORCH)
def cut_by_torch_kurtosis(input_dim: int, output_dim: int) -> Moments:
    return (spread_of_cut(2 * math.sqrt(input_dim))[1],) * 2


@instead_of(oracle.initial_kurtosis, "the tails of the start are heavier than a normal's: a Laplace distribution's")
def laplace(input_dim: int, output_dim: int) -> Moments:
    return 6.0, 6.0


@instead_of(oracle.initial_kurtosis, SIGNS)
def signs(input_dim: int, output_dim: int) -> Moments:
    return 1.0, 1.0


@instead_of(oracle.initial_repeats, SIGNS)
def repeated_signs(input_dim: int, output_dim: int) -> float:
    return 1.0
