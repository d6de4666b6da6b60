"""Property tests for deep_network: square weights, each followed by a ReLU."""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.deep_network import oracle
from tests.own_answers import holds
from tests.probes import deep_network as probes
from tests.sampling import NORMAL_OR_CUT, Z, describe_cut, describe_tails
from tests.strategies import DTYPES, SEEDS, normal, rng_of, sizes
from torchkata import Plain, Student, Text, as_float64, assert_close, assert_equal, check, precondition, require

OWN = Text("output (expected: what your code returns for the same rows in a simpler call)")
ONE_WEIGHT = Text("layers share one weight")
CLEAR = 1e-3  # minimum distance of a product from 0, relative to its terms, so that rounding cannot change its sign


@dataclass(frozen=True)
class NetworkCase:
    """The weights of a network, an input with any leading dimensions, and the gradient of the output."""

    weights: list[Tensor]
    x: Tensor
    grad_y: Tensor


@st.composite
def networks(draw: st.DrawFn, num_layers: st.SearchStrategy[int], leading: st.SearchStrategy[list[int]]) -> NetworkCase:
    """Draw a case whose products are clearly positive or clearly negative, and whose outputs are not all 0."""
    dim, depth, axes = draw(sizes(3)), draw(num_layers), draw(leading)
    rng = rng_of(draw(SEEDS))
    while True:
        weights, x = [normal(rng, [dim, dim]) for _ in range(depth)], normal(rng, [*axes, dim])
        exact = [as_float64(w) for w in weights], as_float64(x)
        if is_clear(*exact) and (x.numel() == 0 or oracle.network(*exact).any()):
            return NetworkCase(weights, x, normal(rng, [*axes, dim]))


def is_clear(weights: list[np.ndarray], x: np.ndarray) -> bool:
    """Return whether the input of every ReLU is clearly positive, clearly negative or exactly 0."""
    for weight in weights:
        product, terms = x @ weight, abs(x) @ abs(weight)
        if (abs(product) < CLEAR * terms).any():
            return False
        x = np.maximum(product, 0)
    return True


def scale_of(weights: list[Tensor], x: Tensor) -> np.ndarray:
    """Return the sum of the absolute values of all terms of each output, without ReLU."""
    total = abs(as_float64(x))
    for weight in weights:
        total = total @ abs(as_float64(weight))
    return total


def assert_output(yours: Plain, case: NetworkCase, own: Plain = None) -> None:
    """Assert that the network's output is correct, or that it equals the student's `own` answer to another call."""
    expected = oracle.network([as_float64(w) for w in case.weights], as_float64(case.x))
    exact, what = (expected, "") if own is None else (as_float64(own), OWN)
    assert_close(yours, exact, scale=scale_of(case.weights, case.x), roundings=16 * (len(case.weights) + 1), what=what)


def assert_block(yours: Plain, weight: Tensor, x: Tensor) -> None:
    """Assert that the output of a block is correct."""
    expected = oracle.block(as_float64(weight), as_float64(x))
    assert_close(yours, expected, dtype=x.dtype, scale=scale_of([weight], x))


@given(st.lists(sizes(2, 3, 0), max_size=3), sizes(3), DTYPES, SEEDS)
def test_block_applies_relu_after_matmul(
    student: Student, leading: list[int], dim: int, dtype: torch.dtype, seed: int
) -> None:
    """Block(x) equals relu(x @ weight), for any leading dimensions and any floating-point dtype."""
    rng = rng_of(seed)
    weight, x = normal(rng, [dim, dim], dtype), 8 * normal(rng, [*leading, dim], dtype)
    assert_block(student.call(probes.block, weight, x), weight, x)


@given(networks(st.integers(1, 4), st.just([3])))
def test_layers_are_applied_in_order(student: Student, case: NetworkCase) -> None:
    """DeepNetwork(x) applies all blocks in order, including the last ReLU, and nothing else."""
    start = student.call(probes.initial_weights, case.x.shape[-1], len(case.weights), 1, 0)
    require(start["places"] == len(start["weights"]), ONE_WEIGHT)
    blocks = student.call(probes.chain_blocks, case.weights, case.x)
    yours = student.call(probes.network, case.weights, case.x)
    inputs = [case.x, *blocks[:-1]]
    are_right = all(holds(assert_block, *each) for each in zip(blocks, case.weights, inputs, strict=True))
    assert_output(yours, case, None if are_right else blocks[-1])


@given(networks(st.integers(0, 2), st.just([8])), st.lists(sizes(2, 2, 0), max_size=3))
def test_any_leading_dimensions_and_zero_layers_are_supported(
    student: Student, case: NetworkCase, leading: list[int]
) -> None:
    """Each row's output is the same for any leading dimensions, even of size 0. Zero layers return x unchanged."""
    own = student.call(probes.network, case.weights, case.x)
    part = replace(case, x=case.x[: math.prod(leading)].reshape([*leading, case.x.shape[1]]))
    yours = student.call(probes.network, case.weights, part.x)
    if not case.weights or holds(assert_output, own, case):
        assert_output(yours, part)
    else:
        is_right_form = isinstance(own, Tensor) and (own.shape, own.dtype) == (case.x.shape, case.x.dtype)
        is_usable = is_right_form and bool(own.isfinite().all())
        require(is_usable, Text("the output for 8 rows has the wrong type or shape"), yours=own)
        assert_output(yours, part, own[: math.prod(leading)].reshape(part.x.shape))


@given(networks(st.integers(1, 3), sizes(2, 4, 0).map(lambda rows: [rows])))
def test_gradients_reach_every_layer(student: Student, case: NetworkCase) -> None:
    """backward() computes the gradients of every weight and of x. No gradient flows back where a ReLU returned 0."""
    yours = student.call(probes.gradients, case.weights, case.x, case.grad_y)
    with precondition(Text("the output is already wrong")):
        assert_output(yours["y"], case)
    weights, x, grad_y = [as_float64(w) for w in case.weights], as_float64(case.x), as_float64(case.grad_y)
    grads, grad_x = oracle.backward(weights, x, grad_y)
    scales, scale_x = gradient_scales([abs(w) for w in weights], abs(x), abs(grad_y))
    roundings = 16 * len(weights)
    for i, (grad, scale) in enumerate(zip(grads, scales, strict=True)):
        what = Text("gradient of layers.{i}.weight", i=i)
        assert_close(yours["weights"][i], grad, scale=scale, roundings=roundings, what=what)
    assert_close(yours["x"], grad_x, scale=scale_x, roundings=roundings, what=Text("gradient of {name}", name="x"))


def gradient_scales(
    weights: list[np.ndarray], x: np.ndarray, grad_y: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the sum of the absolute values of all terms of each gradient. All arguments must be absolute values."""
    inputs = [x]
    for weight in weights:
        inputs.append(inputs[-1] @ weight)
    scales: list[np.ndarray] = []
    grad = grad_y
    for weight, layer_input in zip(reversed(weights), reversed(inputs[:-1]), strict=True):
        scales.insert(0, layer_input.T @ grad)
        grad = grad @ weight.T
    return scales, grad


@given(st.integers(1, 6), sizes(1, 4, 0))
def test_state_dict_has_expected_keys(student: Student, dim: int, num_layers: int) -> None:
    """layers is an nn.ModuleList of Blocks, each with only its own trainable float32 weight of shape (dim, dim)."""
    anatomy, expected = student.call(probes.anatomy, dim, num_layers), oracle.anatomy(dim, num_layers)
    assert_equal(anatomy["parameters"], expected["parameters"], what=Text("number of trainable parameters"))
    assert_equal(anatomy["state_dict"], expected["state_dict"], what="state_dict")
    assert_equal(anatomy["dtypes"], expected["dtypes"], what="dtypes")
    notes = {
        "layers is an nn.ModuleList": Text("layers should be an nn.ModuleList"),
        "every layer is a Block": Text("every layer should be a Block"),
    }
    for fact, note in notes.items():
        check(anatomy[fact] is expected[fact], note)


@given(st.integers(2, 6), st.integers(2, 4), st.integers(0, 2**31))
def test_layers_are_initialized_independently(student: Student, dim: int, num_layers: int, seed: int) -> None:
    """Layers share no memory or values. Initial values are finite and depend on the torch seed, which is never set."""
    start = student.call(probes.initial_weights, dim, num_layers, 2, seed)
    seeded = Text("DeepNetwork sets the torch seed")
    assert_equal(start["seed"], seed, what="torch.initial_seed()", mistake=seeded)
    weights = start["weights"]
    assert_equal(start["places"], len(weights), what=Text("number of distinct weights"), mistake=ONE_WEIGHT)
    for i, weight in enumerate(weights):
        finite = not isinstance(weight, Tensor) or bool(weight.isfinite().all())
        check(finite, mistake=Text("initial weights contain NaN or infinity"), yours=weight)
        for j in range(i):
            alike = isinstance(weight, Tensor) and torch.equal(weight, weights[j])
            places = {"j": j % num_layers, "i": i % num_layers}
            note = Text(
                "layers {j} and {i} of the same network have equal weights: are they copied, constant or seeded?",
                **places,
            )
            if j < num_layers <= i:
                note = Text(
                    "layer {j} of a network and layer {i} of the next have equal weights: are they constant or seeded?",
                    **places,
                )
            check(not alike, mistake=note)
    again = student.call(probes.initial_weights, dim, num_layers, 2, seed)
    assert_equal(
        again["weights"],
        weights,
        what="weights",
        mistake=Text("the same torch.manual_seed gives different initial weights"),
    )


def test_initial_std_is_inverse_sqrt_of_dim(student: Student, seed: int) -> None:
    """The initial weight of every layer is normally distributed, with mean 0 and standard deviation 1 / sqrt(dim)."""
    dim, num_layers = 128, 4
    start = student.call(probes.initial_weights, dim, num_layers, 1, seed)
    for i, (weight, std) in enumerate(zip(start["weights"], oracle.initial_stds(dim, num_layers), strict=True)):
        with precondition(Text("the shape or dtype is wrong")):
            assert_equal(list(weight.shape), [dim, dim], what=Text("shape of layers.{i}.weight", i=i))
        values = as_float64(weight).flatten() / std
        n = values.size
        variance, slack = float(values.var()), Z * (2 / n) ** 0.5
        note = Text("layers.{i}.weight has a wrong initial standard deviation", i=i)
        yours, expected = (
            Text("standard deviation {std}", std=f"{variance**0.5 * std:.4f}"),
            Text("standard deviation {std}", std=f"{std:.4f}"),
        )
        kurtosis = float((values**4).mean()) / variance**2 if variance else 0.0
        mistake = describe_cut(values) or (describe_tails(kurtosis) if 1.7 < kurtosis < 1.9 else "")
        if (values > 0).all():
            mistake = Text("all initial weights are positive")
        check(0.973 * (1 - slack) <= variance <= 1 + slack, note, mistake=mistake, yours=yours, expected=expected)
        mean, note = float(values.mean()) * std, Text("the mean of layers.{i}.weight is not 0", i=i)
        check(
            abs(mean) <= Z * std / n**0.5,
            note,
            yours=mean,
            expected=Text("0, within {slack}", slack=f"{Z * std / n**0.5:.2g}"),
        )
        slack = Z * (24 / n) ** 0.5
        is_normal, note = 2.83 - slack <= kurtosis <= 3 + slack, Text("layers.{i}.weight", i=i)
        check(
            is_normal,
            note,
            mistake=describe_tails(kurtosis),
            yours=Text("kurtosis {value}", value=f"{kurtosis:.2f}"),
            expected=NORMAL_OR_CUT,
        )
