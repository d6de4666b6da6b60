"""Mistakes in counting memory."""

import sys
from collections.abc import Iterable, Sequence

import torch

from reference.memory_accounting import oracle
from reference.memory_accounting.oracle import Use, Window
from torchkata import instead_of


@instead_of(oracle.tensor_bytes, "the elements that the tensor shows are counted, not the storage that it holds on to")
def elements_shown(window: Window, storage_bytes: int) -> int:
    return window.elements * window.element_size


@instead_of(oracle.tensor_bytes, "elements are counted, not bytes")
def elements_only(window: Window, storage_bytes: int) -> int:
    return window.elements


@instead_of(oracle.tensor_bytes, "four bytes are counted for each element, whatever the dtype")
def always_four(window: Window, storage_bytes: int) -> int:
    return 4 * window.elements


@instead_of(oracle.tensor_bytes, "what lies in the storage before the tensor's first element is left out")
def from_the_offset_on(window: Window, storage_bytes: int) -> int:
    return storage_bytes - window.offset * window.element_size


@instead_of(
    oracle.tensor_bytes, "only the stretch from the first element shown to the last is counted, not the storage"
)
def span(window: Window, storage_bytes: int) -> int:
    steps = sum((size - 1) * stride for size, stride in zip(window.shape, window.strides, strict=True))
    return (1 + steps) * window.element_size


@instead_of(oracle.tensor_bytes, "contiguous() comes first: of a view with gaps it is the copy that is measured")
def copied_first(window: Window, storage_bytes: int) -> int:
    if torch.empty_strided(tuple(window.shape), tuple(window.strides), device="meta").is_contiguous():
        return storage_bytes
    return window.elements * window.element_size


@instead_of(oracle.tensor_bytes, "the Python object is measured, not the memory of its elements")
def size_of_the_object(window: Window, storage_bytes: int) -> int:
    return sys.getsizeof(torch.empty(0))


@instead_of(oracle.num_parameters, "a parameter that is used in several places is counted several times")
def every_use(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum(use.elements for use in uses)


@instead_of(oracle.num_parameters, "buffers are counted as parameters")
def with_buffers(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return distinct(uses) + sum(buffers)


@instead_of(oracle.num_parameters, "whatever is in the state_dict is counted: tied parameters twice, and buffers, too")
def whole_state(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum(use.elements for use in uses) + sum(buffers)


@instead_of(oracle.num_parameters, "frozen parameters are left out; they are parameters, too")
def trainable_only(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return distinct(use for use in uses if use.trainable)


@instead_of(oracle.num_parameters, "only matrices are counted: biases are parameters, too")
def matrices_only(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return distinct(use for use in uses if len(use.shape) > 1)


@instead_of(oracle.num_parameters, "it is counted module by module: a parameter that two modules share counts twice")
def module_by_module(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum({(use.modules[-1], use.parameter): use.elements for use in uses}.values())


@instead_of(
    oracle.num_parameters, "what lies deeper counts again at every level: parameters() already goes all the way down"
)
def every_level(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum({(module, use.parameter): use.elements for use in uses for module in use.modules}.values())


@instead_of(
    oracle.num_parameters, "only the parameters of the model's direct children are counted, not what lies deeper"
)
def children_only(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    children = [use for use in uses if len(use.modules) == 2]
    return sum({(use.modules[-1], use.parameter): use.elements for use in children}.values())


@instead_of(oracle.num_parameters, "parameters of the same shape are counted as one")
def one_of_each_shape(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return sum({use.shape: use.elements for use in uses}.values())


@instead_of(oracle.num_parameters, "the parameters' bytes are counted, not how many numbers they hold")
def in_bytes(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return 4 * distinct(uses)


@instead_of(oracle.num_parameters, "the parameter tensors are counted, not their elements")
def tensors(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    return len({use.parameter for use in uses})


@instead_of(oracle.training_bytes, "the gradients are left out")
def without_gradients(num_parameters: int, num_activations: int, **each: int) -> int:
    return oracle.training_bytes(num_parameters, num_activations, **{**each, "gradient_bytes": 0})


@instead_of(oracle.training_bytes, "the optimizer's state is left out")
def without_state(num_parameters: int, num_activations: int, **each: int) -> int:
    return oracle.training_bytes(num_parameters, num_activations, **{**each, "optimizer_bytes": 0})


@instead_of(oracle.training_bytes, "the activations are left out")
def without_activations(num_parameters: int, num_activations: int, **each: int) -> int:
    return oracle.training_bytes(num_parameters, 0, **each)


@instead_of(oracle.training_bytes, "activations are given gradients and optimizer state; only parameters have these")
def all_alike(num_parameters: int, num_activations: int, **each: int) -> int:
    return oracle.training_bytes(num_parameters + num_activations, 0, **each)


@instead_of(oracle.training_bytes, "activations are given gradients that stay; only parameters have these")
def gradients_of_activations(num_parameters: int, num_activations: int, **each: int) -> int:
    more = each.get("times", 1) * num_activations * each.get("gradient_bytes", 4)
    return oracle.training_bytes(num_parameters, num_activations, **each) + more


@instead_of(oracle.training_bytes, "a gradient is taken to have as many bytes as a parameter, not gradient_bytes")
def gradients_like_parameters(num_parameters: int, num_activations: int, **each: int) -> int:
    return oracle.training_bytes(
        num_parameters, num_activations, **{**each, "gradient_bytes": each.get("parameter_bytes", 4)}
    )


@instead_of(oracle.training_bytes, "optimizer_bytes counts twice: it is all of the state for one parameter already")
def state_for_two(num_parameters: int, num_activations: int, **each: int) -> int:
    twice = 2 * each.get("optimizer_bytes", 8)
    return oracle.training_bytes(num_parameters, num_activations, **{**each, "optimizer_bytes": twice})


@instead_of(oracle.training_bytes, "unless told otherwise the optimizer's state takes 4 bytes, AdaGrad's, not Adam's 8")
def adagrad_unless_told(num_parameters: int, num_activations: int, **each: int) -> int:
    return oracle.training_bytes(num_parameters, num_activations, **{"optimizer_bytes": 4, **each})


@instead_of(oracle.training_bytes, "the bytes are a float, not an int")
def floats(num_parameters: int, num_activations: int, **each: int) -> float:
    return float(oracle.training_bytes(num_parameters, num_activations, **each))


@instead_of(oracle.training_bytes, "everything is counted in float32, whatever bytes are given")
def always_float32(num_parameters: int, num_activations: int, **each: int) -> int:
    return oracle.training_bytes(num_parameters, num_activations, times=each.get("times", 1))


@instead_of(oracle.max_parameters, "one device is counted, not all")
def one_device(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    return oracle.max_parameters(1, device_bytes, bytes_per_parameter)


@instead_of(oracle.max_parameters, "the result is rounded to the nearest: the last parameter may not fit")
def to_the_nearest(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    return round(num_devices * device_bytes / bytes_per_parameter)


@instead_of(oracle.max_parameters, "the result is rounded up: the last parameter does not fit")
def rounded_up(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    return -(-num_devices * int(device_bytes) // bytes_per_parameter)


@instead_of(oracle.max_parameters, "each device is rounded down by itself")
def each_rounded(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    return num_devices * oracle.max_parameters(1, device_bytes, bytes_per_parameter)


@instead_of(oracle.max_parameters, "the result is not rounded down: there is no part of a parameter")
def not_rounded(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> float:
    return num_devices * device_bytes / bytes_per_parameter


@instead_of(oracle.max_parameters, "the answer is a float where device_bytes is one: // of a float gives a float")
def float_of_a_float(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> float:
    return num_devices * device_bytes // bytes_per_parameter


@instead_of(oracle.max_parameters, "device_bytes is taken for GB and made GiB: it is bytes, whatever they are called")
def gibibytes(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    return int(num_devices * device_bytes * 1e9 / 2**30 // bytes_per_parameter)


def distinct(uses: Iterable[Use]) -> int:
    """The elements of these parameters, each once."""
    return sum({use.parameter: use.elements for use in uses}.values())


@instead_of(oracle.training_bytes, "of gradients and activations only the larger counts; both are alive at once")
def gradients_or_activations(
    num_parameters: int, num_activations: int, *, gradient_bytes: int = 4, activation_bytes: int = 4, **each: int
) -> int:
    larger = max(num_parameters * gradient_bytes, num_activations * activation_bytes) * each.get("times", 1)
    return oracle.training_bytes(num_parameters, 0, gradient_bytes=0, **each) + larger


@instead_of(oracle.training_bytes, "of optimizer state and activations only the larger counts; both are alive at once")
def state_or_activations(
    num_parameters: int, num_activations: int, *, optimizer_bytes: int = 8, activation_bytes: int = 4, **each: int
) -> int:
    larger = max(num_parameters * optimizer_bytes, num_activations * activation_bytes) * each.get("times", 1)
    return oracle.training_bytes(num_parameters, 0, optimizer_bytes=0, **each) + larger


@instead_of(oracle.training_bytes, "the parameters themselves are left out")
def without_parameters(num_parameters: int, num_activations: int, **each: int) -> int:
    return oracle.training_bytes(num_parameters, num_activations, **{**each, "parameter_bytes": 0})
