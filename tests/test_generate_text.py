"""generate_text: text that a model writes."""

import math

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.generate_text import oracle
from tests.generate_text_inputs import prompts
from tests.probes import generate_text as probes
from tests.sampling import chi_square_range
from tests.strategies import SEEDS, costly, rng_of
from torchkata import (
    Student,
    Text,
    as_float64,
    asking,
    assert_equal,
    check,
    precondition,
    require,
    same,
)


def check_lengths(lengths: list[int], most: int, code: str) -> None:
    """Check that the model gets at most `most` tokens."""
    long = Text("the model is given more tokens than its context")
    most_shown = Text("at most {most} tokens in each call of the model", most=most)
    shown = Text("{lengths} tokens", lengths=lengths[:10])
    with asking(code):
        check(max(lengths, default=0) <= most, mistake=long, yours=shown, expected=most_shown)


@given(prompts())
def test_temperature_zero_takes_most_likely_token(student: Student, case: tuple[Tensor, Tensor, int]) -> None:
    """Temperature 0 gives the intact prompt and n likeliest tokens given the last `context` ones, without a graph."""
    tables, prompt, n = case
    reply = student.call(probes.generate, tables, prompt, n, 0.0, None)
    check_lengths(reply["lengths"], len(tables), probes.write_lengths(None))
    expected = torch.tensor(oracle.continue_greedily(as_float64(tables), prompt.tolist(), n), dtype=torch.long)
    check(isinstance(reply["tokens"], Tensor), Text("generate should return a tensor"), yours=reply["tokens"])
    count, all_of_them = reply["tokens"].numel(), len(expected)
    note = Text("the result has {count} tokens: the prompt and n new ones are {all}", count=count, all=all_of_them)
    what = Text("the prompt and the new tokens")
    shown = expected if same(reply["tokens"].long(), expected) else reply["tokens"]
    drawn = Text("torch's generator is used although the temperature is 0: take the argmax, do not draw a token")
    mistake: Text | str = ""
    if reply["global generator used"] and not same(shown, expected):
        again = [student.call(probes.generate, tables, prompt, n, 0.0, None)["tokens"] for _ in range(9)]
        mistake = drawn if any(not same(tokens, reply["tokens"]) for tokens in again) else ""
    assert_equal(shown, expected, what=what, note="" if count == all_of_them else note, mistake=mistake)
    with asking(probes.SHOW_PROMPT):
        assert_equal(reply["prompt"], prompt, what="prompt", mistake=Text("generate modifies the prompt"))
    graph = Text("the model builds a graph, which is not needed: use torch.no_grad()")
    with asking(probes.SHOW_GRAPH):
        assert_equal(reply["builds graphs"], False, what="model.builds_graphs", mistake=graph)


@costly
@given(prompts(), SEEDS, st.booleans())
def test_text_depends_only_on_seed_and_earlier_tokens(
    student: Student, case: tuple[Tensor, Tensor, int], seed: int, is_global: bool
) -> None:
    """Only the given generator (default: torch's) is used. Its seed decides the tokens. A larger n only adds tokens."""
    tables, prompt, n = case
    again, twice, longer = student.call(probes.generate_each, tables, prompt, [n, n, n + 3], seed, is_global)
    for tokens, new in ((again, n), (twice, n), (longer, n + 3)):
        form = isinstance(tokens, Tensor) and tokens.shape == (len(prompt) + new,)
        require(form, Text("the prompt should be followed by n tokens"), yours=tokens)
    assert_equal(twice, again, what=Text("tokens drawn again with the same seed"))
    what = Text("the prompt and the first {n} new tokens of {all}", n=n, all=n + 3)
    assert_equal(longer[: len(twice)], twice, what=what)
    reply = student.call(probes.generate, tables, prompt, n + 1, 1.0, None if is_global else seed)
    elsewhere = Text("torch's global generator is used although a generator is given")
    unused = Text("torch's global generator is not used although no generator is given")
    with asking(probes.write_state(None if is_global else seed)):
        state = reply["global generator used"]
        what = Text("whether torch's global generator is used")
        assert_equal(state, is_global, what=what, mistake=unused if is_global else elsewhere)


@costly
@given(st.integers(0, 3), st.integers(1, 3), st.integers(129, 140))
def test_result_can_hold_every_token(student: Student, before: int, beyond: int, vocab: int) -> None:
    """The result is the prompt and n likeliest tokens, in an integer dtype that can hold every token."""
    largest = torch.iinfo(torch.int8).max
    prompt, n = torch.tensor([largest - before], dtype=torch.int8), before + beyond
    yours = student.call(probes.count_up, vocab, prompt, n)
    is_integer = isinstance(yours, Tensor) and not (yours.is_floating_point() or yours.is_complex())
    check(is_integer, Text("return a tensor with an integer dtype"), yours=yours)
    tables = np.roll(np.eye(vocab), 1, axis=1)[None]
    expected = torch.tensor(oracle.continue_greedily(tables, prompt.tolist(), n), dtype=torch.long)
    narrow = Text("the tokens are stored in the prompt's dtype, int8, in which 127 + 1 is -128")
    mistake = narrow if same(yours.long(), expected.to(torch.int8).long()) else ""
    shown = expected if same(yours.long(), expected) else yours  # any integer dtype will do
    assert_equal(shown, expected, what=Text("the prompt and the new tokens"), mistake=mistake)


def test_tokens_are_drawn_at_the_temperature(student: Student, seed: int) -> None:
    """Tokens are drawn from softmax(logits / temperature), even if the temperature is as low as 0.01."""
    rng = rng_of(seed)
    n, vocab = 1500, 4
    logits = rng.permutation([0.0, 0.7, 1.4, 2.1])
    tables = torch.from_numpy(np.tile(logits, (1, vocab, 1))).float()
    low, high = chi_square_range(vocab - 1)
    for temperature in (1.0, 0.5, 2.0):
        reply = student.call(probes.generate, tables, torch.tensor([0]), n, temperature, seed)
        tokens = reply["tokens"]
        with precondition():
            check_lengths(reply["lengths"], 1, probes.write_lengths(seed))
        form = isinstance(tokens, Tensor) and tokens.shape == (n + 1,)
        require(form, Text("the prompt should be followed by n tokens"), yours=tokens)
        expected = n * oracle.sharpen(logits, temperature)
        counts = np.bincount(tokens[1:].numpy(), minlength=vocab)
        statistic = float(np.sum((counts - expected) ** 2 / expected)) if len(counts) == vocab else math.inf
        shown = Text(
            "{counts} of each token at temperature {temperature}",
            counts=np.round(expected).astype(int).tolist(),
            temperature=temperature,
        )
        check(
            low <= statistic <= high,
            Text("the tokens follow a different distribution"),
            yours=counts.tolist(),
            expected=shown,
        )
    assert_cold(student, seed)


def assert_cold(student: Student, seed: int) -> None:
    """Check that at temperature 0.01, the token with the largest logit is drawn. Others have less than 1e-10."""
    logits = 0.25 * rng_of(seed).permutation(8)  # a power of their softmax underflows, and one of their exp overflows
    if oracle.sharpen(logits, 0.01).max() < 1 - 1e-10:
        return  # a known mistake draws other tokens
    tables, largest, n = torch.from_numpy(np.tile(logits, (1, 8, 1))).float(), int(logits.argmax()), 100
    reply = student.call(probes.generate_or_refuse, tables, torch.tensor([0]), n, 0.01, seed)
    refused = Text(
        "at temperature 0.01, the probabilities are all 0, or one is inf or NaN: "
        "use torch.softmax(logits / temperature, -1)"
    )
    check(not reply["error"], mistake=refused, yours=reply["error"])
    what = Text("tokens at temperature 0.01, at which almost only the largest logit is drawn")
    assert_equal(reply["tokens"].long(), torch.tensor([0, *[largest] * n]), what=what)
