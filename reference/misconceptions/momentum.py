"""Mistakes in gradient descent with momentum."""

from jaxtyping import Float
from numpy import ndarray as Array
from numpy import zeros_like

from reference.misconceptions import instead_of
from reference.misconceptions.optimizers import *  # noqa: F403
from reference.oracle import momentum as oracle


@instead_of(oracle.memory, "nothing is remembered: the memory is the last gradient")
def forgotten(
    b: Float[Array, "*shape"] | None,
    grad: Float[Array, "*shape"],
    momentum: float,
    dampening: float,
) -> Float[Array, "*shape"]:
    """Plain gradient descent."""
    return grad


@instead_of(oracle.memory, "the memory is an average: the gradient enters it with 1 - momentum")
def averaged(
    b: Float[Array, "*shape"] | None,
    grad: Float[Array, "*shape"],
    momentum: float,
    dampening: float,
) -> Float[Array, "*shape"]:
    """As in Adam."""
    return (1 - momentum) * grad if b is None else momentum * b + (1 - momentum) * grad


@instead_of(oracle.memory, "the memory does not fade: momentum is missing before it")
def added_up(
    b: Float[Array, "*shape"] | None,
    grad: Float[Array, "*shape"],
    momentum: float,
    dampening: float,
) -> Float[Array, "*shape"]:
    """A sum over all steps."""
    return grad if b is None else b + (1 - dampening) * grad


@instead_of(oracle.memory, "dampening is ignored")
def undamped(
    b: Float[Array, "*shape"] | None,
    grad: Float[Array, "*shape"],
    momentum: float,
    dampening: float,
) -> Float[Array, "*shape"]:
    """The gradient enters whole, always."""
    return grad if b is None else momentum * b + grad


@instead_of(oracle.memory, "the first gradient is damped, too")
def damped_from_the_start(
    b: Float[Array, "*shape"] | None, grad: Float[Array, "*shape"], momentum: float, dampening: float
) -> Float[Array, "*shape"]:
    """A memory of zeros before the first step."""
    return (1 - dampening) * grad + (0 if b is None else momentum * b)


@instead_of(oracle.memory, "dampening weighs the gradient itself, not 1 - dampening")
def damped_the_other_way(
    b: Float[Array, "*shape"] | None, grad: Float[Array, "*shape"], momentum: float, dampening: float
) -> Float[Array, "*shape"]:
    """Where nothing is to be damped, only the first gradient counts."""
    return grad if b is None else momentum * b + dampening * grad


@instead_of(oracle.direction, "nesterov changes nothing")
def never_ahead(
    b: Float[Array, "*shape"],
    grad: Float[Array, "*shape"],
    momentum: float,
    nesterov: bool,
) -> Float[Array, "*shape"]:
    """The memory in any case."""
    return b


@instead_of(oracle.direction, "nesterov is on in any case")
def always_ahead(
    b: Float[Array, "*shape"],
    grad: Float[Array, "*shape"],
    momentum: float,
    nesterov: bool,
) -> Float[Array, "*shape"]:
    """One look further ahead than asked for."""
    return grad + momentum * b


@instead_of(oracle.direction, "nesterov adds the memory without momentum before it")
def too_far_ahead(
    b: Float[Array, "*shape"],
    grad: Float[Array, "*shape"],
    momentum: float,
    nesterov: bool,
) -> Float[Array, "*shape"]:
    """The memory does not fade on the way."""
    return grad + b if nesterov else b


@instead_of(oracle.step, "the memory holds steps, each at the lr of its time: lr belongs outside it")
def remembers_steps(
    p: Float[Array, "*shape"],
    b: Float[Array, "*shape"] | None,
    grad: Float[Array, "*shape"],
    lr: float,
    momentum: float = 0.9,
    dampening: float = 0.0,
    nesterov: bool = False,
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """The same as long as lr stays."""
    b = oracle.memory(b, lr * grad, momentum, dampening)
    return p - oracle.direction(b, lr * grad, momentum, nesterov), b


@instead_of(oracle.step, "the parameter moves before the gradient joins the memory")
def one_step_late(
    p: Float[Array, "*shape"],
    b: Float[Array, "*shape"] | None,
    grad: Float[Array, "*shape"],
    lr: float,
    momentum: float = 0.9,
    dampening: float = 0.0,
    nesterov: bool = False,
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """The first step goes nowhere."""
    before = zeros_like(p) if b is None else b
    return p - lr * oracle.direction(before, grad, momentum, nesterov), oracle.memory(b, grad, momentum, dampening)


@instead_of(oracle.step, "the gradient is added: p goes uphill")
def uphill(
    p: Float[Array, "*shape"],
    b: Float[Array, "*shape"] | None,
    grad: Float[Array, "*shape"],
    lr: float,
    momentum: float = 0.9,
    dampening: float = 0.0,
    nesterov: bool = False,
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """Plus for minus."""
    b = oracle.memory(b, grad, momentum, dampening)
    return p + lr * oracle.direction(b, grad, momentum, nesterov), b
