"""Oracle for the puzzles that computes the index of each element."""

import numpy as np
from jaxtyping import Bool, Float, Int64, Shaped
from numpy import ndarray as Array


def upsample(x: Shaped[Array, "... h w"], n: int) -> Array:
    """Repeat each pixel n times in both directions."""
    return np.repeat(np.repeat(x, n, axis=-2), n, axis=-1)


def average_pool(x: Float[Array, "... h*n w*n"], n: int) -> Array:
    """Return the mean of each n × n square."""
    return np.asarray(sum(x[..., i::n, j::n] for i in range(n) for j in range(n)) / n**2)


def channels_first(x: Shaped[Array, "... h w c"]) -> Array:
    """Move the last dimension before the two others."""
    return np.asarray(np.moveaxis(x, -1, -3))


def patches(x: Shaped[Array, "... h*n w*n c"], n: int) -> Array:
    """Gather the elements at each position within a patch, and join them into one row per patch."""
    places = [x[..., i::n, j::n, :] for i in range(n) for j in range(n)]
    joined = np.concatenate(places, axis=-1)
    return np.reshape(joined, (*joined.shape[:-3], joined.shape[-3] * joined.shape[-2], joined.shape[-1]))


def patch_embedding(
    x: Float[Array, "batch h*n w*n c"], n: int, weight: Float[Array, "dim n*n*c"], bias: Float[Array, " dim"]
) -> Float[Array, "batch h*w dim"]:
    """Multiply each patch by the weight and add the bias."""
    return np.asarray(patches(x, n) @ weight.T + bias)


def outer(x: Float[Array, "... rows"], y: Float[Array, "... columns"]) -> Array:
    """Return the product of each element of x with each element of y."""
    return np.asarray(np.einsum("...i,...j->...ij", x, y))


def squared_distances(x: Float[Array, "... rows d"], y: Float[Array, "... columns d"]) -> Array:
    """Return the squared distance between each row of x and each row of y."""
    return np.asarray(np.sum((np.expand_dims(x, -2) - np.expand_dims(y, -3)) ** 2, axis=-1))


def traces(x: Float[Array, "... rows rows"]) -> Array:
    """Return the sum of the diagonal of each matrix."""
    return np.asarray(np.trace(x, axis1=-2, axis2=-1))


def one_hot(labels: Int64[Array, "..."], classes: int) -> Bool[Array, "... classes"]:
    """Return the row of the identity matrix for each label."""
    return np.asarray(np.eye(classes, dtype=bool)[labels])


def window_mask(n: int, window: int) -> Bool[Array, "n n"]:
    """Return a mask that is True where the key is 0 to `window - 1` positions before the query."""
    before = np.subtract.outer(np.arange(n), np.arange(n))
    return (before >= 0) & (before < window)


def rms_norm(x: Float[Array, "... d"], eps: float) -> Float[Array, "... d"]:
    """Divide each row by `sqrt(mean(x²) + eps)`."""
    return np.asarray(x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps))
