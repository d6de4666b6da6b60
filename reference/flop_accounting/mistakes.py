"""Mistakes in counting FLOPs."""

from reference.flop_accounting import oracle
from torchkata import instead_of

INPUT_COUNTED = "the first layer's input has its gradient counted although nobody asks for it"


@instead_of(oracle.matmul_flops, "only multiplications are counted, not the additions")
def without_additions(B: int, D: int, K: int, times: int = 1) -> int:
    return times * B * D * K


@instead_of(oracle.matmul_flops, "a sum of D products is counted with D - 1 additions; the convention is 2 · D")
def one_addition_less(B: int, D: int, K: int, times: int = 1) -> int:
    return times * B * K * (2 * D - 1)


@instead_of(oracle.matmul_flops, "the elements of both matrices are counted in place of the products")
def elements_read(B: int, D: int, K: int, times: int = 1) -> int:
    return 2 * (times * B * D + D * K)


@instead_of(oracle.matmul_flops, "the count is a float, which is exact up to 2**53 only; int * int stays exact")
def as_float(B: int, D: int, K: int, times: int = 1) -> float:
    return 2.0 * (B * times) * D * K


@instead_of(oracle.matmul_flops, "the count is kept in 32 bits, and overflows from 2**31 on")
def in_32_bits(B: int, D: int, K: int, times: int = 1) -> int:
    return (oracle.matmul_flops(B, D, K, times) + 2**31) % 2**32 - 2**31


@instead_of(oracle.forward_flops, "one FLOP for each token and parameter, where there are two: multiply and add")
def forward_once(tokens: int, parameters: int, times: float = 1) -> float:
    return times * tokens * parameters


@instead_of(oracle.forward_flops, "tokens and parameters are rounded down to whole billions")
def whole_billions(tokens: int, parameters: int, times: float = 1) -> float:
    return 2e18 * (times * tokens // 1e9) * (parameters // 1e9)


@instead_of(oracle.backward_flops, "the backward pass is counted as one product, like the forward pass; it has two")
def backward_like_forward(tokens: int, parameters: int, times: float = 1) -> float:
    return oracle.forward_flops(tokens, parameters, times)


@instead_of(oracle.backward_flops, "6 is for forward and backward together; backward alone is 4")
def backward_with_forward(tokens: int, parameters: int, times: float = 1) -> float:
    return oracle.training_flops(tokens, parameters, times)


@instead_of(oracle.training_flops, "only the forward pass is counted: 2 in place of 6")
def forward_only(tokens: int, parameters: int, times: float = 1) -> float:
    return oracle.forward_flops(tokens, parameters, times)


@instead_of(oracle.training_flops, "only the backward pass is counted: 4 in place of 6")
def backward_only(tokens: int, parameters: int, times: float = 1) -> float:
    return oracle.backward_flops(tokens, parameters, times)


@instead_of(oracle.deep_linear_products, INPUT_COUNTED)
def always_three(L: int, input_needs_grad: bool) -> int:
    return 3 * L


@instead_of(oracle.products_by_default, INPUT_COUNTED)
def three_by_default(L: int) -> int:
    return 3 * L


@instead_of(oracle.deep_linear_products, "the gradient of the input is left out where it is asked for, and only there")
def the_other_way_round(L: int, input_needs_grad: bool) -> int:
    return oracle.deep_linear_products(L, not input_needs_grad)


@instead_of(oracle.deep_linear_products, "one product is taken off where there is none, too: with no layers it is -1")
def minus_one(L: int, input_needs_grad: bool) -> int:
    return 3 * L - (not input_needs_grad)


@instead_of(oracle.deep_linear_products, "the gradient of the input is left out also where it is asked for")
def never_the_input(L: int, input_needs_grad: bool) -> int:
    return 3 * L - (L > 0)


@instead_of(oracle.deep_linear_products, "the gradients of all layers' inputs are left out, not only the first layer's")
def weights_only(L: int, input_needs_grad: bool) -> int:
    return 3 * L if input_needs_grad else 2 * L


@instead_of(oracle.deep_linear_flops, "the batch is left out: each product is counted for one row, not for B")
def one_row(B: int, D: int, products: int, times: int = 1) -> int:
    return oracle.deep_linear_flops(1, D, products)


@instead_of(oracle.training_days, "a day is taken for an hour: 3600 seconds")
def hours(parameters: int, tokens: int, devices: int, peak_flop_per_sec: float, mfu: float, times: float = 1) -> float:
    return 24 * oracle.training_days(parameters, tokens, devices, peak_flop_per_sec, mfu, times)


@instead_of(oracle.training_days, "mfu is left out, as if the devices did all that they could")
def at_the_peak(
    parameters: int, tokens: int, devices: int, peak_flop_per_sec: float, mfu: float, times: float = 1
) -> float:
    return mfu * oracle.training_days(parameters, tokens, devices, peak_flop_per_sec, mfu, times)


@instead_of(oracle.training_days, "mfu divides where it should multiply: the devices do more than they can")
def mfu_upside_down(
    parameters: int, tokens: int, devices: int, peak_flop_per_sec: float, mfu: float, times: float = 1
) -> float:
    return oracle.training_days(parameters, tokens, devices, peak_flop_per_sec, 1 / mfu, times)


@instead_of(oracle.training_days, "these are the days that one device would need")
def one_device(
    parameters: int, tokens: int, devices: int, peak_flop_per_sec: float, mfu: float, times: float = 1
) -> float:
    return oracle.training_days(parameters, tokens, 1, peak_flop_per_sec, mfu, times)


@instead_of(oracle.training_days, "the days are rounded down to whole ones")
def whole_days(
    parameters: int, tokens: int, devices: int, peak_flop_per_sec: float, mfu: float, times: float = 1
) -> float:
    return oracle.training_days(parameters, tokens, devices, peak_flop_per_sec, mfu, times) // 1
