"""Common mistakes in memory_accounting."""

import sys
from collections.abc import Iterable, Sequence

import torch

from reference.memory_accounting import oracle
from reference.memory_accounting.oracle import Use, Window
from torchkata import Mistake, instead_of


@instead_of(oracle.tensor_bytes, "counts the elements of the tensor instead of its whole storage")
def elements_shown(window: Window, storage_bytes: int) -> int:
    return window.elements * window.element_size


@instead_of(
    oracle.tensor_bytes,
    "counts the elements of `x._base`, or of x if it is None (as for nn.Parameter(view)), instead of the whole storage",
)
def elements_of_base(window: Window, storage_bytes: int) -> int:
    return window.base_bytes


@instead_of(oracle.tensor_bytes, "returns the number of elements instead of bytes")
def elements_only(window: Window, storage_bytes: int) -> int:
    return window.elements


@instead_of(oracle.tensor_bytes, "assumes 4 bytes per element for every dtype")
def always_four(window: Window, storage_bytes: int) -> int:
    return 4 * window.elements


@instead_of(oracle.tensor_bytes, "omits the part of the storage before the tensor's first element")
def from_the_offset_on(window: Window, storage_bytes: int) -> int:
    return storage_bytes - window.offset * window.element_size


@instead_of(
    oracle.tensor_bytes, "counts only the range from the first to the last element instead of the whole storage"
)
def span(window: Window, storage_bytes: int) -> int:
    steps = sum((size - 1) * stride for size, stride in zip(window.shape, window.strides, strict=True))
    return (1 + steps) * window.element_size


@instead_of(
    oracle.tensor_bytes,
    "counts storage_offset() + numel() elements: the storage may be longer, and a view may show an element many times",
)
def offset_and_elements(window: Window, storage_bytes: int) -> int:
    return (window.offset + window.elements) * window.element_size


@instead_of(oracle.tensor_bytes, "a view with gaps counts as its contiguous copy")
def copied_first(window: Window, storage_bytes: int) -> int:
    if torch.empty_strided(tuple(window.shape), tuple(window.strides), device="meta").is_contiguous():
        return storage_bytes
    return window.elements * window.element_size


@instead_of(oracle.tensor_bytes, "counts the elements of a contiguous view instead of its whole storage")
def contiguous_elements(window: Window, storage_bytes: int) -> int:
    if torch.empty_strided(tuple(window.shape), tuple(window.strides), device="meta").is_contiguous():
        return window.elements * window.element_size
    return storage_bytes


@instead_of(oracle.tensor_bytes, "measures the Python object instead of the storage")
def size_of_the_object(window: Window, storage_bytes: int) -> int:
    return sys.getsizeof(torch.empty(0))


@instead_of(oracle.num_parameters, "counts a shared parameter several times")
def every_use(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum(use.elements for use in uses)


@instead_of(oracle.num_parameters, "counts buffers as parameters")
def with_buffers(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return count_distinct(uses) + sum(buffers)


@instead_of(oracle.num_parameters, "counts tied parameters twice and includes buffers, as state_dict() does")
def whole_state(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum(use.elements for use in uses) + sum(buffers)


@instead_of(oracle.num_parameters, "omits frozen parameters")
def trainable_only(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return count_distinct(use for use in uses if use.trainable)


@instead_of(oracle.num_parameters, "counts only matrices, but biases are also parameters")
def matrices_only(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return count_distinct(use for use in uses if len(use.shape) > 1)


@instead_of(oracle.num_parameters, "a parameter shared by two modules counts twice, as when counting module by module")
def module_by_module(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum({(use.modules[-1], use.parameter): use.elements for use in uses}.values())


@instead_of(oracle.num_parameters, "counts nested parameters again at every level: parameters() is already recursive")
def every_level(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum({(module, use.parameter): use.elements for use in uses for module in use.modules}.values())


@instead_of(oracle.num_parameters, "counts only the parameters of the model's direct children")
def children_only(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    children = [use for use in uses if len(use.modules) == 2]
    return sum({(use.modules[-1], use.parameter): use.elements for use in children}.values())


@instead_of(oracle.num_parameters, "omits parameters that belong directly to a module with submodules")
def leaves_only(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return count_distinct(use for use in uses if use.is_in_leaf)


@instead_of(
    oracle.num_parameters,
    "counts only parameters in {kinds}",
    kinds=["nn.Linear", "nn.Linear and nn.Embedding"],
)
def of_some_kinds(uses: Sequence[Use], buffers: Sequence[int], *, kinds: str) -> int:
    return count_distinct(use for use in uses if use.kind in kinds.split(" and "))


@instead_of(oracle.num_parameters, "counts parameters of the same shape only once")
def one_of_each_shape(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum({use.shape: use.elements for use in uses}.values())


@instead_of(
    oracle.num_parameters,
    "counts all parameters on the meta device as one: their addresses, `data_ptr()`, are all 0",
)
def by_address(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum({use.address and use.parameter: use.elements for use in uses}.values())


@instead_of(
    oracle.num_parameters,
    "counts only the first parameter on the meta device: the addresses, `data_ptr()`, are all 0 there",
)
def by_first_address(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum({use.address and use.parameter: use.elements for use in reversed(uses)}.values())


@instead_of(oracle.num_parameters, "of several parameters that share a storage, only the last is counted")
def by_storage(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum({use.storage: use.elements for use in uses}.values())


@instead_of(oracle.num_parameters, "of several parameters that share a storage, only the first is counted")
def by_first_storage(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum({use.storage: use.elements for use in reversed(uses)}.values())


@instead_of(oracle.num_parameters, "returns the parameters' bytes instead of their number of elements")
def in_bytes(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return 4 * count_distinct(uses)


@instead_of(oracle.num_parameters, "counts parameter tensors instead of their elements")
def tensors(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return len({use.parameter for use in uses})


def omit(kind: str, message: str) -> Mistake:
    """Return a mistake that omits the bytes of the given kind."""

    def mistaken(num_parameters: int, num_activations: int, **each: int) -> int:
        """Count the bytes of all other kinds."""
        return oracle.training_bytes(num_parameters, num_activations, **{**each, kind: 0})

    return instead_of(oracle.training_bytes, message)(mistaken)


without_gradients = omit("gradient_bytes", "omits the gradients")
without_state = omit("optimizer_bytes", "omits the optimizer's state")
without_parameters = omit("parameter_bytes", "omits the parameters themselves")
without_activations = omit("activation_bytes", "omits the activations")


@instead_of(
    oracle.training_bytes, "adds memory for gradients and optimizer state of activations: only parameters have them"
)
def all_alike(num_parameters: int, num_activations: int, **each: int) -> int:
    return oracle.training_bytes(num_parameters + num_activations, 0, **each)


@instead_of(
    oracle.training_bytes, "adds memory for gradients of activations: only the gradients of parameters are kept"
)
def gradients_of_activations(num_parameters: int, num_activations: int, **each: int) -> int:
    more = each.get("times", 1) * num_activations * each.get("gradient_bytes", 4)
    return oracle.training_bytes(num_parameters, num_activations, **each) + more


@instead_of(oracle.training_bytes, "uses parameter_bytes instead of gradient_bytes for gradients")
def gradients_like_parameters(num_parameters: int, num_activations: int, **each: int) -> int:
    return oracle.training_bytes(
        num_parameters, num_activations, **{**each, "gradient_bytes": each.get("parameter_bytes", 4)}
    )


@instead_of(
    oracle.training_bytes,
    "uses {kind} instead of activation_bytes for activations",
    kind=["parameter_bytes", "gradient_bytes", "optimizer_bytes"],
)
def activations_like_another(num_parameters: int, num_activations: int, *, kind: str, **each: int) -> int:
    other = each.get(kind, 8 if kind == "optimizer_bytes" else 4)
    return oracle.training_bytes(num_parameters, num_activations, **{**each, "activation_bytes": other})


@instead_of(oracle.training_bytes, "multiplies optimizer_bytes by parameter_bytes: it is already in bytes")
def state_in_parameters(num_parameters: int, num_activations: int, **each: int) -> int:
    more = each.get("optimizer_bytes", 8) * each.get("parameter_bytes", 4)
    return oracle.training_bytes(num_parameters, num_activations, **{**each, "optimizer_bytes": more})


@instead_of(
    oracle.training_bytes,
    "{kind} has no effect: it counts as its default",
    kind=["parameter_bytes", "gradient_bytes", "optimizer_bytes", "activation_bytes"],
)
def default_of_one(num_parameters: int, num_activations: int, *, kind: str, **each: int) -> int:
    others = {name: size for name, size in each.items() if name != kind}
    return oracle.training_bytes(num_parameters, num_activations, **others)


@instead_of(oracle.training_bytes, "counts the activations twice")
def activations_twice(num_parameters: int, num_activations: int, **each: int) -> int:
    twice = 2 * each.get("activation_bytes", 4)
    return oracle.training_bytes(num_parameters, num_activations, **{**each, "activation_bytes": twice})


@instead_of(
    oracle.training_bytes,
    "adds 4 bytes per parameter if parameter_bytes is 2: a master copy is the caller's to include",
)
def master_copy_added(num_parameters: int, num_activations: int, **each: int) -> int:
    more = {"parameter_bytes": 6} if each.get("parameter_bytes") == 2 else {}
    return oracle.training_bytes(num_parameters, num_activations, **{**each, **more})


@instead_of(
    oracle.training_bytes,
    "{kind} is 2 by default instead of 4",
    kind=["parameter_bytes", "gradient_bytes", "activation_bytes"],
)
def two_by_default(num_parameters: int, num_activations: int, *, kind: str, **each: int) -> int:
    return oracle.training_bytes(num_parameters, num_activations, **{kind: 2, **each})


@instead_of(oracle.training_bytes, "counts optimizer_bytes twice: it is the whole state per parameter")
def state_for_two(num_parameters: int, num_activations: int, **each: int) -> int:
    twice = 2 * each.get("optimizer_bytes", 8)
    return oracle.training_bytes(num_parameters, num_activations, **{**each, "optimizer_bytes": twice})


@instead_of(oracle.training_bytes, "optimizer_bytes is 4 by default (AdaGrad) instead of 8 (Adam)")
def adagrad_by_default(num_parameters: int, num_activations: int, **each: int) -> int:
    return oracle.training_bytes(num_parameters, num_activations, **{"optimizer_bytes": 4, **each})


@instead_of(oracle.training_bytes, "optimizer_bytes=0 is replaced by the default: `0 or 8`, for example, is 8")
def zero_is_adam(num_parameters: int, num_activations: int, *, optimizer_bytes: int = 8, **each: int) -> int:
    return oracle.training_bytes(num_parameters, num_activations, optimizer_bytes=optimizer_bytes or 8, **each)


@instead_of(oracle.training_bytes, "returns a float instead of an int")
def floats(num_parameters: int, num_activations: int, **each: int) -> float:
    return float(oracle.training_bytes(num_parameters, num_activations, **each))


@instead_of(oracle.training_bytes, "ignores the *_bytes arguments and assumes float32")
def always_float32(num_parameters: int, num_activations: int, **each: int) -> int:
    return oracle.training_bytes(num_parameters, num_activations, times=each.get("times", 1))


@instead_of(oracle.max_parameters, "counts only one device instead of all")
def one_device(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    return oracle.max_parameters(1, device_bytes, bytes_per_parameter)


@instead_of(
    oracle.max_parameters, "ignores bytes_per_parameter: it counts {each:g} bytes per parameter", each=[4, 8, 12, 16]
)
def same_bytes_each(num_devices: int, device_bytes: float, bytes_per_parameter: int, *, each: int) -> int:
    return oracle.max_parameters(num_devices, device_bytes, each)


@instead_of(oracle.max_parameters, "rounds to nearest, so the last parameter may not fit: round down")
def to_the_nearest(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    return round(num_devices * device_bytes / bytes_per_parameter)


@instead_of(oracle.max_parameters, "rounds up, so the last parameter does not fit: round down")
def rounded_up(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    return -(-num_devices * int(device_bytes) // bytes_per_parameter)


@instead_of(oracle.max_parameters, "rounds down per device: add up all bytes first")
def each_rounded(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    return num_devices * oracle.max_parameters(1, device_bytes, bytes_per_parameter)


@instead_of(oracle.max_parameters, "does not round down to a whole number")
def not_rounded(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> float:
    return num_devices * device_bytes / bytes_per_parameter


@instead_of(oracle.max_parameters, "returns a float if device_bytes is a float: // on a float returns a float")
def float_of_a_float(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> float:
    return num_devices * device_bytes // bytes_per_parameter


@instead_of(oracle.max_parameters, "converts device_bytes from GB to GiB: it is already in bytes")
def gibibytes(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    return int(num_devices * device_bytes * 1e9 / 2**30 // bytes_per_parameter)


def count_distinct(uses: Iterable[Use]) -> int:
    """Return the number of elements of the given parameters, counting each parameter once."""
    return sum({use.parameter: use.elements for use in uses}.values())


def larger_of(kind: str, default: int, message: str) -> Mistake:
    """Return a mistake that counts only the larger of the activations and another kind."""

    def mistaken(num_parameters: int, num_activations: int, *, activation_bytes: int = 4, **each: int) -> int:
        """Count only the larger of the two kinds, and all other kinds correctly."""
        larger = max(num_parameters * each.get(kind, default), num_activations * activation_bytes)
        others = oracle.training_bytes(num_parameters, 0, **{**each, kind: 0})
        return others + larger * each.get("times", 1)

    return instead_of(oracle.training_bytes, message)(mistaken)


gradients_or_activations = larger_of(
    "gradient_bytes",
    4,
    "uses the maximum of gradients and activations, but both are in memory at the same time",
)
state_or_activations = larger_of(
    "optimizer_bytes",
    8,
    "uses the maximum of optimizer state and activations, but both are in memory at the same time",
)
