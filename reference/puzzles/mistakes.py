"""Common mistakes in the puzzles."""

import numpy as np
from einops import rearrange, reduce, repeat
from jaxtyping import Float, Int, Int64, Shaped
from numpy import ndarray as Array

from reference.puzzles import oracle
from torchkata import instead_of


@instead_of(oracle.upsample, "repeats the whole image instead of each pixel: (h2 h) instead of (h h2)")
def tiled(x: Shaped[Array, "... h w"], n: int) -> Array:
    return repeat(x, "... h w -> ... (h2 h) (w2 w)", h2=n, w2=n)


@instead_of(oracle.upsample, "repeats each pixel in one direction only")
def widened(x: Shaped[Array, "... h w"], n: int) -> Array:
    return np.repeat(x, n, axis=-1)


@instead_of(oracle.upsample, "repeats along the first two dimensions instead of the last two")
def first_two_repeated(x: Shaped[Array, "a b ..."], n: int) -> Array:
    return np.repeat(np.repeat(x, n, axis=0), n, axis=1)


@instead_of(oracle.average_pool, "sums the pixels of a square instead of averaging them")
def pooled_sum(x: Float[Array, "... h*n w*n"], n: int) -> Array:
    return oracle.average_pool(x, n) * n**2


@instead_of(oracle.average_pool, "returns the largest pixel of a square instead of the mean")
def pooled_max(x: Float[Array, "... h*n w*n"], n: int) -> Array:
    return reduce(x, "... (h h2) (w w2) -> ... h w", "max", h2=n, w2=n)


@instead_of(oracle.average_pool, "averages pixels that are far apart: (h2 h) instead of (h h2)")
def pooled_far_apart(x: Float[Array, "... h*n w*n"], n: int) -> Array:
    return reduce(x, "... (h2 h) (w2 w) -> ... h w", "mean", h2=n, w2=n)


@instead_of(
    oracle.channels_first,
    "the elements keep their order, as in reshape: permute the dimensions instead",
)
def reshaped(x: Shaped[Array, "... h w c"]) -> Array:
    return x.reshape(*x.shape[:-3], x.shape[-1], *x.shape[-3:-1])


@instead_of(oracle.channels_first, "also exchanges height and width")
def width_first(x: Shaped[Array, "... h w c"]) -> Array:
    return np.swapaxes(x, -1, -3)


@instead_of(oracle.channels_first, "moves the channels before the leading dimensions, too")
def before_all(x: Shaped[Array, "... c"]) -> Array:
    return np.moveaxis(x, -1, 0)


@instead_of(oracle.patches, "combines pixels that are far apart into a patch: (h2 h) instead of (h h2)")
def scattered(x: Shaped[Array, "... h*n w*n c"], n: int) -> Array:
    return rearrange(x, "... (h2 h) (w2 w) c -> ... (h w) (h2 w2 c)", h2=n, w2=n)


@instead_of(oracle.patches, "flattens a patch with its channels first instead of last")
def planes(x: Shaped[Array, "... h*n w*n c"], n: int) -> Array:
    return rearrange(x, "... (h h2) (w w2) c -> ... (h w) (c h2 w2)", h2=n, w2=n)


@instead_of(oracle.patches, "lists the patches column by column instead of row by row")
def by_column(x: Shaped[Array, "... h*n w*n c"], n: int) -> Array:
    return rearrange(x, "... (h h2) (w w2) c -> ... (w h) (h2 w2 c)", h2=n, w2=n)


@instead_of(oracle.patches, "flattens each patch column by column instead of row by row")
def transposed_patches(x: Shaped[Array, "... h*n w*n c"], n: int) -> Array:
    return rearrange(x, "... (h h2) (w w2) c -> ... (h w) (w2 h2 c)", h2=n, w2=n)


@instead_of(
    oracle.patches,
    "splits the rows of the image into pieces, as reshape does, instead of splitting the image into squares",
)
def cut_rows(x: Shaped[Array, "... h*n w*n c"], n: int) -> Array:
    *leading, h, w, c = x.shape
    return x.reshape(*leading, h * w // n**2, n**2 * c)


@instead_of(oracle.outer, "returns the transpose: x belongs to the rows and y to the columns")
def outer_transposed(x: Float[Array, "... rows"], y: Float[Array, "... columns"]) -> Array:
    return np.swapaxes(oracle.outer(x, y), -1, -2)


@instead_of(
    oracle.outer,
    "right without leading dimensions, but with them y's leading dimension is lined up with the rows of x: y needs a "
    "dimension for the rows, too: y[..., None, :]",
)
def outer_of_rows(x: Float[Array, "... rows"], y: Float[Array, "... columns"]) -> Array:
    return x[..., np.newaxis] * y


@instead_of(oracle.squared_distances, "returns the transpose: x belongs to the rows and y to the columns")
def distances_transposed(x: Float[Array, "... rows d"], y: Float[Array, "... columns d"]) -> Array:
    return np.swapaxes(oracle.squared_distances(x, y), -1, -2)


@instead_of(oracle.squared_distances, "returns distances instead of squared distances")
def rooted(x: Float[Array, "... rows d"], y: Float[Array, "... columns d"]) -> Array:
    return np.sqrt(oracle.squared_distances(x, y))


@instead_of(oracle.squared_distances, "sums the absolute differences instead of their squares")
def manhattan(x: Float[Array, "... rows d"], y: Float[Array, "... columns d"]) -> Array:
    return np.sum(abs(np.expand_dims(x, -2) - np.expand_dims(y, -3)), axis=-1)


@instead_of(oracle.squared_distances, "averages the squared differences instead of summing them")
def mean_distances(x: Float[Array, "... rows d"], y: Float[Array, "... columns d"]) -> Array:
    return oracle.squared_distances(x, y) / x.shape[-1]


@instead_of(oracle.squared_distances, "sums the differences before squaring: square each of them first")
def squared_sums(x: Float[Array, "... rows d"], y: Float[Array, "... columns d"]) -> Array:
    return np.sum(np.expand_dims(x, -2) - np.expand_dims(y, -3), axis=-1) ** 2


@instead_of(oracle.squared_distances, "returns |x|² + |y|² - x · y: the factor 2 before x · y is missing")
def single_products(x: Float[Array, "... rows d"], y: Float[Array, "... columns d"]) -> Array:
    return oracle.squared_distances(x, y) + x @ np.swapaxes(y, -1, -2)


@instead_of(oracle.squared_distances, "returns |x|² + |y|² + 2 · x · y: subtract 2 · x · y")
def products_added(x: Float[Array, "... rows d"], y: Float[Array, "... columns d"]) -> Array:
    return oracle.squared_distances(x, y) + 4 * (x @ np.swapaxes(y, -1, -2))


@instead_of(oracle.squared_distances, "compares row i of x with row i of y only: broadcast them to all pairs")
def same_rows(x: Float[Array, "... rows d"], y: Float[Array, "... rows d"]) -> Array:
    return np.sum((x - y) ** 2, axis=-1)


@instead_of(
    oracle.squared_distances,
    "right without leading dimensions, but with them y's leading dimension is lined up with the rows of x: y needs a "
    "dimension for the rows, too: y[..., None, :, :]",
)
def distances_of_rows(x: Float[Array, "... rows d"], y: Float[Array, "... columns d"]) -> Array:
    return np.sum((x[..., np.newaxis, :] - y) ** 2, axis=-1)


@instead_of(oracle.traces, "sums the diagonals of all matrices: keep the leading dimensions")
def trace_of_all(x: Float[Array, "... rows rows"]) -> Array:
    return np.asarray(oracle.traces(x).sum())


@instead_of(oracle.traces, "returns the diagonals without summing them")
def diagonals(x: Float[Array, "... rows rows"]) -> Array:
    return np.diagonal(x, axis1=-2, axis2=-1)


@instead_of(oracle.traces, "averages the diagonal instead of summing it")
def diagonal_means(x: Float[Array, "... rows rows"]) -> Array:
    return np.asarray(oracle.traces(x) / max(1, x.shape[-1]))


@instead_of(oracle.traces, "sums the diagonal of the first two dimensions instead of the last two")
def first_two_dimensions(x: Float[Array, "a b ..."]) -> Array:
    return np.asarray(np.trace(x))


@instead_of(oracle.traces, "sums whole matrices instead of their diagonals")
def whole_matrices(x: Float[Array, "... rows rows"]) -> Array:
    return x.sum(axis=(-2, -1))


@instead_of(oracle.one_hot, "returns ones and zeros instead of True and False")
def ones_and_zeros(labels: Int64[Array, "..."], classes: int) -> Int[Array, "... classes"]:
    return oracle.one_hot(labels, classes).astype(np.int64)


@instead_of(oracle.one_hot, "the classes are the first dimension instead of the last")
def classes_first(labels: Int64[Array, "..."], classes: int) -> Array:
    return np.moveaxis(oracle.one_hot(labels, classes), -1, 0)


@instead_of(oracle.one_hot, "counts the classes from 1: the first is 0")
def counted_from_one(labels: Int64[Array, "..."], classes: int) -> Array:
    return np.asarray(np.expand_dims(labels, -1) == np.arange(1, classes + 1))


@instead_of(oracle.one_hot, "compares label i with class i only: append a dimension to the labels")
def not_broadcast(labels: Int64[Array, "... classes"], classes: int) -> Array:
    return np.asarray(labels == np.arange(classes))


@instead_of(oracle.window_mask, "allows one key too many: the query's own position counts as part of the window")
def wider(n: int, window: int) -> Array:
    return oracle.window_mask(n, window + 1)


@instead_of(
    oracle.window_mask, "allows one key too few: the query's own position and `window - 1` before it are `window` keys"
)
def narrower(n: int, window: int) -> Array:
    return oracle.window_mask(n, window - 1)


@instead_of(oracle.window_mask, "excludes the query's own position")
def without_itself(n: int, window: int) -> Array:
    return oracle.window_mask(n, window) & ~np.eye(n, dtype=bool)


@instead_of(
    oracle.window_mask, "is True where False is expected, and the other way round: True means that the key is allowed"
)
def inverted(n: int, window: int) -> Array:
    return ~oracle.window_mask(n, window)


@instead_of(oracle.window_mask, "returns the transpose: rows should be queries and columns keys")
def mask_transposed(n: int, window: int) -> Array:
    return oracle.window_mask(n, window).T


@instead_of(oracle.window_mask, "allows all earlier keys: the window has no lower limit")
def causal(n: int, window: int) -> Array:
    return oracle.window_mask(n, n)


@instead_of(oracle.window_mask, "also allows later keys")
def both_sides(n: int, window: int) -> Array:
    return oracle.window_mask(n, window) | oracle.window_mask(n, window).T


@instead_of(oracle.rms_norm, "adds eps to the square root instead of to the mean square")
def eps_outside(x: Float[Array, "... d"], eps: float) -> Array:
    return x / (np.sqrt(np.mean(x**2, axis=-1, keepdims=True)) + eps)


@instead_of(oracle.rms_norm, "ignores eps")
def without_eps(x: Float[Array, "... d"], eps: float) -> Array:
    return oracle.rms_norm(x, 0)


@instead_of(oracle.rms_norm, "sums the squares instead of averaging them")
def summed_squares(x: Float[Array, "... d"], eps: float) -> Array:
    return x / np.sqrt(np.sum(x**2, axis=-1, keepdims=True) + eps)


@instead_of(
    oracle.rms_norm,
    "divides by the root of the sum of the squares plus eps: average the squares, add eps, take the root",
)
def divided_by_the_norm(x: Float[Array, "... d"], eps: float) -> Array:
    return x / (np.sqrt(np.sum(x**2, axis=-1, keepdims=True)) + eps)


@instead_of(oracle.rms_norm, "divides the root of the sum by d: take the root of the mean, sum / d")
def divided_after_the_root(x: Float[Array, "... d"], eps: float) -> Array:
    d = x.shape[-1]
    return x * d / (np.sqrt(np.sum(x**2, axis=-1, keepdims=True)) + d * eps)


@instead_of(oracle.rms_norm, "divides each column by a row's root mean square: is keepdim=True missing?")
def without_keepdim(x: Float[Array, "... d"], eps: float) -> Array:
    return x / np.sqrt(np.mean(x**2, axis=-1) + eps)


@instead_of(oracle.rms_norm, "uses the mean over all rows: use the mean of each row")
def one_norm_for_all(x: Float[Array, "... d"], eps: float) -> Array:
    return x / np.sqrt(np.mean(x**2) + eps)


@instead_of(oracle.rms_norm, "subtracts the mean, as LayerNorm does; RMSNorm does not")
def layer_norm(x: Float[Array, "... d"], eps: float) -> Array:
    return (x - np.mean(x, axis=-1, keepdims=True)) / np.sqrt(np.var(x, axis=-1, keepdims=True) + eps)


@instead_of(
    oracle.rms_norm,
    "divides by the root of the variance with correction {correction:g} plus eps: the variance is about the mean",
    correction=[0, 1],
)
def by_variance(x: Float[Array, "... d"], eps: float, correction: int) -> Array:
    return x / np.sqrt(np.var(x, axis=-1, keepdims=True, ddof=correction) + eps)


@instead_of(oracle.rms_norm, "divides by the mean square instead of its square root")
def no_root(x: Float[Array, "... d"], eps: float) -> Array:
    return x / (np.mean(x**2, axis=-1, keepdims=True) + eps)


@instead_of(oracle.rms_norm, "multiplies by the square root instead of dividing by it")
def multiplied(x: Float[Array, "... d"], eps: float) -> Array:
    return x * np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)
