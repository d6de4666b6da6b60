"""Common mistakes in flop_accounting."""

from collections.abc import Callable
from datetime import timedelta

from reference.flop_accounting import oracle
from torchkata import Mistake, instead_of


@instead_of(oracle.matmul_flops, "counts one FLOP per product instead of two (multiply and add)")
def without_additions(B: int, D: int, K: int, times: int = 1) -> int:
    return times * B * D * K


@instead_of(oracle.matmul_flops, "counts D - 1 additions for a sum of D products: the convention is 2 · D FLOPs")
def one_addition_less(B: int, D: int, K: int, times: int = 1) -> int:
    return times * B * K * (2 * D - 1)


@instead_of(oracle.matmul_flops, "counts the elements of both matrices instead of the multiplications")
def elements_read(B: int, D: int, K: int, times: int = 1) -> int:
    return 2 * (times * B * D + D * K)


@instead_of(oracle.matmul_flops, "returns a float, which is exact only up to 2**53: multiply ints")
def as_float(B: int, D: int, K: int, times: int = 1) -> float:
    return 2.0 * (B * times) * D * K


@instead_of(oracle.matmul_flops, "overflows a 32-bit integer at 2**31")
def in_32_bits(B: int, D: int, K: int, times: int = 1) -> int:
    return (oracle.matmul_flops(B, D, K, times) + 2**31) % 2**32 - 2**31


@instead_of(
    oracle.forward_flops,
    "counts 5 FLOPs per token and parameter instead of 6: the forward pass takes 2 (multiply and add)",
)
def forward_once(tokens: int, parameters: int, times: float = 1) -> float:
    return times * tokens * parameters


@instead_of(
    oracle.backward_flops,
    "counts 4 FLOPs per token and parameter instead of 6 (2 in the forward pass, 4 in the backward pass)",
)
def backward_like_forward(tokens: int, parameters: int, times: float = 1) -> float:
    return oracle.forward_flops(tokens, parameters, times)


@instead_of(
    oracle.backward_flops,
    "counts 8 FLOPs per token and parameter instead of 6: the backward pass alone takes 4",
)
def backward_with_forward(tokens: int, parameters: int, times: float = 1) -> float:
    return oracle.training_flops(tokens, parameters, times)


@instead_of(
    oracle.training_flops,
    "counts 2 FLOPs per token and parameter instead of 6, as many as the forward pass alone takes",
)
def forward_only(tokens: int, parameters: int, times: float = 1) -> float:
    return oracle.forward_flops(tokens, parameters, times)


@instead_of(
    oracle.training_flops,
    "counts 3 FLOPs per token and parameter instead of 6, as if an addition were none",
)
def half_of_all(tokens: int, parameters: int, times: float = 1) -> float:
    return oracle.training_flops(tokens, parameters, times) / 2


@instead_of(
    oracle.deep_linear_products,
    "counts 3 · L matmuls if input_needs_grad is False: the first layer then needs only two",
)
def always_three(L: int, input_needs_grad: bool) -> int:
    return 3 * L


@instead_of(
    oracle.deep_linear_products,
    "with one layer, counts the input's gradient although input_needs_grad is False: this layer is the first one",
)
def one_layer_in_full(L: int, input_needs_grad: bool) -> int:
    return 3 if L == 1 else oracle.deep_linear_products(L, input_needs_grad)


@instead_of(
    oracle.products_by_default,
    "counts 3 · L matmuls without input_needs_grad: it should be False by default, so the first layer needs only two",
)
def three_by_default(L: int) -> int:
    return 3 * L


@instead_of(
    oracle.deep_linear_products,
    "counts no matmul for the first layer if input_needs_grad is False: it needs two",
)
def first_layer_free(L: int, input_needs_grad: bool) -> int:
    return 3 * L if input_needs_grad else 3 * (L - 1)


@instead_of(oracle.deep_linear_products, "inverts input_needs_grad")
def the_other_way_round(L: int, input_needs_grad: bool) -> int:
    return oracle.deep_linear_products(L, not input_needs_grad)


@instead_of(
    oracle.deep_linear_products, "subtracts a matmul even without layers, so the result can be negative for L = 0"
)
def minus_one(L: int, input_needs_grad: bool) -> int:
    return 3 * L - (not input_needs_grad)


@instead_of(oracle.deep_linear_products, "omits the input's gradient even if input_needs_grad is True")
def never_the_input(L: int, input_needs_grad: bool) -> int:
    return 3 * L - (L > 0)


@instead_of(
    oracle.deep_linear_products,
    "counts two matmuls per layer if input_needs_grad is False: only the first layer has two, the others three",
)
def weights_only(L: int, input_needs_grad: bool) -> int:
    return 3 * L if input_needs_grad else 2 * L


@instead_of(oracle.deep_linear_products, "counts two matmuls per layer instead of three: one forward and two backward")
def two_each(L: int, input_needs_grad: bool) -> int:
    return 2 * L - (L > 0 and not input_needs_grad)


@instead_of(
    oracle.deep_linear_products,
    "counts a single matmul for the gradients with respect to the inputs of all layers: each layer after the first "
    "takes one",
)
def one_input_gradient(L: int, input_needs_grad: bool) -> int:
    return 2 * L + (L > 0)


@instead_of(
    oracle.deep_linear_products,
    "if input_needs_grad is False, counts a single matmul for the gradients with respect to the inputs of all layers: "
    "each layer after the first takes one",
)
def last_input_gradient(L: int, input_needs_grad: bool) -> int:
    return 2 * L + (L > 0) + (input_needs_grad and L > 1)


@instead_of(
    oracle.deep_linear_products,
    "counts no gradient with respect to the input of any layer after the first: they take one matmul each",
)
def first_input_gradient(L: int, input_needs_grad: bool) -> int:
    return 2 * L + (L > 0 and input_needs_grad)


@instead_of(oracle.deep_linear_products, "counts two matmuls less, not one, if input_needs_grad is False")
def two_less(L: int, input_needs_grad: bool) -> int:
    return 3 * L - 2 * (L > 0 and not input_needs_grad)


@instead_of(oracle.deep_linear_flops, "ignores the batch size B and counts only one row")
def one_row(B: int, D: int, products: int, times: int = 1) -> int:
    return oracle.deep_linear_flops(1, D, products)


def scale_days(message: str, factor: Callable[[int, float], float]) -> Mistake:
    """Return a mistake that multiplies the training days by a function of `devices` and `mfu`."""

    def mistaken(
        parameters: int, tokens: int, devices: int, peak_flop_per_sec: float, mfu: float, times: float = 1
    ) -> float:
        """Scale the correct result."""
        right = oracle.training_days(parameters, tokens, devices, peak_flop_per_sec, mfu, times)
        return factor(devices, mfu) * right

    return instead_of(oracle.training_days, message)(mistaken)


seconds = scale_days("the result is in seconds, not in days", lambda _, __: 24 * 60 * 60)
hours = scale_days("the number of days is 24 times too large, as if a day had 3600 seconds", lambda _, __: 24)
at_the_peak = scale_days("ignores mfu", lambda _, mfu: mfu)
mfu_upside_down = scale_days("the number of days is multiplied by mfu instead of divided by it", lambda _, mfu: mfu**2)
devices_upside_down = scale_days(
    "the number of days is multiplied by devices instead of divided by it", lambda devices, _: devices**2
)
percent = scale_days("the number of days is 100 times too large, as if mfu were a percentage", lambda _, __: 100)
one_device = scale_days("ignores devices, as if there were only one", lambda devices, _: devices)


@instead_of(oracle.training_days, "rounds down to whole days")
def whole_days(
    parameters: int, tokens: int, devices: int, peak_flop_per_sec: float, mfu: float, times: float = 1
) -> float:
    return oracle.training_days(parameters, tokens, devices, peak_flop_per_sec, mfu, times) // 1


@instead_of(oracle.training_days, "rounds up to whole days")
def days_begun(
    parameters: int, tokens: int, devices: int, peak_flop_per_sec: float, mfu: float, times: float = 1
) -> float:
    return -(-oracle.training_days(parameters, tokens, devices, peak_flop_per_sec, mfu, times) // 1)


@instead_of(
    oracle.training_days,
    "the time is rounded to whole {unit}",
    unit=["hours", "minutes", "seconds", "milliseconds", "microseconds"],
)
def rounded_time(
    parameters: int,
    tokens: int,
    devices: int,
    peak_flop_per_sec: float,
    mfu: float,
    times: float = 1,
    unit: str = "seconds",
) -> float:
    days = oracle.training_days(parameters, tokens, devices, peak_flop_per_sec, mfu, times)
    whole = timedelta(**{unit: 1}) / timedelta(days=1)
    return round(days / whole) * whole
