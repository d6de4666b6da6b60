"""Tests for transformer_accounting."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.transformer_accounting import oracle
from reference.transformer_accounting.oracle import Config
from tests.meter import Meter, count_operations
from tests.probes import transformer_accounting as probes
from tests.strategies import costly
from tests.transformer import Transformer
from torchkata import Plain, Student, Text, assert_count, require

BATCHES = st.integers(2, 9) | st.just(1)
SIZES = st.sampled_from([2, 3, 5, 7, 11, 13, 1])
BEYOND_FLOATS = st.integers(2**22, 2**23).map(lambda half: 2 * half + 1)  # a float has too few digits for the counts


def draw_configs(
    size: st.SearchStrategy[int], vocab: st.SearchStrategy[int], context: st.SearchStrategy[int] | None = None
) -> st.SearchStrategy[Config]:
    """Draw a configuration whose sizes usually differ. The context is another `size` if it has no strategy."""
    return st.builds(
        lambda each, heads, **others: Config(width=heads * each, heads=heads, **others),
        each=size,
        heads=st.sampled_from([3, 2, 1]),
        layers=st.integers(2, 4) | st.just(1),
        hidden=size,
        vocab=vocab,
        context=size if context is None else context,
        tied=st.booleans(),
    )


SMALL = draw_configs(SIZES, st.sampled_from([12, 17, 24, 4, 1]))  # multiples of 2 · layers, and others
LONG = draw_configs(SIZES, st.sampled_from([12, 17]), context=st.just(1000))  # attention takes more than half
ALL = SMALL | LONG | draw_configs(BEYOND_FLOATS, BEYOND_FLOATS)


def ask(student: Student, function: str, config: Config, *arguments: float) -> Plain:
    """Call the student's function."""
    return student.call(probes.call, function, asdict(config), list(arguments))


def choose(yours: Plain, exact: int, follow: Callable[..., int], *own: Plain) -> int:
    """Return the count that follows from the student's other answers if `yours` is that count, otherwise `exact`."""
    follows = follow(*own) if all(type(each) is int for each in own) else exact
    return follows if type(yours) is int and yours == follows else exact


def run_forward(config: Config) -> tuple[Transformer, Tensor, Meter]:
    """Run a model on a sequence. Return the model, its logits, and the counted operations."""
    model, logits = Transformer(**asdict(config)), list[Tensor]()
    tokens = torch.arange(config.context) % config.vocab
    counted = count_operations(lambda: logits.append(model(tokens)))
    return model, logits[0], counted


@given(ALL)
def test_every_parameter_counts_once(student: Student, config: Config) -> None:
    """num_parameters, an int, counts only embeddings, matrices and gains, each once. A tied output has no matrix."""
    assert_count(ask(student, "num_parameters", config), oracle.num_parameters(config), what=Text("parameters"))


@costly
@given(ALL)
def test_parameters_equal_numel_on_meta(student: Student, config: Config) -> None:
    """num_parameters equals the number of elements of all parameters of a model on the meta device."""
    with torch.device("meta"):
        model = Transformer(**asdict(config))
    shapes = {name: list(p.shape) for name, p in model.named_parameters()}
    shown = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if not re.search("layers.[1-9]", name))
    note = Text("without further layers, the model has {parameters}", parameters=shown)
    counted = sum(p.numel() for p in model.parameters())
    assert_count(ask(student, "num_parameters", config), counted, what=Text("parameters"), note=note)


@given(ALL)
def test_flops_count_every_matrix_multiplication(student: Student, config: Config) -> None:
    """flops_per_token, an int, counts all matmuls, nothing else: 2 FLOPs per multiplication forward, 4 backward."""
    assert_count(ask(student, "flops_per_token", config), oracle.flops_per_token(config), what="FLOPs")


@costly
@given(SMALL)
def test_flops_match_torch(student: Student, config: Config) -> None:
    """flops_per_token equals the FLOPs per token counted while torch runs a forward and a backward pass."""
    yours = ask(student, "flops_per_token", config)
    require(yours == oracle.flops_per_token(config), Text("flops_per_token is wrong"), yours=yours)
    _, logits, forward = run_forward(config)
    backward = count_operations(lambda: torch.autograd.backward(logits.sum()))
    assert_count(yours, (forward.flops + backward.flops) // config.context, what="FLOPs")


@given(ALL, BATCHES)
def test_step_has_batch_times_context_tokens(student: Student, config: Config, batch: int) -> None:
    """step_flops, an int, is flops_per_token times the tokens of a step: batch · context."""
    own, yours = ask(student, "flops_per_token", config), ask(student, "step_flops", config, batch)
    exact = oracle.step_flops(oracle.flops_per_token(config), config, batch)
    expected = choose(yours, exact, lambda flops: oracle.step_flops(flops, config, batch), own)
    assert_count(yours, expected, what="FLOPs", note=Text("tokens: {tokens}", tokens=f"{batch} · {config.context}"))


@given(SMALL | LONG)  # the answer is small, so a search that counts up finds it
def test_half_context_is_where_attention_passes_half(student: Student, config: Config) -> None:
    """half_context, an int, is the first context where scores and products with values take over half of all FLOPs."""
    yours = ask(student, "half_context", config)
    note: Text | str = ""
    if type(yours) is int and yours > 0:
        products = oracle.list_products(replace(config, context=yours))
        part = oracle.add_up({name: products.get(name, (0,)) for name in oracle.ATTENTION})
        counts = {"part": part, "all": oracle.add_up(products)}
        note = Text("at yours, they take {part} of {all} multiplications", **counts)
        if 2 * counts["part"] <= counts["all"]:
            note = Text("at yours, they take {part} of {all} multiplications, which is not more than half", **counts)
    assert_count(yours, oracle.half_context(config), what="half_context", note=note)


@given(ALL, BATCHES)
def test_training_bytes_are_sixteen_per_parameter(student: Student, config: Config, batch: int) -> None:
    """training_bytes, an int, is 16 bytes per parameter and 4 per element of each activation that a matmul reads."""
    own, yours = ask(student, "num_parameters", config), ask(student, "training_bytes", config, batch)
    kept = oracle.activations(config, batch)
    exact = oracle.training_bytes(oracle.num_parameters(config), kept)
    expected = choose(yours, exact, lambda parameters: oracle.training_bytes(parameters, kept), own)
    assert_count(yours, expected, what=Text("bytes"))


@costly
@given(SMALL)
def test_activations_match_torch(student: Student, config: Config) -> None:
    """One more sequence adds the bytes of all inputs of matrix multiplications that torch computes for a sequence."""
    two, one = (ask(student, "training_bytes", config, batch) for batch in (2, 1))
    require(type(two) is int and type(one) is int, Text("training_bytes does not return an int"), yours=one)
    exact = oracle.training_bytes(0, oracle.activations(config, 1))
    require(two - one == exact, Text("the bytes of one sequence are wrong"), yours=two - one)
    model, _, forward = run_forward(config)
    storages = [factor.untyped_storage() for factor in forward.factors]
    sizes = {storage.data_ptr(): storage.nbytes() for storage in storages}
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    counted = sum(size for place, size in sizes.items() if place not in parameters)
    assert_count(two - one, counted, what=Text("bytes of one sequence"))


@dataclass(frozen=True)
class Device:
    """A configuration, and the bytes of a device, of the parameters and of each sequence: no known mistake's counts."""

    config: Config
    bytes: float
    fixed: int
    sequence: int


@st.composite
def devices(draw: st.DrawFn) -> Device:
    """Draw a configuration, and the bytes of a device that a few sequences fill, up to a byte."""
    config, batch, more = draw(SMALL), draw(st.integers(-2, 9)), draw(st.sampled_from([0, -1, 1]))
    sequence = oracle.training_bytes(0, oracle.activations(config, 1))
    fixed = oracle.training_bytes(oracle.num_parameters(config), 0)
    device_bytes = draw(st.sampled_from([int, float]))(max(1, fixed + batch * sequence + more))
    return Device(config, device_bytes, fixed, sequence)


@given(devices())
def test_max_batch_is_largest_that_fits(student: Student, case: Device) -> None:
    """max_batch, an int, is the largest batch whose training_bytes fit, or 0 if a single sequence does not."""
    config, device_bytes, fixed, sequence = case.config, case.bytes, case.fixed, case.sequence
    own = [ask(student, "training_bytes", config, batch) for batch in (1, 2)]
    yours = ask(student, "max_batch", config, device_bytes)
    exact = oracle.max_batch(fixed, sequence, device_bytes)
    expected = choose(yours, exact, lambda a, b: oracle.max_batch(2 * a - b, max(1, b - a), device_bytes), *own)
    shown = exact if type(yours) is int and 0 <= yours < exact else exact + 1
    note = Text("a batch of {batch} takes {bytes}", batch=shown, bytes=fixed + shown * sequence)
    assert_count(yours, expected, what="max_batch", note=note)
