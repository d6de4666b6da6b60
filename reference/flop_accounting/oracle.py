"""FLOPs of products of matrices, of a model's passes, and the days that they take."""

SECONDS_PER_DAY = 24 * 60 * 60


def matmul_flops(B: int, D: int, K: int) -> int:
    """B · K sums of D products."""
    return 2 * B * D * K


def forward_flops(tokens: float, parameters: float) -> float:
    """Each token meets each parameter once."""
    return 2 * tokens * parameters


def backward_flops(tokens: float, parameters: float) -> float:
    """Once for the gradient of the weight, once for that of the input."""
    return 4 * tokens * parameters


def training_flops(tokens: float, parameters: float) -> float:
    """Forward and backward."""
    return forward_flops(tokens, parameters) + backward_flops(tokens, parameters)


def deep_linear_products(L: int, input_needs_grad: bool) -> int:
    """Three for each layer; one is not needed where the gradient of the data is not."""
    return 3 * L - (L > 0 and not input_needs_grad)


def products_by_default(L: int) -> int:
    """As many where nothing is said of the data's gradient: without it."""
    return 3 * L - (L > 0)


def deep_linear_flops(B: int, D: int, products: int) -> int:
    """FLOPs of so many products (B, D) by (D, D)."""
    return products * matmul_flops(B, D, D)


def training_days(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    """All FLOPs, over what all devices do in a day."""
    return training_flops(tokens, parameters) / (devices * peak_flop_per_sec * mfu * SECONDS_PER_DAY)
