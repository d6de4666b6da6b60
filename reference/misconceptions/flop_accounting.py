"""Mistakes in counting FLOPs."""

from reference.misconceptions import instead_of
from reference.oracle import flop_accounting as oracle


@instead_of(oracle.matmul_flops, "only multiplications are counted, not the additions")
def without_additions(B: int, D: int, K: int) -> int:
    """One for each product."""
    return B * D * K


@instead_of(oracle.matmul_flops, "a sum of D products is counted with D - 1 additions; the convention is 2 · D")
def one_addition_less(B: int, D: int, K: int) -> int:
    """The first product is added to nothing."""
    return B * K * (2 * D - 1)


@instead_of(oracle.forward_flops, "one FLOP for each token and parameter, where there are two: multiply and add")
def forward_once(tokens: float, parameters: float) -> float:
    """Without the additions."""
    return tokens * parameters


@instead_of(oracle.backward_flops, "the backward pass is counted as one product, like the forward pass; it has two")
def backward_like_forward(tokens: float, parameters: float) -> float:
    """Without the gradient of the input."""
    return 2 * tokens * parameters


@instead_of(oracle.backward_flops, "6 is for forward and backward together; backward alone is 4")
def backward_with_forward(tokens: float, parameters: float) -> float:
    """All of training."""
    return 6 * tokens * parameters


@instead_of(oracle.training_flops, "only the forward pass is counted: 2 in place of 6")
def forward_only(tokens: float, parameters: float) -> float:
    """As in inference."""
    return 2 * tokens * parameters


@instead_of(oracle.deep_linear_products, "the first layer's input has its gradient counted although nobody asks for it")
def always_three(L: int, input_needs_grad: bool) -> int:
    """The rule of 6."""
    return 3 * L


@instead_of(oracle.deep_linear_products, "the gradient of the input is left out also where it is asked for")
def never_the_input(L: int, input_needs_grad: bool) -> int:
    """Always one product less."""
    return 3 * L - (L > 0)


@instead_of(oracle.deep_linear_products, "the gradients of all layers' inputs are left out, not only the first layer's")
def weights_only(L: int, input_needs_grad: bool) -> int:
    """Two for each layer."""
    return 3 * L if input_needs_grad else 2 * L


@instead_of(oracle.training_days, "a day is taken for an hour: 3600 seconds")
def hours(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    """24 times too many."""
    return 24 * oracle.training_flops(tokens, parameters) / (devices * peak_flop_per_sec * mfu * 86400)


@instead_of(oracle.training_days, "mfu is left out, as if the devices did all that they could")
def at_the_peak(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    """Too few days."""
    return oracle.training_flops(tokens, parameters) / (devices * peak_flop_per_sec * 86400)
