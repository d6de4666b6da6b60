"""Common mistakes in transformer_accounting."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from reference.transformer_accounting import oracle
from reference.transformer_accounting.oracle import Config, Sizes
from torchkata import Mistake, instead_of

List = Callable[[Config], Mapping[str, Sizes]]
MATRICES, WEIGHTS, PRODUCTS, KEPT = oracle.list_matrices, oracle.list_weights, oracle.list_products, oracle.list_kept
ACTIVATIONS = oracle.activations


def swap(right: Callable[..., Any], message: str, mistaken: Callable[..., Any]) -> Mistake:
    """Return a mistake that replaces a function of the oracle."""
    return instead_of(right, message)(mistaken)


def omit(right: List, message: str, *names: str) -> Mistake:
    """Return a mistake that omits entries of a list of the oracle."""
    return swap(right, message, lambda c: {name: n for name, n in right(c).items() if name not in names})


def add(right: List, message: str, more: List) -> Mistake:
    """Return a mistake that adds entries to a list of the oracle, or replaces them."""
    return swap(right, message, lambda c: {**right(c), **more(c)})


def count_multiplied(c: Config) -> int:
    """Return the number of parameters that each token is multiplied by."""
    return oracle.add_up(MATRICES(c)) + c.width * c.vocab


def takes_half(c: Config) -> bool:
    """Return whether scores and their products with values take exactly half of all FLOPs."""
    products = PRODUCTS(c)
    return 2 * oracle.add_up({name: products[name] for name in oracle.ATTENTION}) == oracle.add_up(products)


def round_crossing(c: Config) -> int:
    """Return the context at which attention takes half of all FLOPs, rounded to nearest."""
    products = PRODUCTS(replace(c, context=1))
    attention = oracle.add_up({name: products[name] for name in oracle.ATTENTION})
    return round((oracle.add_up(products) - attention) / attention)


def spend(message: str, each: int, activation: int = 4) -> Mistake:
    """Return a mistake that counts other bytes per parameter and activation."""
    return swap(oracle.training_bytes, message, lambda parameters, kept: each * parameters + activation * kept)


no_merge = omit(
    MATRICES, "counts three (width, width) matrices per layer instead of four: w_q, w_k, w_v and w_o", "merge"
)
one_mlp_matrix = omit(MATRICES, "counts one of the two matrices of the MLP", "down")
four_times = add(
    MATRICES,
    "the result does not depend on hidden: it is that of hidden = 4 · width",
    lambda c: MATRICES(replace(c, hidden=4 * c.width)),
)
heads_of_full_width = add(
    MATRICES,
    "counts w_q, w_k and w_v once per head: the heads share their columns",
    lambda c: dict.fromkeys(("queries", "keys", "values"), (c.layers * c.heads, c.width, c.width)),
)
narrow_heads = add(
    MATRICES,
    "counts w_q, w_k and w_v with width / heads columns: all heads together have width columns",
    lambda c: dict.fromkeys(("queries", "keys", "values"), (c.layers, c.width, c.width // c.heads)),
)
no_positions = omit(WEIGHTS, "omits the embedding of positions", "positions")
never_an_output = omit(
    WEIGHTS, "counts only one (vocab, width) matrix if not tied: the embedding and the output are then two", "output"
)
no_gains = omit(WEIGHTS, "omits the gains of the norms", "attention's norm", "MLP's norm", "last norm")
no_last_gain = omit(WEIGHTS, "omits the gain of the last norm", "last norm")
one_gain_per_layer = omit(WEIGHTS, "counts one norm per layer instead of two", "MLP's norm")
always_an_output = add(WEIGHTS, "counts a tied output matrix twice", lambda c: {"output": (1, c.width, c.vocab)})
with_biases = add(
    WEIGHTS, "counts biases of the layers' matrices", lambda c: {"biases": (c.layers, 5 * c.width + c.hidden)}
)
two_per_norm = add(
    WEIGHTS,
    "counts 2 · width parameters per norm instead of width: each norm has only a gain",
    lambda c: {"biases": (2 * c.layers + 1, c.width)},
)

lookup = add(
    PRODUCTS,
    "counts width · vocab multiplications twice per token: computing the logits takes them once, "
    "looking up an embedding takes none",
    lambda c: {"tokens": (c.context, c.vocab, c.width)},
)
no_logits = omit(PRODUCTS, "omits the multiplication that computes the logits", "output")
no_logits_if_tied = add(
    PRODUCTS,
    "omits the logits of a tied model: sharing the matrix saves parameters, but no FLOPs",
    lambda c: {"output": (int(not c.tied), c.context, c.width, c.vocab)},
)
no_attention = omit(PRODUCTS, "omits attention's multiplications without a parameter", *oracle.ATTENTION)
half_attention = omit(
    PRODUCTS, "counts half of attention's FLOPs: it has two products, and a causal mask does not halve them", "mixture"
)
causal_attention = add(
    PRODUCTS,
    "counts (context + 1) / 2 keys per query, as a causal mask leaves: it saves no multiplications",
    lambda c: dict.fromkeys(oracle.ATTENTION, (c.layers, c.width, c.context * (c.context + 1) // 2)),
)
attention_of_each_head = add(
    PRODUCTS,
    "multiplies attention's FLOPs by heads: a query of one head has only width / heads numbers",
    lambda c: {name: (c.heads, *PRODUCTS(c)[name]) for name in oracle.ATTENTION},
)
attention_of_all_queries = add(
    PRODUCTS,
    "multiplies attention's FLOPs by context: a token has one query, and so only context scores per head",
    lambda c: {name: (c.context, *PRODUCTS(c)[name]) for name in oracle.ATTENTION},
)
TRAINING, TOKEN, HALF = oracle.training_flops, oracle.flops_per_token, oracle.half_context
without_additions = swap(
    TRAINING,
    "returns half of the FLOPs, as if only multiplications were counted, not additions",
    lambda products: TRAINING(products) // 2,
)
forward_only = swap(
    TRAINING,
    "returns a third of the FLOPs, as many as the forward pass takes",
    lambda products: TRAINING(products) // 3,
)
backward_like_forward = swap(
    TRAINING,
    "returns two thirds of the FLOPs, as if the backward pass had one product per multiplication instead of two",
    lambda products: 2 * TRAINING(products) // 3,
)
attention_forward_only = swap(
    TRAINING,
    "counts attention's multiplications without a parameter only in the forward pass: their inputs also get gradients",
    lambda products: (
        TRAINING(products) - 4 * oracle.add_up({name: products.get(name, (0,)) for name in oracle.ATTENTION})
    ),
)
whole_sequence = swap(TOKEN, "counts a whole sequence instead of one token", lambda c: TOKEN(c) * c.context)
rule_of_six = swap(
    TOKEN,
    "counts 6 FLOPs per parameter: attention has more, and embeddings and gains have none",
    lambda c: 6 * oracle.num_parameters(c),
)
all_parameters_and_attention = swap(
    TOKEN,
    "counts 6 FLOPs for every parameter: embeddings and gains take none, unless a tied embedding computes the logits",
    lambda c: TOKEN(c) + 6 * (oracle.num_parameters(c) - count_multiplied(c)),
)
gains_multiplied = swap(
    TOKEN,
    "counts 6 FLOPs for each gain of the norms, which is in no matrix multiplication",
    lambda c: TOKEN(c) + 6 * (2 * c.layers + 1) * c.width,
)
without_embeddings = swap(
    TOKEN,
    "counts 6 FLOPs for every parameter outside of the embeddings: gains take none, and a tied output takes some",
    lambda c: TOKEN(c) + 6 * (oracle.num_parameters(c) - count_multiplied(c) - (c.vocab + c.context) * c.width),
)
in_floats = swap(TOKEN, "returns a float, which is exact only up to 2**53", lambda c: 6.0 * (TOKEN(c) // 6))
one_token_each = swap(oracle.step_flops, "counts one token per sequence", lambda flops, c, batch: flops * batch)
one_sequence = swap(oracle.step_flops, "counts one sequence per step", lambda flops, c, batch: flops * c.context)
one_too_small = swap(
    HALF, "returns the largest context at which attention does not take more than half", lambda c: HALF(c) - 1
)
nearest = swap(
    HALF,
    "rounds to nearest: if it rounds down, attention does not yet take more than half",
    round_crossing,
)
exactly_half = swap(
    HALF,
    "returns a context at which attention takes exactly half, not more than half",
    lambda c: HALF(c) - takes_half(replace(c, context=HALF(c) - 1)),
)
at_least_own = swap(
    HALF, "never returns less than config.context, which should have no effect", lambda c: max(c.context, HALF(c))
)

twelve_bytes = spend("counts 12 bytes per parameter instead of 4 + 4 + 8", 12)
no_state = spend("counts 8 bytes per parameter instead of 4 + 4 + 8, as if AdamW's two averages took none", 8)
two_byte_activations = spend("counts 2 bytes per activation instead of 4", 16, 2)
no_scores_kept = omit(KEPT, "omits the softmax of the scores, which is multiplied by the values", "softmax")
one_head_kept = add(KEPT, "counts the scores of one head only", lambda c: {"softmax": (c.layers, c.context, c.context)})
scores_times_context = add(
    KEPT,
    "multiplies the number of scores by context once more: a token has heads · context of them",
    lambda c: {"softmax": (c.layers, c.context, c.heads, c.context, c.context)},
)
scores_kept_as_well = add(
    KEPT,
    "counts heads · context scores per token twice: only those after the softmax are an input",
    lambda c: {"scores": (c.layers, c.context, c.heads, c.context)},
)
logits_kept = add(
    KEPT,
    "counts context · vocab numbers more per sequence: the logits, for example, are no input of a multiplication",
    lambda c: {"logits": (c.context, c.vocab)},
)
counted_three_times = add(
    KEPT,
    "counts 8 tensors of shape (context, width) per layer instead of 6: count only inputs of "
    "multiplications, and a shared input once",
    lambda c: {"attention's input": (3, c.layers, c.context, c.width)},
)
no_hidden_kept = omit(KEPT, "omits the result of the ReLU", "hidden")
relu_input_kept = add(
    KEPT,
    "counts 2 · hidden numbers per token and layer instead of hidden: only the result of the ReLU is an input",
    lambda c: {"before the ReLU": (c.layers, c.context, c.hidden)},
)
other_number_kept = instead_of(
    oracle.list_kept,
    "counts {count:g} · width numbers per token and layer as inputs instead of 6 · width",
    count=[2, 3, 4, 5, 7, 9],
)(lambda c, count: {**KEPT(c), "attention's input": (count - 5, c.layers, c.context, c.width)})
no_last_kept = omit(KEPT, "omits the input of the output matrix", "last")
kept_once = swap(
    ACTIVATIONS,
    "counts one sequence's activations, whatever the batch",
    lambda c, batch: ACTIVATIONS(c, 1),
)
two_gradients_if_tied = swap(
    ACTIVATIONS,
    "if tied, counts 4 bytes more for each element of the shared matrix, as if it had two gradients: it has one, to "
    "which both uses add",
    lambda c, batch: ACTIVATIONS(c, batch) + c.tied * c.vocab * c.width,
)
exact_fit_refused = swap(
    oracle.max_batch,
    "refuses a batch that takes exactly device_bytes, as if `<` were required instead of `<=`",
    lambda fixed, sequence, device_bytes: max(0, -int((fixed - device_bytes) // sequence) - 1),
)
rounded_up = swap(
    oracle.max_batch,
    "rounds up: the last sequence does not fit",
    lambda fixed, sequence, device_bytes: max(0, -int((fixed - device_bytes) // sequence)),
)
parameters_for_each = swap(
    oracle.max_batch,
    "divides by the bytes of a batch of one, which include those of parameters: only activations grow with the batch",
    lambda fixed, sequence, device_bytes: int(device_bytes // (fixed + sequence)),
)
nothing_fixed = swap(
    oracle.max_batch,
    "ignores the bytes that parameters, gradients and AdamW's state take",
    lambda fixed, sequence, device_bytes: int(device_bytes // sequence),
)
at_least_one = swap(
    oracle.max_batch,
    "returns at least 1, even if a single sequence does not fit",
    lambda fixed, sequence, device_bytes: max(1, int((device_bytes - fixed) // sequence)),
)
first_that_does_not_fit = swap(
    oracle.max_batch,
    "returns the smallest batch that does not fit, one more than the largest that fits",
    lambda fixed, sequence, device_bytes: max(0, int((device_bytes - fixed) // sequence) + 1),
)
minus_one = swap(
    oracle.max_batch,
    "returns -1 if parameters, gradients and averages alone take more than device_bytes",
    lambda fixed, sequence, device_bytes: max(-1, int((device_bytes - fixed) // sequence)),
)
negative = swap(
    oracle.max_batch,
    "returns a negative batch if parameters, gradients and averages alone take more than device_bytes",
    lambda fixed, sequence, device_bytes: int((device_bytes - fixed) // sequence),
)
