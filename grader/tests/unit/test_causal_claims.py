"""Tests of causal claims in the stubs and in `docs/katas.md` that no kata's zoo proves, without measuring time."""

import math
import re
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest
import torch
from jaxtyping import Float, TypeCheckError, jaxtyped
from torch import Tensor, nn

from grader.tests.unit.test_stated_figures import read_sections
from torchkata.course import course

LAYERS, ROWS, DIM = 8, 16, 32
X = torch.ones(ROWS, DIM)


def assert_text_has(kata: str, *claims: str) -> None:
    """Assert that the claims still occur in the kata's stub or in its section of the page."""
    stub = re.sub(r"\n# ?", "\n", course().stub(kata).read_text("utf-8"))
    text = " ".join(f"{stub} {read_sections()[kata]}".split())
    for claim in claims:
        assert claim in text, f"{kata} no longer says {claim!r}: change the test with the text"


def make_network() -> nn.Sequential:
    """Return linear layers without biases, each followed by a ReLU."""
    return nn.Sequential(*(nn.Sequential(nn.Linear(DIM, DIM, bias=False), nn.ReLU()) for _ in range(LAYERS)))


def test_autocast_halves_activations_and_copies_weights() -> None:
    assert_text_has(
        "mixed_precision",
        "Activations in bfloat16 take half as much memory as in float32",
        "weights, their gradients and the optimizer state stay in float32 and take as much memory as before",
        "autocast's bfloat16 copies of the weights take additional memory",
    )
    model = make_network()
    optimizer = torch.optim.Adam(model.parameters())
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes: dict[bool, set[tuple[torch.Size, int]]] = {False: set(), True: set()}
    for enabled, found in sizes.items():

        def save(tensor: Tensor, found: set[tuple[torch.Size, int]] = found) -> Tensor:
            if tensor.untyped_storage().data_ptr() not in parameters:
                found.add((tensor.shape, tensor.element_size()))
            return tensor

        saving = torch.autograd.graph.saved_tensors_hooks(save, lambda tensor: tensor)
        with saving, torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            y = model(X)
        y.float().square().mean().backward()
        optimizer.step()
        state = [each for states in optimizer.state.values() for each in states.values() if each.ndim]
        large = [*model.parameters(), *(p.grad for p in model.parameters()), *state]
        assert {each.dtype for each in large if each is not None} == {torch.float32}
    activation, weight = torch.Size([ROWS, DIM]), torch.Size([DIM, DIM])
    assert sizes == {False: {(activation, 4)}, True: {(activation, 2), (weight, 2)}}


SHORT = [  # a kata, a claim in its text, and code that is true only if the claim holds
    ("adagrad", "The weights of a rare word receive few gradients, so their `g2` stays small", """
        optimizer = Adagrad([p], lr=1.0)
        for step in range(100):
            p.grad = torch.tensor([1.0, float(step % 10 == 9)]); before = p.detach().clone(); optimizer.step()
        common, rare = before - p
        assert rare > 3 * common"""),
    ("adam", "in bfloat16, `t` could not exceed 256", """
        optimizer = SGD([p := nn.Parameter(p.bfloat16())])
        optimizer.state[p] = {name: torch.tensor(257.0) for name in ("step", "t")}
        optimizer.load_state_dict(optimizer.state_dict())
        assert optimizer.state[p] == {"step": 257, "t": 256}"""),
    ("adamw", "weights with large gradients hardly decay", """
        assert abs(compute_decay(Adam, 100)) < 0.1 * abs(compute_decay(Adam, 1))"""),
    ("adamw", "regardless of the gradients", """
        assert isclose(compute_decay(AdamW, 100), compute_decay(AdamW, 1), rel_tol=1e-6)"""),
    ("mixed_precision", "The risk is that small updates are rounded away", """
        p = nn.Parameter(p.bfloat16()); p.grad = p.detach() * 1e-3; SGD([p], lr=1.0).step()
        assert p.tolist() == [1, 1]"""),
    ("mixed_precision", "A float32 copy of the parameters avoids this", """
        p.grad = torch.full_like(p, 1e-3); SGD([p], lr=1.0).step()
        assert max(p) < 1"""),
    ("deep_network", "the mean square is halved with each block", """
        assert 0.45 < (x @ a).relu().square().mean() / (x @ a).square().mean() < 0.55"""),
    ("strides", "is not contiguous, but `x.transpose(0, 1).view(3, 2, 2, 2)` works", """
        y = torch.arange(24).reshape(2, 3, 4).transpose(0, 1)
        assert not y.is_contiguous() and y.view(3, 2, 2, 2).equal(y.contiguous().view(3, 2, 2, 2))"""),
]  # fmt: skip


def compute_decay(kind: Callable[..., torch.optim.Optimizer], gradient: float) -> float:
    """Return how much weight decay reduces a weight in a few steps."""
    ends = []
    for decay in (0.0, 0.1):
        weight = nn.Parameter(torch.ones(1, dtype=torch.float64))
        optimizer = kind([weight], lr=0.1, weight_decay=decay, eps=0.0)
        for sign in (1, -1, 1, 1):
            weight.grad = torch.full_like(weight, sign * gradient)
            optimizer.step()
        ends.append(weight.item())
    return ends[0] - ends[1]


@pytest.mark.parametrize(("kata", "words", "code"), SHORT, ids=[f"{kata}: {words}" for kata, words, _ in SHORT])
def test_factual_claim_in_kata_text_is_true(kata: str, words: str, code: str) -> None:
    assert_text_has(kata, words)
    generator = torch.Generator().manual_seed(0)
    x, a = (torch.randn(1024, 1024, generator=generator, dtype=torch.float64) for _ in range(2))
    given = {"x": x, "a": a, "p": nn.Parameter(torch.ones(2))}
    exec(dedent(code), {**globals(), **vars(torch.optim), **vars(math), **given})


def test_jaxtyping_checks_shapes_only_with_typechecker() -> None:
    assert_text_has("named_dimensions", "are checked only under `@jaxtyped(typechecker=beartype)`")

    def double(x: Float[Tensor, "rows 3"]) -> Any:
        return 2 * x

    def checker(function: Any) -> Any:  # compares x with its annotation, as beartype does
        def checked(x: Tensor, **others: Any) -> Any:
            assert isinstance(x, function.__annotations__["x"])
            return function(x, **others)

        return checked

    assert double(torch.ones(2, 4)).shape == (2, 4)
    assert jaxtyped(double, typechecker=checker)(torch.ones(2, 3)).shape == (2, 3)
    with pytest.raises(TypeCheckError):
        jaxtyped(double, typechecker=checker)(torch.ones(2, 4))
