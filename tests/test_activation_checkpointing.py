"""DeepNetworkCheckpointed: a deep network that keeps fewer activations in memory."""

from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.activation_checkpointing import oracle
from tests.probes import activation_checkpointing as probes
from tests.strategies import SEEDS, costly, normal, rng_of, sizes
from torchkata import Plain, Student, Text, as_float64, assert_close, assert_count, assert_equal, check, require

DIM, ROWS = 4, 12  # activations and weights differ in size, and matmuls are too small for threads
DEPTHS = st.integers(8, 16)
SEGMENTS = st.sampled_from([7, 4, 2, 3, 5, 6, 1, 8, 16, 20])  # 8 layers in segments of 7 distinguish all mistakes
TINY = 1e-4
CHANGED = Text("x.requires_grad was set to True, but x belongs to the caller")
REENTRANT = Text("no weight gets a gradient if x.requires_grad is False, as with a reentrant checkpoint")
NO_GRAPH = Text("the outputs are not attached to an autograd graph, so backward() cannot run")

forward_scale, backward_scale = oracle.forward, oracle.backward  # for scales; a mistake replaces only names in `oracle`


@dataclass(frozen=True)
class Network:
    """The weights and segment length of a network, a batch, and the gradient of the outputs."""

    dim: int
    weights: list[Tensor]
    segment: int
    x: Tensor
    grad_y: Tensor


@st.composite
def networks(draw: st.DrawFn, fewest_layers: int = 0, fewest_rows: int = 0) -> Network:
    """Draw up to seven layers in segments of any length, with mostly positive ReLU inputs."""
    dim, num_layers, rows = draw(sizes(3)), draw(st.integers(fewest_layers, 7)), draw(sizes(2, 4, fewest_rows))
    segment = draw(st.integers(1, num_layers + 2))
    rng = rng_of(draw(SEEDS))
    weights = [(normal(rng, [dim, dim]) + 0.5) / dim**0.5 for _ in range(num_layers)]
    return Network(dim, weights, segment, normal(rng, [rows, dim]) + 0.5, normal(rng, [rows, dim]))


def is_steady(network: Network) -> bool:
    """Return whether no ReLU input is so close to 0 that rounding could change its sign."""
    weights, x, _ = convert_arrays(network)
    return not any(((abs(z) < TINY) & (z != 0)).any() for z in oracle.products(weights, x))


def convert_arrays(network: Network) -> tuple[list[Plain], Plain, Plain]:
    """Return the weights, the batch and the gradient in float64."""
    weights = [as_float64(weight) for weight in network.weights]
    return weights, as_float64(network.x), as_float64(network.grad_y)


def assert_outputs(yours: Plain, network: Network) -> None:
    """Compare the outputs with those of a network without checkpointing."""
    weights, x, _ = convert_arrays(network)
    weights = [weights[i] for i in oracle.applied(len(weights), network.segment)]
    scale = forward_scale([abs(weight) for weight in weights], abs(x), network.segment)
    exact = oracle.forward(weights, x, network.segment)
    assert_close(yours, exact, scale=scale, roundings=8 * (len(weights) + 1))


def check_gradients(student: Student, network: Network, x_needs_grad: bool, times: int = 1) -> None:
    """Compare the gradients of the weights, and of x if it requires grad, with `times` times the expected ones."""
    weights, x, grad_y = convert_arrays(network)
    parts = network.dim, network.weights, network.segment, network.x, network.grad_y
    yours = student.call(probes.gradients, *parts, x_needs_grad, times)
    exact, exact_x = oracle.backward(weights, x, times * grad_y, network.segment)
    sizes = [abs(weight) for weight in weights]
    scales, scale_x = backward_scale(sizes, abs(x), times * abs(grad_y), network.segment)
    roundings = 8 * (len(weights) + times)
    reached = [*yours["weights"], *[yours["x"]] * x_needs_grad]
    note = Text("the graph should connect the output with x through all segments") if x_needs_grad else ""
    seen: Text | str = "" if yours["attached"] else NO_GRAPH
    if seen and not x_needs_grad and is_reentrant(student, network):
        seen = REENTRANT
        student.call(probes.gradients, *parts, x_needs_grad, times)  # the last call is the input that a failure shows
    check(
        all(grad is not None for grad in reached), note, mistake=seen, yours=reached, expected=Text("a tensor for each")
    )
    check(x_needs_grad or not yours["x.requires_grad"], mistake=CHANGED)
    for i, (grad, scale) in enumerate(zip(exact, scales, strict=True)):
        assert_close(
            yours["weights"][i], grad, scale=scale, roundings=roundings, what=Text("gradient of weight {i}", i=i)
        )
    if x_needs_grad:
        assert_close(yours["x"], exact_x, scale=scale_x, roundings=roundings, what=Text("gradient of {name}", name="x"))


def is_reentrant(student: Student, network: Network) -> bool:
    """Return whether x decides if weights get gradients, in this network and in one whose last segment is full."""
    for segment in (network.segment, 1):
        for x_needs_grad in (False, True):
            parts = network.dim, network.weights, segment, network.x, network.grad_y
            grads = student.call(probes.gradients, *parts, x_needs_grad, 1)["weights"]
            if any((grad is not None) != x_needs_grad for grad in grads):
                return False
    return True


def measure_cost(student: Student, num_layers: int, segment: int, x_needs_grad: bool = True) -> Plain:
    """Measure the memory and computation of a forward and a backward pass."""
    cost = student.call(probes.cost, DIM, num_layers, segment, ROWS, x_needs_grad)
    require(cost["attached"], mistake=NO_GRAPH)
    require(cost["reached"], mistake=Text("some weights get no gradient"))
    return cost


@given(networks())
def test_outputs_match_plain_network(student: Student, network: Network) -> None:
    """The outputs equal those of a network without checkpointing, for any segment length."""
    y = student.call(probes.forward, network.dim, network.weights, network.segment, network.x)
    assert_outputs(y, network)


@given(networks(fewest_layers=1, fewest_rows=1).filter(is_steady), st.integers(1, 2))
def test_gradients_match_plain_network(student: Student, network: Network, times: int) -> None:
    """The gradients equal those of a network without checkpointing. A second backward pass adds to them."""
    check_gradients(student, network, x_needs_grad=True, times=times)


@given(networks(fewest_layers=1, fewest_rows=1).filter(is_steady))
def test_weights_get_gradients_if_x_requires_no_grad(student: Student, network: Network) -> None:
    """Every weight receives its gradient even if x.requires_grad is False, and x.requires_grad stays False."""
    check_gradients(student, network, x_needs_grad=False)
    check_gradients(student, replace(network, x=network.x[:0], grad_y=network.grad_y[:0]), x_needs_grad=False)


@given(st.integers(1, 5), st.integers(0, 5), st.integers(1, 7))
def test_state_dict_matches_plain_network(student: Student, dim: int, num_layers: int, segment: int) -> None:
    """state_dict contains only layers.0.weight, layers.1.weight, …, each a separate parameter of shape (dim, dim)."""
    anatomy = student.call(probes.anatomy, dim, num_layers, segment)
    for part, names in oracle.anatomy(dim, num_layers, segment).items():
        assert_equal(anatomy[part], names, what=part)


@given(st.one_of(st.sampled_from([(64, 4), (10, 3), (6, 2), (20, 9)]), st.tuples(sizes(10, 100), sizes(2, 12))))
def test_best_segment_needs_fewest_activations(student: Student, chain: tuple[int, int]) -> None:
    """best_segment returns an int, a length that minimizes the number of segments plus per_block times the length."""
    num_layers, per_block = chain
    for arguments in ([num_layers], [num_layers, per_block], [1, per_block], [20, 9], [10, 3]):
        yours = student.call("activation_checkpointing.best_segment", *arguments)
        best = oracle.best_segments(arguments[0], *(arguments[1:] or [1]))
        check(yours in best, yours=yours, expected=" or ".join(map(str, best)))
        assert_count(yours, int(yours), what="best_segment")


@costly
@given(DEPTHS, SEGMENTS, st.booleans())
def test_forward_saves_only_segment_inputs(student: Student, num_layers: int, segment: int, x_needs_grad: bool) -> None:
    """After the forward pass, the inputs of all segments and the output are kept in memory, and nothing else."""
    kept = measure_cost(student, num_layers, segment, x_needs_grad)["kept"]
    expected = oracle.kept(num_layers, segment, x_needs_grad)
    check(
        expected <= kept <= expected + 1,  # a copy of x is allowed
        Text(
            "{num_layers} layers in segments of {segment} should keep {expected} activations after the forward pass",
            num_layers=num_layers,
            segment=segment,
            expected=expected,
        ),
        yours=Text("{count} activations", count=f"{kept:g}"),
        expected=Text(
            "{expected} activations: the inputs of all segments except the first, and the output", expected=expected
        ),
    )


@costly
@given(st.integers(24, 30), st.integers(3, 5))
def test_backward_stores_one_segment_at_a_time(student: Student, num_layers: int, segment: int) -> None:
    """In addition to the segment inputs, the backward pass keeps the activations of only one segment at a time."""
    peak = measure_cost(student, num_layers, segment)["peak"]
    fewest, most = oracle.alive_in_backward(num_layers, segment)
    check(
        fewest <= peak <= most,
        Text(
            "{num_layers} layers in segments of {segment}: too many activations are in memory at once",
            num_layers=num_layers,
            segment=segment,
        ),
        yours=Text("{count} activations", count=f"{peak:g}"),
        expected=Text("no more than {most} activations at the peak", most=most),
    )


@costly
@given(DEPTHS, SEGMENTS)
def test_each_segment_is_recomputed_once(student: Student, num_layers: int, segment: int) -> None:
    """A backward pass recomputes each segment exactly once, including the last one."""
    cost = measure_cost(student, num_layers, segment)
    fewest, most = oracle.recomputed(num_layers, segment)
    once = oracle.in_forward(num_layers, segment)
    require(cost["forward"] == once, Text("the forward pass should run each layer once"), yours=f"{cost['forward']:g}")
    again = cost["backward"] - 2 * num_layers  # the gradients take two matmuls per layer
    check(
        fewest <= again <= most,
        Text(
            "{num_layers} layers in segments of {segment}: the backward pass should recompute each layer once",
            num_layers=num_layers,
            segment=segment,
        ),
        yours=Text("{count} matmuls", count=f"{again:g}"),
        expected=Text(
            "{fewest} to {most} matmuls (the last one of each segment is optional) in addition to the {gradients} for "
            "gradients",
            fewest=fewest,
            most=most,
            gradients=2 * num_layers,
        ),
    )


@given(networks(fewest_layers=1, fewest_rows=1))
def test_no_grad_saves_no_activations(student: Student, network: Network) -> None:
    """Under torch.no_grad(), the outputs are the same, without a graph; each layer runs once; no activation is kept."""
    num_layers = len(network.weights)
    reply = student.call(probes.evaluation, network.dim, network.weights, network.segment, network.x)
    assert_outputs(reply["y"], network)
    enabled = Text("the outputs have a graph: gradients were enabled again under torch.no_grad()")
    check(not reply["attached"], mistake=enabled)
    check(
        reply["kept"] <= 1,
        Text("only the output should stay in memory"),
        yours=f"{reply['kept']:g}",
        expected=Text("1 activation"),
    )
    once = oracle.in_forward(num_layers, network.segment)
    check(reply["products"] == once, Text("each layer should run once"), yours=f"{reply['products']:g}")
