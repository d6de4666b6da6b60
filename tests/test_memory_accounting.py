"""Tests for memory_accounting, which compare the student's predictions with the sizes of torch tensors."""

from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from reference.memory_accounting import oracle
from tests.meter import measure_saved
from tests.probes import memory_accounting as probes
from tests.probes.same_storage import COPIES, VIEWS, build
from tests.strategies import SEEDS, recipes, rng_of, sizes
from torchkata import Student, Text, assert_equal

DTYPES = st.sampled_from([torch.float32, torch.bfloat16, torch.float64, torch.int8, torch.int64, torch.bool])
SIZES = st.integers(1, 9)
PARTS, OFTEN_MISSED = (
    st.lists(st.tuples(st.sampled_from(kinds), SIZES, SIZES).map(list), max_size=4)
    for kinds in (probes.PARTS, probes.OFTEN_MISSED)
)
SHARED = st.tuples(st.sampled_from(["tied", "twice", "slices"]), SIZES, SIZES).map(list)
BUFFERED = st.tuples(st.just("batch_norm"), SIZES, SIZES).map(list)
COUNTED = sizes(1, 99, 0)
TIMES = st.just(1) | st.integers(2**54, 2**55).map(lambda half: 2 * half + 1)
EACH = st.sampled_from([1, 2, 4, 8, 12])
KINDS = st.sampled_from(["parameter_bytes", "gradient_bytes", "optimizer_bytes", "activation_bytes"])


@st.composite
def views(draw: st.DrawFn) -> tuple[Tensor, list[list[Any]]]:
    """Generate a root tensor and steps `[source, step, a, b]` that create nested views, mostly slices and rows."""
    root = torch.zeros(draw(st.lists(st.integers(2, 4), min_size=1, max_size=3)))
    rng = rng_of(draw(SEEDS))
    steps = rng.choice([*VIEWS, *["slice", "row"] * 3], draw(st.integers(1, 4)))
    return root, [[source, str(step), *rng.integers(0, 4, 2).tolist()] for source, step in enumerate(steps)]


def describe_window(x: Tensor) -> oracle.Window:
    """Return the oracle's description of `x`."""
    base = x if x._base is None else x._base
    return oracle.Window(x.shape, x.stride(), int(x.storage_offset()), x.element_size(), base.nbytes)


def assert_bytes(student: Student, root: Tensor, recipe: list[list[Any]]) -> None:
    """Compare the answer for the last tensor of the recipe with the size of its storage."""
    _, last = build(root, recipe)[-1]
    measured = last.untyped_storage().nbytes()
    shown = Text(
        "{count} × {size} bytes, of a storage of {all} bytes",
        count=last.numel(),
        size=last.element_size(),
        all=measured,
    )
    expected = oracle.tensor_bytes(describe_window(last), measured)
    assert_equal(student.call(probes.tensor_bytes, root, recipe), expected, note=Text("it shows {bytes}", bytes=shown))


@given(views(), DTYPES)
def test_view_counts_its_whole_storage(
    student: Student, case: tuple[Tensor, list[list[Any]]], dtype: torch.dtype
) -> None:
    """For any view (slice, row, transpose, expand, view of a view), tensor_bytes is an int, the size of its storage."""
    root, recipe = case
    assert_bytes(student, root.to(dtype), recipe)


@given(recipes(), st.sampled_from(COPIES), DTYPES)
def test_copy_counts_its_own_storage(
    student: Student, case: tuple[Tensor, list[list[Any]]], copy: str, dtype: torch.dtype
) -> None:
    """For a copy, tensor_bytes is an int, the number of its own elements times the bytes of its own dtype."""
    root, recipe = case
    assert_bytes(student, root.to(dtype), [*recipe, [len(recipe), copy, 0, 0]])


@given(st.integers(1, 9), st.integers(10**9, 10**11), DTYPES)
def test_expand_allocates_no_memory(student: Student, length: int, times: int, dtype: torch.dtype) -> None:
    """tensor_bytes of a row that is expanded up to 10**11 times is an int, the bytes of the row alone."""
    row = torch.zeros(length, dtype=dtype)
    expected = oracle.tensor_bytes(describe_window(row.expand(times, -1)), row.untyped_storage().nbytes())
    assert_equal(student.call(probes.expanded_bytes, row, times), expected, what=Text("bytes"))


def assert_parameters(student: Student, parts: list[list[Any]]) -> None:
    """Check the number of parameters of a model with the given parts."""
    model = probes.build_model(parts)
    places = list(model.named_parameters(remove_duplicate=False))
    uses = [
        oracle.Use(
            id(p),
            list_modules(model, name),
            tuple(p.shape),
            trainable=p.requires_grad,
            address=p.data_ptr(),
            storage=p.untyped_storage().data_ptr() or id(p),
            is_in_leaf=is_in_leaf(model, name),
            kind=name_kind(model, name),
        )
        for name, p in places
    ]
    expected = oracle.num_parameters(uses, [buffer.numel() for buffer in model.buffers()])
    shown = ", ".join(f"{name} {list(p.shape)}" for name, p in places)
    yours = student.call(probes.num_parameters, parts)
    assert_equal(
        yours,
        expected,
        what=Text("parameters"),
        note=Text("the model has {parameters}", parameters=shown or Text("none")),
    )


def is_in_leaf(model: nn.Module, name: str) -> bool:
    """Return whether the module that contains a parameter has no submodules."""
    return not list(model.get_submodule(name.rpartition(".")[0]).children())


def name_kind(model: nn.Module, name: str) -> str:
    """Return "nn.Linear" or "nn.Embedding" if the module that contains a parameter is one, otherwise ""."""
    module = model.get_submodule(name.rpartition(".")[0])
    kinds = {"nn.Linear": nn.Linear, "nn.Embedding": nn.Embedding}
    return next((kind for kind, known in kinds.items() if isinstance(module, known)), "")


def list_modules(model: nn.Module, name: str) -> list[int]:
    """Return the ids of the modules that contain a parameter, from the model down."""
    parts = name.split(".")
    return [id(model.get_submodule(".".join(parts[:depth]))) for depth in range(len(parts))]


@given(PARTS, OFTEN_MISSED)
def test_every_parameter_is_counted(student: Student, parts: list[list[Any]], further: list[list[Any]]) -> None:
    """num_parameters, an int, counts all elements of all parameters once, at any depth, also frozen, and no buffers."""
    assert_parameters(student, [*parts, *further])


@given(PARTS, SHARED)
def test_shared_parameters_are_counted_once(student: Student, parts: list[list[Any]], shared: list[Any]) -> None:
    """Each parameter is counted exactly once, also one that is used in several places, and buffers are not counted."""
    assert_parameters(student, [shared, *parts])


@given(PARTS, BUFFERED)
def test_buffers_are_not_counted(student: Student, parts: list[list[Any]], buffered: list[Any]) -> None:
    """Each parameter is counted once, but no buffers, such as the running mean of a BatchNorm."""
    assert_parameters(student, [buffered, *parts])


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 5), st.sampled_from([0, 1, 2]), st.booleans())
def test_prediction_matches_training_step_memory(
    student: Student, dim: int, num_layers: int, rows: int, states: int, half: bool
) -> None:
    """training_bytes is an int: the bytes of all tensors in a training step of a deep linear model."""
    dtype = torch.bfloat16 if half else torch.float32
    each = {
        "parameter_bytes": dtype.itemsize,
        "gradient_bytes": dtype.itemsize,
        "optimizer_bytes": 4 * states,
        "activation_bytes": dtype.itemsize,
    }
    counts = (dim * dim * num_layers, rows * dim * num_layers)
    measured = Text(
        "parameters {parameters}, gradients {gradients}, optimizer {optimizer}, activations {activations}",
        **measure_step(dim, num_layers, rows, states, dtype),
    )
    yours = student.call(probes.training_bytes, *counts, each)
    expected = oracle.training_bytes(*counts, **each)
    assert_equal(
        yours, expected, what=Text("bytes"), note=Text("bytes of the tensors of a step: {measured}", measured=measured)
    )


def measure_step(dim: int, num_layers: int, rows: int, states: int, dtype: torch.dtype) -> dict[str, int]:
    """Return the storage sizes of a training step, with `states` float32 numbers of optimizer state per parameter."""
    model = nn.Sequential(*(nn.Linear(dim, dim, bias=False, dtype=dtype) for _ in range(num_layers)))
    weights = list(model.parameters())
    activations = measure_saved(lambda: model(torch.ones(rows, dim, dtype=dtype)).sum().backward(), weights)
    state = [torch.zeros_like(w, dtype=torch.float32) for w in weights for _ in range(states)]
    return {
        "parameters": sum(w.untyped_storage().nbytes() for w in weights),
        "gradients": sum(w.grad.untyped_storage().nbytes() for w in weights if w.grad is not None),
        "optimizer": sum(s.untyped_storage().nbytes() for s in state),
        "activations": sum(activations),
    }


@given(COUNTED, COUNTED, TIMES, EACH, EACH, EACH, EACH)
def test_each_tensor_kind_uses_its_own_byte_size(
    student: Student, parameters: int, activations: int, times: int, p: int, g: int, o: int, a: int
) -> None:
    """training_bytes, an exact int, is the first three sizes per parameter plus activation_bytes per activation."""
    each = {"parameter_bytes": p, "gradient_bytes": g, "optimizer_bytes": o, "activation_bytes": a}
    expected = oracle.training_bytes(parameters, activations, **each, times=times)
    yours = student.call(probes.training_bytes, parameters * times, activations * times, each)
    assert_equal(yours, expected, what=Text("bytes"))


@given(COUNTED, COUNTED, st.just(1) | st.integers(10**9, 10**10), st.dictionaries(KINDS, EACH, max_size=1))
def test_defaults_are_adam_in_float32(
    student: Student, parameters: int, activations: int, times: int, changed: dict[str, int]
) -> None:
    """Unless given otherwise, training_bytes is an int: 4 + 4 + 8 bytes per parameter and 4 per activation."""
    expected = oracle.training_bytes(parameters, activations, **changed, times=times)
    yours = student.call(probes.training_bytes, parameters * times, activations * times, changed)
    assert_equal(yours, expected, what=Text("bytes"))


@given(st.integers(1, 10**4), st.integers(1, 2 * 10**11), st.integers(1, 24), st.booleans())
def test_max_parameters_is_rounded_down(
    student: Student, num_devices: int, device_bytes: int, bytes_per_parameter: int, as_float: bool
) -> None:
    """max_parameters divides the bytes of all devices by the bytes per parameter and rounds down to an int."""
    given_bytes = float(device_bytes) if as_float else device_bytes
    yours = student.call("memory_accounting.max_parameters", num_devices, given_bytes, bytes_per_parameter)
    assert_equal(yours, oracle.max_parameters(num_devices, given_bytes, bytes_per_parameter), what=Text("parameters"))
