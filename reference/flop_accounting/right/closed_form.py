"""Uses lambdas, and returns floats if the arguments are floats."""

matmul_flops = lambda B, D, K: (B * K * D) << 1  # noqa: E731
training_flops = lambda tokens, parameters: tokens * 6 * parameters  # noqa: E731


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    return max(0, 6 * L - 2 * (not input_needs_grad)) * B * D**2


def training_days(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    return training_flops(parameters=parameters, tokens=tokens) / 86400.0 / (mfu * devices * peak_flop_per_sec)
