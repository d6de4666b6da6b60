"""language_model: the model and its loss."""

import math
from typing import TypeAlias

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.language_model import oracle
from tests.language_model_inputs import Case, cases, models
from tests.losses import assert_loss
from tests.own_answers import holds
from tests.probes import language_model as probes
from tests.strategies import SEEDS, costly, rng_of, sizes
from torchkata import (
    Student,
    Text,
    as_float64,
    asking,
    assert_close,
    assert_equal,
    check,
    precondition,
    require,
)

INTEGERS = st.sampled_from([torch.int64, torch.int32, torch.uint16, torch.int16])  # dtypes of tokens
Model: TypeAlias = tuple[list[int], int, Tensor]  # sizes, the seed of the weights, tokens
COARSE = 2**24  # float64 roundings for logits, whose error grows with the number of layers; relative to them, 1e-8


@given(st.tuples(sizes(4, 6, 2), st.sampled_from([4, 3, 8]), st.integers(0, 3), sizes(3)))
def test_model_has_expected_parts(student: Student, chosen: tuple[int, int, int, int]) -> None:
    """The model has exactly the parts in the stub, of the classes there, each with own parameters, and `context`."""
    reply = student.call(probes.shapes, list(chosen))
    expected = oracle.list_shapes(*chosen)
    plain = Text("{names} is a plain list, whose modules have no parameters", names=" / ".join(reply["plain"]))
    use = Text("an nn.ModuleList")
    check(not reply["plain"], mistake=plain, yours=Text("a list or a tuple"), expected=use)
    assert_equal(reply["state"], dict(sorted(expected.items())), what=Text("shapes in state_dict()"))
    assert_equal(reply["parameters"], sorted(expected), what=Text("parameters"))
    shared = Text("some of the parts share their parameters")
    what = Text("number of different parameters")
    with asking(probes.SHOW_PARAMETERS):
        assert_equal(reply["distinct"], len(expected), what=what, mistake=shared)
    assert_equal(reply["context"], chosen[-1], what="model.context")
    note = Text("not your own class: {parts}", parts=", ".join(reply["foreign"]))
    check(not reply["foreign"], note, expected=Text("CausalAttention, MLP and your Linear"))


@given(st.tuples(sizes(4, 6, 2), st.sampled_from([4, 3]), st.just(1), sizes(3, 4, 2)))
def test_model_runs_on_any_device(student: Student, chosen: tuple[int, int, int, int]) -> None:
    """The model runs on another device, here on the meta device: new tensors are created there."""
    error = student.call(probes.mixed_devices, list(chosen))
    mistake = Text("a tensor that forward uses stays on the CPU: create it in forward, with `device=x.device`")
    check(error == "", mistake=mistake, yours=error)


@given(models())
def test_logits_follow_the_formula(student: Student, case: Model) -> None:
    """The logits are those of the model that the stub describes."""
    chosen, seed, tokens = case
    shapes = oracle.list_shapes(*chosen)
    weights = {key: as_float64(weight) for key, weight in probes.draw_weights(shapes, seed).items()}
    exact = oracle.forward(weights, chosen[2], tokens.numpy())
    yours = student.call(probes.logits, chosen, shapes, seed, tokens)
    assert_close(yours, exact, dtype=torch.float64, scale=1 + abs(exact), roundings=COARSE, what="logits")


@costly
@given(models().filter(lambda case: case[2].shape[1] > 1), SEEDS)
def test_logits_ignore_later_tokens(student: Student, case: Model, seed: int) -> None:
    """Logits do not depend on later tokens or on other rows. Tokens may have any integer dtype."""
    chosen, of_weights, tokens = case
    rng = rng_of(seed)
    tokens = tokens.to([torch.int64, torch.int32, torch.uint16][int(rng.integers(3))])
    keep, shapes = int(rng.integers(1, tokens.shape[1])), oracle.list_shapes(*chosen)
    yours = student.call(probes.logits, chosen, shapes, of_weights, tokens)
    short = student.call(probes.logits, chosen, shapes, of_weights, tokens[:1, :keep].contiguous())
    require(isinstance(yours, Tensor) and yours.ndim == 3, Text("the logits should have three dimensions"), yours=yours)
    exact = as_float64(short)
    seen = yours[:1, :keep]
    what = Text("logits of the first {keep} positions of the first row, given with other tokens", keep=keep)
    assert_close(seen, exact, dtype=torch.float64, scale=1 + abs(exact), roundings=COARSE, what=what)


@costly
@given(st.sampled_from([256, 5, 2]), st.sampled_from([4, 8]), st.integers(0, 2), SEEDS)
def test_loss_of_zeroed_output_is_log_vocab(student: Student, vocab: int, dim: int, num_layers: int, seed: int) -> None:
    """If the output weights are zero, all tokens are equally likely, so the loss is log(vocab) for any batch."""
    rng = rng_of(seed)
    batches = [torch.from_numpy(rng.integers(0, vocab, [rows, length])) for rows, length in ((1, 2), (3, 5))]
    losses = student.call(probes.zeroed, [vocab, dim, num_layers, 4], batches)
    for value in losses:
        assert_loss(value, math.log(vocab), scale=math.log(vocab), roundings=16)


@given(cases(), INTEGERS)
def test_loss_is_mean_cross_entropy_of_next_tokens(student: Student, case: Case, dtype: torch.dtype) -> None:
    """loss only reads batch, calls the model once without last tokens, and returns mean cross-entropy with a graph."""
    given_batch = case.batch.to(dtype)
    tables, batch = as_float64(case.tables), case.batch.numpy()
    reply = student.call(probes.loss, case.tables, given_batch, "float32")
    scale = 1 + 4 * float(abs(tables).sum(0).max())
    rows, length = batch.shape
    expected = [["forward", rows, length - 1]]
    note = Text("the model should be called once, with all tokens but the last of each row")
    with asking(probes.SHOW_CALLS):
        assert_equal(reply["calls"], expected, what=Text("calls of the model"), note=note)
    assert_loss(reply["loss"], oracle.loss(tables, batch), scale=scale, roundings=32)
    check(reply["has graph"], mistake=Text("the loss has no graph, so backward() cannot compute gradients"))
    assert_equal(reply["batch"], given_batch, what="batch", mistake=Text("loss changes the batch"))


@given(cases(size=300.0), st.sampled_from(["float32", "bfloat16"]))
def test_loss_is_exact_for_large_and_bfloat16_logits(student: Student, case: Case, dtype: str) -> None:
    """The loss has float32 precision, even for large logits and for logits in bfloat16."""
    tables = case.tables.round()
    seen, following = oracle.split_batch(case.batch.numpy())
    logits = torch.from_numpy(oracle.look_up(as_float64(tables), seen)).to(getattr(torch, dtype))
    exact = oracle.average(oracle.compute_nats(as_float64(logits), following))
    small, batch = case.tables / 300, case.batch.numpy()
    with precondition(Text("the loss is already wrong for small logits")):
        loss, least = student.call(probes.loss, small, case.batch, "float32")["loss"], as_float64(small)
        assert_loss(loss, oracle.loss(least, batch), scale=1 + 4 * float(abs(least).sum(0).max()), roundings=32)
    fine = student.call(probes.loss, tables, case.batch, "float32")["loss"]
    reply = student.call(probes.loss, tables, case.batch, dtype)
    yours, scale = reply["loss"], 1 + 4 * float(abs(as_float64(logits)).max())
    shown = Text("about {loss}", loss=f"{exact:.6g}")
    infinite = Text("exp overflows, or a probability becomes 0: use log_softmax, logsumexp or cross_entropy")
    check(np.isfinite(float(yours)), mistake=infinite, yours=yours, expected=shown)
    is_float32 = isinstance(yours, float) or yours.dtype == torch.float32
    coarse = Text("the loss of bfloat16 logits has only their precision: convert them to float32 first")
    check(is_float32, mistake=coarse, yours=yours, expected=Text("a float32 scalar"))
    is_exact = holds(assert_loss, fine, oracle.loss(as_float64(tables), case.batch.numpy()), scale=scale, roundings=32)
    assert_loss(yours, exact, scale=scale, roundings=32, mistake=coarse if is_exact and dtype == "bfloat16" else "")
