"""Common mistakes in measure_step."""

import operator
from collections.abc import Callable, Sequence

from reference.measure_step import oracle
from reference.measure_step.oracle import Operation
from torchkata import Mistake, instead_of


@instead_of(
    oracle.block_backward, "lists one matmul too many, such as the one for the gradient of x, which is not needed"
)
def gradient_of_the_data(B: int, D: int, layer: int) -> list[Operation]:
    return oracle.block_backward(B, D, layer + 1)


@instead_of(oracle.block_backward, "counts one backward matmul per block instead of two (for the weight and the input)")
def one_product_back(B: int, D: int, layer: int) -> list[Operation]:
    return oracle.block_backward(B, D, 1)


@instead_of(
    oracle.block_backward,
    "counts two tensors in a ReLU's backward pass instead of three: it reads its output and a gradient, and writes one",
)
def relu_back_like_forward(B: int, D: int, layer: int) -> list[Operation]:
    return [oracle.relu((B, D)), *oracle.block_backward(B, D, layer)[1:]]


@instead_of(oracle.block_backward, "omits the ReLUs' backward operations")
def no_relu_back(B: int, D: int, layer: int) -> list[Operation]:
    return oracle.block_backward(B, D, layer)[1:]


@instead_of(oracle.step, "counts only matmuls: ReLUs and updates also take FLOPs and move bytes")
def products_only(B: int, D: int, L: int) -> list[Operation]:
    return [operation for operation in oracle.step(B, D, L) if operation.is_product]


@instead_of(oracle.step, "omits the forward pass")
def no_forward(B: int, D: int, L: int) -> list[Operation]:
    return oracle.step(B, D, L)[2 * L :]


@instead_of(oracle.updates, "omits the update of the weights")
def no_update(D: int, L: int) -> list[Operation]:
    return []


@instead_of(oracle.updates, "counts the update of one parameter instead of all L")
def one_update(D: int, L: int) -> list[Operation]:
    return oracle.updates(D, 1)


@instead_of(oracle.sgd, "counts two tensors for the update instead of three: it reads p and its gradient, and writes p")
def update_without_gradient(shape: oracle.Shape) -> Operation:
    return Operation([shape], shape, 2)


@instead_of(oracle.sgd, "counts one FLOP per element for the update instead of two (multiply and subtract)")
def update_of_one_flop(shape: oracle.Shape) -> Operation:
    return Operation([shape, shape], shape, 1)


@instead_of(oracle.relu, "counts no FLOPs for a ReLU: comparing an element with 0 takes one FLOP")
def relu_is_free(shape: oracle.Shape, keeps: str = "") -> Operation:
    return Operation([shape], shape, 0, keeps=[keeps] if keeps else [])


@instead_of(oracle.relu_backward, "counts no FLOPs for a ReLU's backward pass: it takes one FLOP per element")
def relu_back_is_free(shape: oracle.Shape) -> Operation:
    return Operation([shape, shape], shape, 0)


@instead_of(oracle.model_flops, "adds the FLOPs of all operations: MFU counts only matmuls")
def flops_of_all(operations: Sequence[Operation]) -> int:
    return sum(operation.flops for operation in operations)


@instead_of(
    oracle.count_saved, "counts L activations instead of L + 1: the batch and the output of each block are saved"
)
def one_missing(operations: Sequence[Operation]) -> int:
    return oracle.count_saved(operations) - 1


@instead_of(
    oracle.count_saved, "counts 2 · L activations instead of L + 1: a ReLU and the next matmul save the same tensor"
)
def kept_twice(operations: Sequence[Operation]) -> int:
    return sum(len(operation.keeps) for operation in operations)


@instead_of(oracle.count_saved, "counts 2 · L + 1 activations instead of L + 1: a ReLU saves its output, not its input")
def products_kept(operations: Sequence[Operation]) -> int:
    return 2 * oracle.count_saved(operations) - 1


@instead_of(oracle.memory_bytes, "counts memory for only one of parameters and gradients, which take the same")
def no_gradients(D: int, L: int, activations: int, itemsize: int) -> int:
    return (D * D * L + activations) * itemsize


@instead_of(oracle.memory_bytes, "includes Adam's state, 8 bytes per parameter: SGD has none")
def adams_state(D: int, L: int, activations: int, itemsize: int) -> int:
    return oracle.memory_bytes(D, L, activations, itemsize) + 8 * D * D * L


@instead_of(oracle.memory_bytes, "omits the memory of the activations")
def no_activations(D: int, L: int, activations: int, itemsize: int) -> int:
    return 2 * D * D * L * itemsize


@instead_of(
    oracle.memory_bytes,
    "counts 4 bytes per parameter or per gradient for every dtype: pass parameter_bytes and gradient_bytes",
)
def gradients_in_float32(D: int, L: int, activations: int, itemsize: int) -> int:
    return oracle.memory_bytes(D, L, activations, itemsize) + (4 - itemsize) * D * D * L


@instead_of(oracle.memory_bytes, "counts 4 bytes per activation for every dtype: pass activation_bytes")
def activations_in_float32(D: int, L: int, activations: int, itemsize: int) -> int:
    return oracle.memory_bytes(D, L, activations, itemsize) + (4 - itemsize) * activations


@instead_of(oracle.memory_bytes, "assumes 4 bytes per element of memory for every dtype")
def held_in_float32(D: int, L: int, activations: int, itemsize: int) -> int:
    return oracle.memory_bytes(D, L, activations, 4)


@instead_of(
    oracle.seconds, "applies the roofline to the whole step at once: add up the times of the operations instead"
)
def one_roofline(operations: Sequence[Operation], itemsize: int, flop_per_sec: float, bytes_per_sec: float) -> float:
    flops, moved = zip(*oracle.work(operations, itemsize), strict=True)
    return max(sum(flops) / flop_per_sec, sum(moved) / bytes_per_sec)


def combine(combination: Callable[[float, float], float], message: str) -> Mistake:
    """Return a mistake that uses another function to combine an operation's times for arithmetic and for memory."""

    def mistaken(operations: Sequence[Operation], itemsize: int, flop_per_sec: float, bytes_per_sec: float) -> float:
        """Add up the times of all operations."""
        works = oracle.work(operations, itemsize)
        return sum(combination(flops / flop_per_sec, moved / bytes_per_sec) for flops, moved in works)

    return instead_of(oracle.seconds, message)(mistaken)


one_after_the_other = combine(
    operator.add, "adds the times for arithmetic and for moving bytes, but at best they overlap"
)
arithmetic_only = combine(
    lambda arithmetic, _: arithmetic, "ignores the bytes, as if every operation were compute-bound"
)
bytes_only = combine(lambda _, moving: moving, "ignores the FLOPs, as if every operation were memory-bound")
the_shorter = combine(min, "uses the shorter time, for arithmetic or for moving bytes, instead of the longer one")


@instead_of(oracle.device, "returns the two values in the wrong order: FLOP/s comes first")
def bytes_first(flops: int, square_seconds: float, moved: int, tall_seconds: float) -> tuple[float, float]:
    return oracle.device(flops, square_seconds, moved, tall_seconds)[::-1]


@instead_of(oracle.device, "the bytes/s are four times too low, as if elements were counted instead of bytes")
def elements_per_sec(flops: int, square_seconds: float, moved: int, tall_seconds: float) -> tuple[float, float]:
    return oracle.device(flops, square_seconds, moved // 4, tall_seconds)


@instead_of(oracle.device, "returns seconds per FLOP and per byte")
def seconds_for_each(flops: int, square_seconds: float, moved: int, tall_seconds: float) -> tuple[float, float]:
    return square_seconds / flops, tall_seconds / moved


@instead_of(oracle.measure_seconds, "returns the total time of all steps instead of the time of one step")
def all_together(steps: int, one: float, first: float) -> float:
    return steps * one


@instead_of(oracle.measure_seconds, "times the first step, which should be a warm-up")
def with_the_first(steps: int, one: float, first: float) -> float:
    return one + first / steps


@instead_of(oracle.measure_seconds, "times the first backward pass: warm up with a whole step, not only a forward pass")
def with_the_first_backward(steps: int, one: float, first: float) -> float:
    return one + first / 4 / steps  # a quarter is that of the first backward pass, see `Device` in the probes


@instead_of(oracle.measure_seconds, "returns milliseconds")
def in_milliseconds(steps: int, one: float, first: float) -> float:
    return 1000 * one


@instead_of(oracle.mfu, "returns the MFU as a percentage instead of a fraction")
def mfu_in_percent(flops: int, seconds: float, promised: float) -> float:
    return 100 * oracle.mfu(flops, seconds, promised)


@instead_of(oracle.mfu, "clips the mfu at 1")
def mfu_cut_off(flops: int, seconds: float, promised: float) -> float:
    return min(1.0, oracle.mfu(flops, seconds, promised))


@instead_of(oracle.mfu, "returns promised / achieved instead of achieved / promised")
def mfu_upside_down(flops: int, seconds: float, promised: float) -> float:
    return 1 / oracle.mfu(flops, seconds, promised)
