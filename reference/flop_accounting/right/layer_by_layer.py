"""Adds up every product of every layer in a loop."""


def matmul_flops(B: int, D: int, K: int) -> int:
    multiplications = additions = B * D * K
    return multiplications + additions


def forward_flops(tokens: float, parameters: float) -> float:
    return 2.0 * float(tokens) * float(parameters)


def backward_flops(tokens: float, parameters: float) -> float:
    return 2 * forward_flops(tokens, parameters)


def training_flops(tokens: float, parameters: float) -> float:
    return 3 * forward_flops(parameters, tokens)


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    total = 0
    for layer in range(L):
        total += matmul_flops(B, D, D)
        total += matmul_flops(D, B, D)
        if layer > 0 or input_needs_grad:
            total += matmul_flops(B, D, D)
    return total


def training_days(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    seconds = training_flops(tokens, parameters) / devices / peak_flop_per_sec / mfu
    return seconds / 60 / 60 / 24
