"""Mistakes about a training step."""

from collections.abc import Sequence

from reference.measure_step import oracle
from reference.measure_step.oracle import Operation
from torchkata import instead_of


def of_one_kind(operations: Sequence[Operation], itemsize: int, speed: float, which: int) -> float:
    """The seconds of all FLOPs, or of all bytes."""
    return sum(work[which] for work in oracle.work(operations, itemsize)) / speed


@instead_of(oracle.block_backward, "the gradient of the data is part of the work; nobody asks for it")
def gradient_of_the_data(B: int, D: int, layer: int) -> list[Operation]:
    return oracle.block_backward(B, D, layer + 1)


@instead_of(oracle.block_backward, "a block has one product on the way back; there are two, for weight and input")
def one_product_back(B: int, D: int, layer: int) -> list[Operation]:
    return oracle.block_backward(B, D, 1)


@instead_of(oracle.block_backward, "a ReLU's backward pass reads one tensor; it reads two, its output and a gradient")
def relu_back_like_forward(B: int, D: int, layer: int) -> list[Operation]:
    return [oracle.relu((B, D)), *oracle.block_backward(B, D, layer)[1:]]


@instead_of(oracle.block_backward, "the ReLUs have no operation on the way back; each has one")
def no_relu_back(B: int, D: int, layer: int) -> list[Operation]:
    return oracle.block_backward(B, D, layer)[1:]


@instead_of(oracle.step, "only products are counted; ReLUs and the update move bytes, too, and do a little arithmetic")
def products_only(B: int, D: int, L: int) -> list[Operation]:
    return [operation for operation in oracle.step(B, D, L) if operation.is_product]


@instead_of(oracle.step, "the forward pass is left out")
def no_forward(B: int, D: int, L: int) -> list[Operation]:
    return oracle.step(B, D, L)[2 * L :]


@instead_of(oracle.updates, "the update of the weights is left out")
def no_update(D: int, L: int) -> list[Operation]:
    return []


@instead_of(oracle.sgd, "the update reads the weight alone; it reads its gradient, too")
def update_without_gradient(shape: oracle.Shape) -> Operation:
    return Operation([shape], shape, 2)


@instead_of(oracle.sgd, "the update takes one FLOP an element; times lr and minus are two")
def update_of_one_flop(shape: oracle.Shape) -> Operation:
    return Operation([shape, shape], shape, 1)


@instead_of(oracle.relu, "a ReLU is counted without FLOPs; to compare an element with 0 is one")
def relu_is_free(shape: oracle.Shape, keeps: str = "") -> Operation:
    return Operation([shape], shape, 0, keeps=[keeps] if keeps else [])


@instead_of(
    oracle.relu_backward, "a ReLU's backward pass is counted without FLOPs; to compare an element with 0 is one"
)
def relu_back_is_free(shape: oracle.Shape) -> Operation:
    return Operation([shape, shape], shape, 0)


@instead_of(oracle.model_flops, "the FLOPs of all operations are added up; MFU counts products alone")
def flops_of_all(operations: Sequence[Operation]) -> int:
    return sum(operation.flops for operation in operations)


@instead_of(oracle.kept, "one tensor of activations is missing: the batch is kept, and the output of each block")
def one_missing(operations: Sequence[Operation]) -> int:
    return oracle.kept(operations) - 1


@instead_of(oracle.kept, "an output that a ReLU and the next product keep is counted twice; it is one tensor")
def kept_twice(operations: Sequence[Operation]) -> int:
    return sum(len(operation.keeps) for operation in operations)


@instead_of(oracle.kept, "the results of the products are counted, too; a ReLU keeps its output, not its input")
def products_kept(operations: Sequence[Operation]) -> int:
    return 2 * oracle.kept(operations) - 1


@instead_of(oracle.memory_bytes, "the gradients are left out of the memory")
def no_gradients(D: int, L: int, activations: int, itemsize: int) -> int:
    return (D * D * L + activations) * itemsize


@instead_of(oracle.memory_bytes, "the memory has Adam's state, 8 bytes a parameter; SGD has none")
def adams_state(D: int, L: int, activations: int, itemsize: int) -> int:
    return oracle.memory_bytes(D, L, activations, itemsize) + 8 * D * D * L


@instead_of(oracle.memory_bytes, "the activations are left out of the memory")
def no_activations(D: int, L: int, activations: int, itemsize: int) -> int:
    return 2 * D * D * L * itemsize


@instead_of(oracle.memory_bytes, "four bytes are counted for each number that is held, whatever the dtype")
def held_in_float32(D: int, L: int, activations: int, itemsize: int) -> int:
    return oracle.memory_bytes(D, L, activations, 4)


@instead_of(oracle.seconds, "one roofline is taken for the whole step; each operation has its own, and they add up")
def one_roofline(operations: Sequence[Operation], itemsize: int, flop_per_sec: float, bytes_per_sec: float) -> float:
    pairs = ((flop_per_sec, 0), (bytes_per_sec, 1))
    return max(of_one_kind(operations, itemsize, speed, which) for speed, which in pairs)


@instead_of(oracle.seconds, "arithmetic and moving bytes are added up; at best both go on at the same time")
def one_after_the_other(
    operations: Sequence[Operation], itemsize: int, flop_per_sec: float, bytes_per_sec: float
) -> float:
    pairs = ((flop_per_sec, 0), (bytes_per_sec, 1))
    return sum(of_one_kind(operations, itemsize, speed, which) for speed, which in pairs)


@instead_of(oracle.seconds, "every operation is taken to be compute-bound: its bytes do not count")
def arithmetic_only(operations: Sequence[Operation], itemsize: int, flop_per_sec: float, bytes_per_sec: float) -> float:
    return of_one_kind(operations, itemsize, flop_per_sec, 0)


@instead_of(oracle.seconds, "every operation is taken to be memory-bound: its FLOPs do not count")
def bytes_only(operations: Sequence[Operation], itemsize: int, flop_per_sec: float, bytes_per_sec: float) -> float:
    return of_one_kind(operations, itemsize, bytes_per_sec, 1)


@instead_of(oracle.seconds, "the shorter of arithmetic and moving bytes is taken; what takes longer decides")
def the_shorter(operations: Sequence[Operation], itemsize: int, flop_per_sec: float, bytes_per_sec: float) -> float:
    works = oracle.work(operations, itemsize)
    return sum(min(flops / flop_per_sec, moved / bytes_per_sec) for flops, moved in works)


@instead_of(oracle.device, "the two figures have changed places: FLOP/s come first")
def bytes_first(flops: int, square_seconds: float, moved: int, tall_seconds: float) -> tuple[float, float]:
    return oracle.device(flops, square_seconds, moved, tall_seconds)[::-1]


@instead_of(oracle.device, "the bytes/s are four times too few: elements are counted, of 4 bytes each")
def elements_per_sec(flops: int, square_seconds: float, moved: int, tall_seconds: float) -> tuple[float, float]:
    return oracle.device(flops, square_seconds, moved // 4, tall_seconds)


@instead_of(oracle.device, "it is upside down: seconds for each FLOP and byte")
def seconds_for_each(flops: int, square_seconds: float, moved: int, tall_seconds: float) -> tuple[float, float]:
    return square_seconds / flops, tall_seconds / moved


@instead_of(oracle.measured, "these are the seconds of all steps together")
def all_together(steps: int, one: float, first: float) -> float:
    return steps * one


@instead_of(oracle.measured, "the first step is timed with the others; it warms up")
def with_the_first(steps: int, one: float, first: float) -> float:
    return one + first / steps


@instead_of(oracle.measured, "these are milliseconds")
def in_milliseconds(steps: int, one: float, first: float) -> float:
    return 1000 * one


@instead_of(oracle.mfu, "the mfu is in percent, not a share of 1")
def mfu_in_percent(flops: int, seconds: float, promised: float) -> float:
    return 100 * oracle.mfu(flops, seconds, promised)


@instead_of(oracle.mfu, "more than 1 is cut off; it tells that a figure is wrong")
def mfu_cut_off(flops: int, seconds: float, promised: float) -> float:
    return min(1.0, oracle.mfu(flops, seconds, promised))


@instead_of(oracle.mfu, "the mfu is upside down: promised over reached")
def mfu_upside_down(flops: int, seconds: float, promised: float) -> float:
    return 1 / oracle.mfu(flops, seconds, promised)
