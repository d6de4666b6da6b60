"""Adds up every product of every layer in a loop."""


def matmul_flops(B: int, D: int, K: int) -> int:
    """Multiplications, and as many additions."""
    multiplications = additions = B * D * K
    return multiplications + additions


def forward_flops(tokens: float, parameters: float) -> float:
    """In floating point, whatever comes in."""
    return 2.0 * float(tokens) * float(parameters)


def backward_flops(tokens: float, parameters: float) -> float:
    """Twice as many as forward."""
    return 2 * forward_flops(tokens, parameters)


def training_flops(tokens: float, parameters: float) -> float:
    """Three times as many as forward."""
    return 3 * forward_flops(parameters, tokens)


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    """Forward, the weight's gradient, and the input's where it is needed."""
    total = 0
    for layer in range(L):
        total += matmul_flops(B, D, D)
        total += matmul_flops(D, B, D)
        if layer > 0 or input_needs_grad:
            total += matmul_flops(B, D, D)
    return total


def training_days(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    """By way of seconds and hours."""
    seconds = training_flops(tokens, parameters) / devices / peak_flop_per_sec / mfu
    return seconds / 60 / 60 / 24
