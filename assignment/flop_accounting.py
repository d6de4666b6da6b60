"""Compute: how many FLOPs a model takes, and how many days that is.

A FLOP is one addition or one multiplication of floating-point numbers. FLOPs are a number of them, FLOP/s a speed.
Matrix multiplications are nearly all that a large model does, so only they are counted here: other operations take
about one FLOP for each element.
"""


def matmul_flops(B: int, D: int, K: int) -> int:
    """FLOPs of `x @ w` for x of shape (B, D) and w of shape (D, K).

    Each of the B · K results is a sum of D products: a multiplication and an addition for each, 2 · B · D · K in all.

    Example:
        matmul_flops(16384, 32768, 8192)     # 8796093022208: about 8.8e12
    """
    raise NotImplementedError


def forward_flops(tokens: float, parameters: float) -> float:
    """FLOPs of a forward pass: 2 for each token and parameter.

    In a linear layer every token (a row of x) meets every parameter (an element of w) once: B = tokens and D · K =
    parameters. Both are ints or floats, since 70e9 is easier to write than 70000000000.
    """
    raise NotImplementedError


def backward_flops(tokens: float, parameters: float) -> float:
    """FLOPs of a backward pass: 4 for each token and parameter.

    A layer `y = x @ w` has two products on the way back, each as large as the one forward: `xᵀ @ grad_y` for the
    gradient of w, and `grad_y @ wᵀ` for the gradient of x, which the layer below needs.
    """
    raise NotImplementedError


def training_flops(tokens: float, parameters: float) -> float:
    """FLOPs of training: forward and backward, 6 for each token and parameter.

    Example:
        training_flops(tokens=15e12, parameters=70e9)        # 6.3e24
        training_flops(tokens=300e9, parameters=175e9)       # 3.15e23: GPT-3 (2020)
        8 * 14 * 86400 * 989.5e12                            # 9.58e21: what eight H100 could do in two weeks

    Tokens are those of all steps: batch size times sequence length in each. GPT-4 (2023) is said to have taken 2e25; a
    US order of 2023, revoked in 2025, wanted to be told of what takes 1e26 and more.
    """
    raise NotImplementedError


def deep_linear_flops(B: int, D: int, L: int, input_needs_grad: bool = False) -> int:
    """FLOPs of one forward and backward pass of L linear layers, each D to D, on a batch of B rows, exactly as counted.

    The rule of 6 counts two products backward for every layer. But the first layer's input is the data, and nobody
    asks for its gradient unless `input_needs_grad`: autograd leaves that product out. With L = 0 there is no product.

    Example:
        deep_linear_flops(B=8, D=4, L=2)                            # 1280 = 5 * 2 * 8 * 4 * 4: five products
        deep_linear_flops(B=8, D=4, L=2, input_needs_grad=True)     # 1536: six of them
    """
    raise NotImplementedError


def training_days(parameters: float, tokens: float, devices: int, peak_flop_per_sec: float, mfu: float) -> float:
    """How many days it takes to train a model of so many parameters on so many tokens.

    Every one of the devices could do `peak_flop_per_sec`, and does the share `mfu` of it (model FLOPs utilization).

    Example:
        training_days(parameters=70e9, tokens=15e12, devices=1024, peak_flop_per_sec=989.5e12, mfu=0.5)     # 143.9
    """
    raise NotImplementedError
