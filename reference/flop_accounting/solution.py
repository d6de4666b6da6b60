"""FLOPs of a model and its training time in days."""

SECONDS_PER_DAY = 24 * 60 * 60


def matmul_flops(B: int, D: int, K: int) -> int:
    """Count a multiplication and an addition for each of the B · D · K products."""
    return 2 * B * D * K


def training_flops(tokens: float, parameters: float) -> float:
    """Count one matmul in the forward pass and two in the backward pass."""
    forward = 2 * tokens * parameters
    backward = 4 * tokens * parameters
    return forward + backward


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    """Count three matmuls per layer, excluding the one for the gradient of the first layer's input."""
    products = 3 * L
    if L > 0 and not input_needs_grad:
        products -= 1
    return products * matmul_flops(B, D, D)


def training_days(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    """Divide the total FLOPs by the FLOPs that the devices achieve in a day."""
    flop_per_day = devices * peak_flop_per_sec * mfu * SECONDS_PER_DAY
    return training_flops(tokens, parameters) / flop_per_day
