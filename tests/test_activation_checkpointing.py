"""DeepNetworkCheckpointed: the same network, with fewer activations alive."""

from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.activation_checkpointing import oracle
from tests.probes import activation_checkpointing as probes
from tests.strategies import SEEDS, SIZES, costly, normal, rng_of, sizes
from torchkata import Plain, Student, as_float64, assert_close, assert_equal, check, require

DIM, ROWS = 4, 12  # an activation differs from a weight in size, and no product is worth a second thread
DEPTHS = st.integers(8, 16)
SEGMENTS = st.sampled_from([7, 4, 2, 3, 5, 6, 1, 8, 16, 20])  # of 8 layers in sevens, every mistake keeps others
TINY = 1e-4
ASKED = "x asks for a gradient afterwards: it is the caller's, and did not ask for one"
REENTRANT = "no weight gets a gradient where x needs none, as with a reentrant checkpoint"

forward_scale, backward_scale = oracle.forward, oracle.backward  # of absolute values; no mistake takes their place


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
    """Up to seven layers, in segments from one to more than there are; most rows get through most ReLUs."""
    dim, num_layers, rows = draw(SIZES), draw(st.integers(fewest_layers, 7)), draw(sizes(2, 4, fewest_rows))
    segment = draw(st.integers(1, num_layers + 2))
    rng = rng_of(draw(SEEDS))
    weights = [(normal(rng, [dim, dim]) + 0.5) / dim**0.5 for _ in range(num_layers)]
    return Network(dim, weights, segment, normal(rng, [rows, dim]) + 0.5, normal(rng, [rows, dim]))


def is_steady(network: Network) -> bool:
    """Whether rounding decides at none of the ReLUs on which side of its bend a number lies."""
    weights, x, _ = arrays(network)
    return not any(((abs(z) < TINY) & (z != 0)).any() for z in oracle.products(weights, x))


def arrays(network: Network) -> tuple[list[Plain], Plain, Plain]:
    """Weights, batch and gradient in float64."""
    weights = [as_float64(weight) for weight in network.weights]
    return weights, as_float64(network.x), as_float64(network.grad_y)


def assert_outputs(yours: Plain, network: Network) -> None:
    """Demand those of the plain network."""
    weights, x, _ = arrays(network)
    weights = [weights[i] for i in oracle.applied(len(weights), network.segment)]
    scale = forward_scale([abs(weight) for weight in weights], abs(x), network.segment)
    exact = oracle.forward(weights, x, network.segment)
    assert_close(yours, exact, scale=scale, roundings=8 * (len(weights) + 1))


def check_gradients(student: Student, network: Network, asks: bool, times: int = 1) -> None:
    """Demand the gradients of the plain network, `times` over: for all weights, and for x where it `asks`."""
    weights, x, grad_y = arrays(network)
    yours = student.call(
        probes.gradients, network.dim, network.weights, network.segment, network.x, network.grad_y, asks, times
    )
    exact, exact_x = oracle.backward(weights, x, times * grad_y, network.segment)
    sizes = [abs(weight) for weight in weights]
    scales, scale_x = backward_scale(sizes, abs(x), times * abs(grad_y), network.segment)
    roundings = 8 * (len(weights) + times)
    reached = [*yours["weights"], *[yours["x"]] * asks]
    note = "the graph should reach back to x, through all segments" if asks else ""
    seen = REENTRANT if not asks and len(network.x) and all(grad is None for grad in reached) else ""
    check(all(grad is not None for grad in reached), note, mistake=seen, yours=reached, expected="a tensor for each")
    check(asks or not yours["x asks"], mistake=ASKED)
    for i, (grad, scale) in enumerate(zip(exact, scales, strict=True)):
        assert_close(yours["weights"][i], grad, scale=scale, roundings=roundings, what=f"gradient of weight {i}")
    if asks:
        assert_close(yours["x"], exact_x, scale=scale_x, roundings=roundings, what="gradient of x")


def cost_of(student: Student, num_layers: int, segment: int, asks: bool = True) -> Plain:
    """What a forward and a backward pass cost, where x `asks` for a gradient or not."""
    cost = student.call(probes.cost, DIM, num_layers, segment, ROWS, asks)
    require(cost["attached"], mistake="the outputs carry no graph: there is nothing to go back through")
    return cost


@given(networks())
def test_outputs_equal_plain_network(student: Student, network: Network) -> None:
    """The outputs are those of all blocks in order, however they are cut into segments."""
    y = student.call(probes.forward, network.dim, network.weights, network.segment, network.x)
    assert_outputs(y, network)


@given(networks(fewest_rows=1).filter(is_steady), st.integers(1, 2))
def test_gradients_equal_plain_network(student: Student, network: Network, times: int) -> None:
    """Gradients reach all weights and x, as without activation checkpointing; those of a second pass are added."""
    check_gradients(student, network, asks=True, times=times)


@given(networks(fewest_layers=1, fewest_rows=1).filter(is_steady))
def test_weights_get_gradients_if_x_needs_none(student: Student, network: Network) -> None:
    """Every weight gets its gradient where x needs none, as data never does."""
    check_gradients(student, network, asks=False)
    check_gradients(student, replace(network, x=network.x[:0], grad_y=network.grad_y[:0]), asks=False)


@given(st.integers(1, 5), st.integers(0, 5), st.integers(1, 7))
def test_state_dict_equals_plain_network(student: Student, dim: int, num_layers: int, segment: int) -> None:
    """state_dict has the keys layers.0.weight and so on, as without segments, each (dim, dim), and nothing else."""
    anatomy = student.call(probes.anatomy, dim, num_layers, segment)
    for part, names in oracle.anatomy(dim, num_layers, segment).items():
        assert_equal(anatomy[part], names, what=part)


@costly
@given(DEPTHS, SEGMENTS, st.booleans())
def test_forward_keeps_only_segment_inputs(student: Student, num_layers: int, segment: int, asks: bool) -> None:
    """After the forward pass, the inputs of the segments and the output are kept, and no other activations."""
    kept = cost_of(student, num_layers, segment, asks)["kept"]
    expected = oracle.kept(num_layers, segment)
    check(
        expected <= kept <= expected + 1,  # a copy of x is nobody's mistake
        f"{num_layers} layers in segments of {segment} need {expected} activations after the forward pass",
        yours=kept,
        expected=f"{expected} alive after the forward pass: the inputs of all segments but the first, and the output",
    )


@costly
@given(st.integers(24, 30), st.integers(3, 5))
def test_backward_holds_one_segment_at_a_time(student: Student, num_layers: int, segment: int) -> None:
    """The backward pass has the activations of one segment alive besides the kept ones, not those of the network."""
    peak = cost_of(student, num_layers, segment)["peak"]
    fewest, most = oracle.alive_in_backward(num_layers, segment)
    check(
        fewest <= peak <= most,
        f"{num_layers} layers in segments of {segment}: too many activations are alive at once",
        yours=peak,
        expected=f"no more than {most} at the peak",
    )


@costly
@given(DEPTHS, SEGMENTS)
def test_each_segment_is_recomputed_once(student: Student, num_layers: int, segment: int) -> None:
    """A backward pass runs each segment forward once more, the last one, too, and none twice."""
    cost = cost_of(student, num_layers, segment)
    fewest, most = oracle.recomputed(num_layers, segment)
    once = oracle.in_forward(num_layers, segment)
    require(cost["forward"] == once, "the forward pass should run each layer once", yours=cost["forward"])
    again = cost["backward"] - 2 * num_layers  # two products a layer are the gradients'
    check(
        fewest <= again <= most,
        f"{num_layers} layers in segments of {segment}: the backward pass should run each layer once more",
        yours=again,
        expected=f"{most} products of matrices besides the {2 * num_layers} for gradients, {fewest} at the least",
    )


@given(networks(fewest_layers=1, fewest_rows=1))
def test_no_grad_keeps_no_activations(student: Student, network: Network) -> None:
    """Under torch.no_grad() the outputs are the same, each layer runs once, and no activation but the last stays."""
    num_layers = len(network.weights)
    reply = student.call(probes.evaluation, network.dim, network.weights, network.segment, network.x)
    assert_outputs(reply["y"], network)
    check(
        not reply["attached"], mistake="the outputs carry a graph: autograd is switched on again under torch.no_grad()"
    )
    check(reply["kept"] <= 1, "more than the outputs stays alive", yours=reply["kept"], expected="1 activation")
    once = oracle.in_forward(num_layers, network.segment)
    check(reply["products"] == once, "each layer should run once", yours=reply["products"])
