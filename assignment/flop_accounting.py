"""FLOP accounting: compute the FLOPs of a model and the number of days it takes to train it.

A FLOP is one addition or multiplication of floating-point numbers. FLOPs count operations; FLOP/s is a rate.
The functions below count only the FLOPs of matrix multiplications.

For scale: training GPT-3 took 3.14e23 FLOPs, and GPT-4 perhaps 2e25. From 2023 until it was revoked in 2025, a US order
required a report of every training run above 1e26. Eight H100s at their peak perform 9.57e21 FLOPs in two weeks.
"""


def matmul_flops(B: int, D: int, K: int) -> int:
    """Return the FLOPs of `x @ w` for x of shape (B, D) and w of shape (D, K): 2 · B · D · K, as an exact int.

    Example:
        matmul_flops(16384, 32768, 8192)     # 8796093022208: about 8.8e12
    """
    raise NotImplementedError


def training_flops(tokens: float, parameters: float) -> float:
    """Return the number of FLOPs needed to train a model with this many parameters on this many tokens.

    All parameters are in linear layers. In a product `x @ w`, each token (a row of x) is combined with each parameter
    (an element of w) once. Count the forward pass, `y = x @ w`, and the backward pass, which computes `xᵀ @ grad_y`
    for w and `grad_y @ wᵀ` for x.

    Both arguments are ints or floats.

    Example:
        training_flops(tokens=15e12, parameters=70e9)        # 6.3e24
        training_flops(tokens=300e9, parameters=175e9)       # 3.15e23: GPT-3 (2020)
    """
    raise NotImplementedError


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    """Return the exact FLOPs of a forward and a backward pass through L linear layers (D to D) on a batch of B rows.

    Each layer needs three matrix multiplications: one in the forward pass and two in the backward pass. If
    `input_needs_grad` is False, the first layer needs only two, because no gradient is computed for its input. If L is
    0, the result is 0.

    Example:
        deep_linear_flops(B=8, D=4, L=2)                            # 1280 = 5 * 2 * 8 * 4 * 4: five matmuls
        deep_linear_flops(B=8, D=4, L=2, input_needs_grad=True)     # 1536: six matmuls
    """
    raise NotImplementedError


def training_days(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    """Return the number of days it takes to train a model with this many parameters on this many tokens.

    Each device achieves the fraction `mfu` (model FLOPs utilization, at most 1) of `peak_flop_per_sec`.

    Example:
        training_days(parameters=70e9, tokens=15e12, devices=1024, peak_flop_per_sec=989.5e12, mfu=0.5)     # 143.9
    """
    raise NotImplementedError
