"""Mistakes in Linear."""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from reference.linear import oracle
from torchkata import instead_of

Weight = Float[Array, "input_dim output_dim"]
Input = Float[Array, "*leading input_dim"]
Output = Float[Array, "*leading output_dim"]

Moments: TypeAlias = tuple[float, float]  # minimum and maximum

BY_DEFAULT = (
    "the initial weight is drawn with trunc_normal_'s defaults, a standard deviation of 1 truncated at -2 and 2: "
    "pass std, and -3 * std and 3 * std as a and b"
)
RELU = "a ReLU is applied to the output"
SCALED = "the output is divided by sqrt(input_dim): divide the initial weight instead"
MEAN_FIRST = (
    "the mean of the initial weight is 1 / sqrt(input_dim), and its standard deviation 1: normal_ takes the mean first"
)
POSITIVE = "all initial weights are positive: the signs are lost"
SIGNS = "all initial weights have the same absolute value and random signs"
CUT = "of the initial weight is that of a normal distribution truncated at {bound:g} standard deviations"
BOUNDS = [1.0, 1.5, 2.0, 2.5]
CUT_BY_TORCH = (
    "the initial weight is truncated at -2 and 2, trunc_normal_'s defaults: pass -3 * std and 3 * std as a and b"
)


@instead_of(oracle.forward, "the weight is transposed before the matmul")
def transposed(weight: Weight, x: Input) -> Output:
    return x @ weight.T


@instead_of(
    oracle.backward,
    "the weight requires grad, but receives no gradient: is it used with detach(), .data or torch.no_grad()?",
)
def weight_detached(weight: Weight, x: Input, grad_y: Output) -> tuple[None, Input]:
    return None, oracle.backward(weight, x, grad_y)[1]


@instead_of(oracle.backward, "the input receives no gradient")
def input_detached(weight: Weight, x: Input, grad_y: Output) -> tuple[Weight, None]:
    return oracle.backward(weight, x, grad_y)[0], None


@instead_of(oracle.backward, "the gradient of the weight is averaged over the rows instead of summed")
def averaged_gradient(weight: Weight, x: Input, grad_y: Output) -> tuple[Weight, Input]:
    grad_weight, grad_x = oracle.backward(weight, x, grad_y)
    return grad_weight / max(1, x.size // x.shape[-1]), grad_x


@instead_of(oracle.forward, RELU)
def relu(weight: Weight, x: Input) -> Output:
    return np.maximum(oracle.forward(weight, x), 0)


@instead_of(oracle.backward, RELU)
def relu_backward(weight: Weight, x: Input, grad_y: Output) -> tuple[Weight, Input]:
    return oracle.backward(weight, x, grad_y * (oracle.forward(weight, x) > 0))


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


@instead_of(oracle.forward, "the last dimension is squeezed away if output_dim is 1")
def last_squeezed(weight: Weight, x: Input) -> Output:
    y = oracle.forward(weight, x)
    return y[..., 0] if y.shape[-1] == 1 else y


@instead_of(oracle.forward, "a vector is converted to a batch with one row")
def made_a_batch(weight: Weight, x: Input) -> Output:
    return np.atleast_2d(oracle.forward(weight, x))


@instead_of(oracle.forward, SCALED)
def scaled_output(weight: Weight, x: Input) -> Output:
    return oracle.forward(weight, x) / math.sqrt(x.shape[-1])


@instead_of(oracle.backward, SCALED)
def scaled_gradients(weight: Weight, x: Input, grad_y: Output) -> tuple[Weight, Input]:
    return oracle.backward(weight, x, grad_y / math.sqrt(x.shape[-1]))


@instead_of(oracle.initial_std, "the initial standard deviation is always 1: divide the weight by sqrt(input_dim)")
def unscaled(input_dim: int, output_dim: int) -> float:
    return 1.0


@instead_of(oracle.initial_std, "the initial standard deviation is 1 / input_dim: the square root is missing")
def without_root(input_dim: int, output_dim: int) -> float:
    return 1 / input_dim


@instead_of(oracle.initial_std, "the initial standard deviation is 1 / sqrt(output_dim) instead of 1 / sqrt(input_dim)")
def root_of_output_dim(input_dim: int, output_dim: int) -> float:
    return 1 / math.sqrt(output_dim)


@instead_of(oracle.initial_std, "the initial weight is multiplied by sqrt(input_dim) instead of divided by it")
def multiplied(input_dim: int, output_dim: int) -> float:
    return math.sqrt(input_dim)


@instead_of(oracle.initial_std, "the initial standard deviation is sqrt(2 / input_dim), as in He initialization")
def he(input_dim: int, output_dim: int) -> float:
    return math.sqrt(2 / input_dim)


@instead_of(
    oracle.initial_std,
    "the initial standard deviation is sqrt(2 / (input_dim + output_dim)), as in Glorot initialization",
)
def glorot(input_dim: int, output_dim: int) -> float:
    return math.sqrt(2 / (input_dim + output_dim))


@instead_of(oracle.initial_std, "the initial standard deviation is always {std:g}", std=[0.01, 0.02, 0.05, 0.1, 0.5])
def one_for_all_sizes(input_dim: int, output_dim: int, std: float) -> float:
    return std


@instead_of(
    oracle.initial_std,
    "the initial standard deviation is {gain:g} / sqrt(input_dim) instead of 1 / sqrt(input_dim)",
    gain=[0.1, 0.5, 2.0, 3.0],
)
def with_a_gain(input_dim: int, output_dim: int, gain: float) -> float:
    return gain / math.sqrt(input_dim)


FORMULAS: dict[str, Callable[[int, int], float]] = {
    "1 / sqrt(input_dim + output_dim)": lambda i, o: (i + o) ** -0.5,
    "1 / output_dim": lambda _, o: 1 / o,
    "sqrt(2 / output_dim)": lambda _, o: (2 / o) ** 0.5,  # kaiming_normal_, for which the last dimension is the input
    "1 / sqrt(3 · output_dim)": lambda _, o: (3 * o) ** -0.5,  # its uniform variant, as nn.Linear calls it
}


@instead_of(
    oracle.initial_std,
    "the initial standard deviation is {formula} instead of 1 / sqrt(input_dim)",
    formula=[*FORMULAS],
)
def by_another_formula(input_dim: int, output_dim: int, formula: str) -> float:
    return FORMULAS[formula](input_dim, output_dim)


@instead_of(oracle.initial_mean, MEAN_FIRST)
def mean_of_the_root(input_dim: int, output_dim: int) -> float:
    return 1 / math.sqrt(input_dim)


@instead_of(oracle.initial_std, MEAN_FIRST)
def std_left_at_one(input_dim: int, output_dim: int) -> float:
    return 1.0


@instead_of(oracle.initial_std, "the initial standard deviation is 1 / sqrt(3 · input_dim), as in nn.Linear")
def uniform_std(input_dim: int, output_dim: int) -> float:
    return oracle.initial_std(input_dim, output_dim) / math.sqrt(3)


@instead_of(
    oracle.initial_kurtosis,
    "the kurtosis of the initial weight is 1.8, as that of a uniform distribution, instead of 3",
)
def uniform_kurtosis(input_dim: int, output_dim: int, std: float) -> Moments:
    return 1.8, 1.8


@instead_of(oracle.initial_mean, POSITIVE)
def positive_mean(input_dim: int, output_dim: int) -> float:
    return oracle.initial_std(input_dim, output_dim) * math.sqrt(2 / math.pi)


@instead_of(oracle.initial_std, POSITIVE)
def positive_std(input_dim: int, output_dim: int) -> float:
    return oracle.initial_std(input_dim, output_dim) * math.sqrt(1 - 2 / math.pi)


def truncated_moments(bound: float) -> tuple[float, float]:
    """Return the variance and kurtosis of a standard normal truncated at ±bound."""
    inside = math.erf(bound / math.sqrt(2))
    edge = 2 * math.exp(-(bound**2) / 2) / math.sqrt(2 * math.pi) / inside
    variance = 1 - bound * edge
    return variance, (3 * variance - bound**3 * edge) / variance**2


@instead_of(oracle.initial_std, f"the standard deviation {CUT}", bound=BOUNDS)
def cut_early(input_dim: int, output_dim: int, bound: float) -> float:
    return oracle.initial_std(input_dim, output_dim) * math.sqrt(truncated_moments(bound)[0])


@instead_of(oracle.initial_kurtosis, f"the kurtosis {CUT}", bound=BOUNDS)
def cut_early_kurtosis(input_dim: int, output_dim: int, std: float, bound: float) -> Moments:
    return (truncated_moments(bound)[1],) * 2


@instead_of(oracle.initial_std, CUT_BY_TORCH)
def cut_by_torch(input_dim: int, output_dim: int) -> float:
    return math.sqrt(truncated_moments(2 * math.sqrt(input_dim))[0] / input_dim)


@instead_of(oracle.initial_kurtosis, CUT_BY_TORCH)
def cut_by_torch_kurtosis(input_dim: int, output_dim: int, std: float) -> Moments:
    return (truncated_moments(2 * math.sqrt(input_dim))[1],) * 2


@instead_of(oracle.initial_std, BY_DEFAULT)
def cut_by_default(input_dim: int, output_dim: int) -> float:
    return math.sqrt(truncated_moments(2)[0])


@instead_of(oracle.initial_kurtosis, BY_DEFAULT)
def cut_by_default_kurtosis(input_dim: int, output_dim: int, std: float) -> Moments:
    is_default = math.isclose(std, math.sqrt(truncated_moments(2)[0]), rel_tol=0.03)
    return (truncated_moments(2)[1],) * 2 if is_default else oracle.initial_kurtosis(input_dim, output_dim, std)


@instead_of(
    oracle.initial_kurtosis,
    "the initial weight has heavier tails than a normal distribution: its kurtosis is about twice as large",
)
def laplace(input_dim: int, output_dim: int, std: float) -> Moments:
    return 5.3, 6.7  # 6, and five standard deviations of an estimate from 65,536 weights


@instead_of(oracle.initial_kurtosis, SIGNS)
def signs(input_dim: int, output_dim: int, std: float) -> Moments:
    return 1.0, 1.0


@instead_of(oracle.initial_repeats, SIGNS)
def repeated_signs(input_dim: int, output_dim: int) -> float:
    return 1.0
