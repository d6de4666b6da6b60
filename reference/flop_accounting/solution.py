"""FLOPs of a model and its training time in days."""

SECONDS_PER_DAY = 24 * 60 * 60


def matmul_flops(B: int, D: int, K: int) -> int:
    """Count a multiplication and an addition for each of B · D · K."""
    return 2 * B * D * K


def forward_flops(tokens: float, parameters: float) -> float:
    """Count one matrix product."""
    return 2 * tokens * parameters


def backward_flops(tokens: float, parameters: float) -> float:
    """Count the two matrix products of each layer."""
    return 4 * tokens * parameters


def training_flops(tokens: float, parameters: float) -> float:
    """Add the FLOPs of the forward and backward pass."""
    return forward_flops(tokens, parameters) + backward_flops(tokens, parameters)


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    """Count three products per layer, excluding the gradient of the first layer's input."""
    products = 3 * L
    if L > 0 and not input_needs_grad:
        products -= 1
    return products * matmul_flops(B, D, D)


def training_days(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    """Divide the total FLOPs by the FLOPs that the devices achieve in a day."""
    flop_per_day = devices * peak_flop_per_sec * mfu * SECONDS_PER_DAY
    return training_flops(tokens, parameters) / flop_per_day
