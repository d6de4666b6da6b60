"""Mistakes in counting memory."""

from collections.abc import Sequence

from reference.misconceptions import instead_of
from reference.oracle import memory_accounting as oracle
from reference.oracle.memory_accounting import Use


@instead_of(oracle.tensor_bytes, "the elements that the tensor shows are counted, not the storage that it holds on to")
def elements_shown(elements: int, element_size: int, storage_bytes: int) -> int:
    """Right unless it is a view."""
    return elements * element_size


@instead_of(oracle.tensor_bytes, "elements are counted, not bytes")
def elements_only(elements: int, element_size: int, storage_bytes: int) -> int:
    """`numel()` alone."""
    return elements


@instead_of(oracle.tensor_bytes, "four bytes are counted for each element, whatever the dtype")
def always_four(elements: int, element_size: int, storage_bytes: int) -> int:
    """As for float32."""
    return 4 * elements


@instead_of(oracle.num_parameters, "a parameter that is used in several places is counted several times")
def every_use(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    """Adds up module by module."""
    return sum(use.elements for use in uses)


@instead_of(oracle.num_parameters, "buffers are counted as parameters")
def with_buffers(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    """Running means are state, not parameters."""
    return sum({use.parameter: use.elements for use in uses}.values()) + sum(buffers)


@instead_of(oracle.num_parameters, "whatever is in the state_dict is counted: tied parameters twice, and buffers, too")
def whole_state(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    """`state_dict()` has an entry for each place."""
    return sum(use.elements for use in uses) + sum(buffers)


@instead_of(oracle.num_parameters, "frozen parameters are left out; they are parameters, too")
def trainable_only(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    """Those that require gradients."""
    return sum({use.parameter: use.elements for use in uses if use.trainable}.values())


@instead_of(oracle.num_parameters, "the parameter tensors are counted, not their elements")
def tensors(uses: Sequence[Use], buffers: Sequence[int]) -> int:
    """`len(list(model.parameters()))`."""
    return len({use.parameter for use in uses})


@instead_of(oracle.training_bytes, "the gradients are left out")
def without_gradients(num_parameters: int, num_activations: int, **each: int) -> int:
    """One for each parameter."""
    return training_bytes(num_parameters, num_activations, **{**each, "gradient_bytes": 0})


@instead_of(oracle.training_bytes, "the optimizer's state is left out")
def without_state(num_parameters: int, num_activations: int, **each: int) -> int:
    """Plain SGD has none; others do."""
    return training_bytes(num_parameters, num_activations, **{**each, "optimizer_bytes": 0})


@instead_of(oracle.training_bytes, "the activations are left out")
def without_activations(num_parameters: int, num_activations: int, **each: int) -> int:
    """They are kept until the backward pass."""
    return training_bytes(num_parameters, 0, **each)


@instead_of(oracle.training_bytes, "activations are given gradients and optimizer state; only parameters have these")
def all_alike(num_parameters: int, num_activations: int, **each: int) -> int:
    """Gradients of activations do not stay."""
    return training_bytes(num_parameters + num_activations, 0, **each)


@instead_of(oracle.training_bytes, "everything is counted in float32, whatever bytes are given")
def always_float32(num_parameters: int, num_activations: int, **each: int) -> int:
    """The defaults."""
    return training_bytes(num_parameters, num_activations)


@instead_of(oracle.max_parameters, "one device is counted, not all")
def one_device(num_devices: int, device_bytes: int, bytes_per_parameter: int) -> int:
    """Parameters can be sharded."""
    return device_bytes // bytes_per_parameter


@instead_of(oracle.max_parameters, "the result is rounded to the nearest: the last parameter may not fit")
def to_the_nearest(num_devices: int, device_bytes: int, bytes_per_parameter: int) -> int:
    """Half a parameter is none."""
    return round(num_devices * device_bytes / bytes_per_parameter)


@instead_of(oracle.max_parameters, "the result is rounded up: the last parameter does not fit")
def rounded_up(num_devices: int, device_bytes: int, bytes_per_parameter: int) -> int:
    """One too many."""
    return -(-num_devices * device_bytes // bytes_per_parameter)


@instead_of(oracle.max_parameters, "each device is rounded down by itself")
def each_rounded(num_devices: int, device_bytes: int, bytes_per_parameter: int) -> int:
    """A parameter's bytes may lie on several devices."""
    return num_devices * (device_bytes // bytes_per_parameter)


def training_bytes(
    num_parameters: int,
    num_activations: int,
    *,
    parameter_bytes: int = 4,
    gradient_bytes: int = 4,
    optimizer_bytes: int = 8,
    activation_bytes: int = 4,
) -> int:
    """The right sum, whatever stands in the oracle now."""
    return num_parameters * (parameter_bytes + gradient_bytes + optimizer_bytes) + num_activations * activation_bytes
