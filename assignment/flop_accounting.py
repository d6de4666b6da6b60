"""FLOP accounting: compute a model's FLOPs and the days that its training takes.

A FLOP is one floating-point addition or multiplication. FLOPs count operations; FLOP/s is a rate. The functions below
count only matrix multiplications.

For scale: training GPT-3 took 3.14e23 FLOPs, GPT-4 perhaps 2e25. A US order (2023, revoked in 2025) required reports of
training runs above 1e26. In two weeks, eight H100s perform at most 9.57e21.
"""


def matmul_flops(B: int, D: int, K: int) -> int:
    """Return the FLOPs of `x @ w` for x of shape (B, D) and w of shape (D, K): 2 · B · D · K, as an exact int.

    Example:
        matmul_flops(16384, 32768, 8192)     # 8796093022208: about 8.8e12
    """
    raise NotImplementedError


def training_flops(tokens: float, parameters: float) -> float:
    """Return the FLOPs of training a model with this many parameters on this many tokens (ints or floats).

    All parameters are in linear layers. In the forward pass, `y = x @ w`, each token (row of x) is multiplied by each
    parameter (element of w) once, and each product is added to a sum. The backward pass computes `xᵀ @ grad_y` for w
    and `grad_y @ wᵀ` for x.

    Example:
        training_flops(tokens=15e12, parameters=70e9)        # 6.3e24
        training_flops(tokens=300e9, parameters=175e9)       # 3.15e23: GPT-3 (2020)
    """
    raise NotImplementedError


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    """Return the exact FLOPs of a forward and a backward pass through L linear layers (D to D) on a batch of B rows.

    Each layer needs three matmuls: one forward and two backward. If `input_needs_grad` is False, the first layer needs
    only two, because its input gets no gradient. If L is 0, return 0.

    Example:
        deep_linear_flops(B=8, D=4, L=2)                            # 1280 = 5 * 2 * 8 * 4 * 4: five matmuls
        deep_linear_flops(B=8, D=4, L=2, input_needs_grad=True)     # 1536: six matmuls
    """
    raise NotImplementedError


def training_days(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    """Return how many days the training takes.

    Each device achieves the fraction `mfu` (model FLOPs utilization, at most 1) of `peak_flop_per_sec`.

    Example:
        training_days(parameters=70e9, tokens=15e12, devices=1024, peak_flop_per_sec=989.5e12, mfu=0.5)     # 143.9
    """
    raise NotImplementedError
