"""DeepNetworkCheckpointed: the same network, with fewer activations alive."""

from dataclasses import dataclass

from hypothesis import assume, given
from hypothesis import strategies as st
from torch import Tensor

from kata.compare import as_float64, assert_close, assert_equal, check
from kata.student import Student
from kata.values import Plain
from reference.oracle import activation_checkpointing as oracle
from tests.probes import activation_checkpointing as probes
from tests.strategies import SEEDS, SIZES, costly, normal, rng_of

DIM, ROWS = 4, 12  # an activation differs from a weight in size, and no product is worth a second thread
DEPTHS, SEGMENTS = st.integers(8, 16), st.integers(1, 18)
TINY = 1e-5  # so near to 0, rounding decides on which side of the ReLU's bend a number lies


@dataclass(frozen=True)
class Network:
    """The weights of a network and its segments' length, a batch, and a gradient for the outputs."""

    dim: int
    weights: list[Tensor]
    segment: int
    x: Tensor
    grad_y: Tensor


@st.composite
def networks(draw: st.DrawFn, fewest_layers: int = 0, fewest_rows: int = 0) -> Network:
    """Up to seven layers, in segments from one layer to more than there are; most rows get through most ReLUs."""
    dim, num_layers, rows = draw(SIZES), draw(st.integers(fewest_layers, 7)), draw(st.integers(fewest_rows, 4))
    segment = draw(st.integers(1, num_layers + 2))
    rng = rng_of(draw(SEEDS))
    weights = [(normal(rng, [dim, dim]) + 0.5) / dim**0.5 for _ in range(num_layers)]
    return Network(dim, weights, segment, normal(rng, [rows, dim]) + 0.5, normal(rng, [rows, dim]))


def arrays(network: Network) -> tuple[list[Plain], Plain, Plain]:
    """Weights, batch and gradient in float64."""
    weights = [as_float64(weight) for weight in network.weights]
    return weights, as_float64(network.x), as_float64(network.grad_y)


def assert_outputs(yours: Plain, network: Network) -> None:
    """Demand those of the plain network."""
    weights, x, _ = arrays(network)
    scale = oracle.forward([abs(weight) for weight in weights], abs(x))
    assert_close(yours, oracle.forward(weights, x), scale=scale, roundings=8 * (len(weights) + 1))


def check_gradients(student: Student, network: Network, asks: bool, times: int = 1) -> None:
    """Demand the gradients of the plain network, `times` over: for all weights, and for x where it `asks`."""
    weights, x, grad_y = arrays(network)
    assume(not any(((abs(z) < TINY) & (z != 0)).any() for z in oracle.products(weights, x)))
    yours = student.call(
        probes.gradients, network.dim, network.weights, network.segment, network.x, network.grad_y, asks, times
    )
    exact, exact_x = oracle.backward(weights, x, times * grad_y)
    scales, scale_x = oracle.backward([abs(weight) for weight in weights], abs(x), times * abs(grad_y))
    roundings = 8 * (len(weights) + times)
    for i, (grad, scale) in enumerate(zip(exact, scales, strict=True)):
        assert_close(yours["weights"][i], grad, scale=scale, roundings=roundings, what=f"gradient of weight {i}")
    if asks:
        assert_close(yours["x"], exact_x, scale=scale_x, roundings=roundings, what="gradient of x")


@given(networks())
def test_outputs_are_those_of_the_plain_network(student: Student, network: Network) -> None:
    """The outputs are those of all blocks in order, however they are cut into segments."""
    y = student.call(probes.forward, network.dim, network.weights, network.segment, network.x)
    assert_outputs(y, network)


@given(networks(fewest_rows=1), st.integers(1, 2))
def test_gradients_are_those_of_the_plain_network(student: Student, network: Network, times: int) -> None:
    """Gradients reach every weight and x, as without checkpoints; those of a second pass are added."""
    check_gradients(student, network, asks=True, times=times)


@given(networks(fewest_layers=1))
def test_weights_get_gradients_when_x_asks_for_none(student: Student, network: Network) -> None:
    """Every weight gets its gradient where x needs none, as data never does: those of the first segment, too."""
    check_gradients(student, network, asks=False)


@given(st.integers(1, 5), st.integers(0, 5), st.integers(1, 7))
def test_the_weights_of_a_plain_network_load(student: Student, dim: int, num_layers: int, segment: int) -> None:
    """state_dict has the keys layers.0.weight and so on, as without segments, each (dim, dim), and nothing else."""
    anatomy = student.call(probes.anatomy, dim, num_layers, segment)
    names = [f"layers.{i}.weight" for i in range(num_layers)]
    assert_equal(anatomy["state_dict"], {name: [dim, dim] for name in names}, what="state_dict")
    assert_equal(anatomy["parameters"], names, what="parameters")


@costly
@given(DEPTHS, SEGMENTS)
def test_only_the_inputs_of_segments_are_kept(student: Student, num_layers: int, segment: int) -> None:
    """After the forward pass, the inputs of the segments and the output are alive, and no other activation."""
    kept = student.call(probes.cost, DIM, num_layers, segment, ROWS)["kept"]
    expected = oracle.kept(num_layers, segment)
    check(
        expected <= kept <= expected + 1,  # a copy of x is nobody's mistake
        f"{num_layers} layers in segments of {segment} keep other activations than they need",
        yours=f"{kept:g} activations alive after the forward pass",
        expected=f"{expected}: {expected - 1} inputs of segments besides x, and the output",
    )


@costly
@given(st.integers(24, 30), st.integers(3, 5))
def test_backward_holds_one_segment_at_a_time(student: Student, num_layers: int, segment: int) -> None:
    """The backward pass has the activations of one segment alive besides the kept ones, not those of the network."""
    peak = student.call(probes.cost, DIM, num_layers, segment, ROWS)["peak"]
    allowed = oracle.kept(num_layers, segment) + 2 * segment + 6  # before and after each ReLU, gradients on their way
    check(
        peak <= allowed,
        f"{num_layers} layers in segments of {segment}: too many activations are alive at once",
        yours=f"{peak:g} activations alive at the peak",
        expected=f"no more than {allowed}",
    )


@costly
@given(DEPTHS, SEGMENTS)
def test_each_segment_is_recomputed_once(student: Student, num_layers: int, segment: int) -> None:
    """A backward pass runs each segment forward once more, the last one, too, and none twice."""
    cost = student.call(probes.cost, DIM, num_layers, segment, ROWS)
    fewest, most = oracle.recomputed(num_layers, segment)
    check(cost["forward"] == num_layers, "the forward pass should run each layer once", yours=cost["forward"])
    again = cost["backward"] - 2 * num_layers  # two products a layer are the gradients'
    check(
        fewest <= again <= most,
        f"{num_layers} layers in segments of {segment}: the backward pass should run each layer once more",
        yours=f"{again:g} products of matrices besides the {2 * num_layers} for the gradients",
        expected=f"{most}, or {fewest} without each segment's last",
    )


@given(networks(fewest_layers=1, fewest_rows=1))
def test_evaluation_keeps_nothing(student: Student, network: Network) -> None:
    """Under torch.no_grad() the outputs are the same, each layer runs once, and no activation but the last stays."""
    reply = student.call(probes.evaluation, network.dim, network.weights, network.segment, network.x)
    assert_outputs(reply["y"], network)
    check(reply["attached"] is False, "the outputs carry a graph under torch.no_grad()")
    check(reply["kept"] <= 1, "more than the outputs stays alive", yours=f"{reply['kept']:g} activations")
    check(reply["products"] == len(network.weights), "each layer should run once", yours=reply["products"])
