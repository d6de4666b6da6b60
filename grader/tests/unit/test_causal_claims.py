"""Tests of the causal claims in the stubs and `docs/katas.md`, on a CPU and without measuring time."""

import math
import random
import re
import weakref
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import torch
from jaxtyping import Float, TypeCheckError, jaxtyped
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from grader.tests.unit.test_compute_katas import count_flops
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


def make_network(layers: int = LAYERS) -> nn.Sequential:
    """Return linear layers without biases, each followed by a ReLU."""
    return nn.Sequential(*(nn.Sequential(nn.Linear(DIM, DIM, bias=False), nn.ReLU()) for _ in range(layers)))


class Saved:
    """Records the tensors that autograd saves while this is active, without keeping them alive."""

    def __init__(self, model: nn.Module) -> None:
        self.parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
        self.boxes: list[weakref.ref[Any]] = []
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, lambda box: box[0])

    def pack(self, tensor: Tensor) -> Any:
        """Put a tensor into a box that lives as long as the graph references it."""
        box = np.empty(1, object)
        box[0] = tensor
        self.boxes.append(weakref.ref(box))
        return box

    def tensors(self) -> list[Tensor]:
        """Return the saved tensors that are still alive."""
        return [box[0] for box in (ref() for ref in self.boxes) if box is not None]

    def activations(self) -> set[int]:
        """Return the live storages that do not belong to a parameter."""
        return {tensor.untyped_storage().data_ptr() for tensor in self.tensors()} - self.parameters


def find_nodes(tensor: Tensor) -> set[Any]:
    """Return the nodes of a tensor's autograd graph."""
    nodes, further = set[Any](), [tensor.grad_fn]
    while further:
        node = further.pop()
        if node is not None and node not in nodes:
            nodes.add(node)
            further.extend(before for before, _ in node.next_functions)
    return nodes


def test_kept_loss_retains_graph_nodes_but_not_activations() -> None:
    assert_text_has(
        "train",
        "Detach the losses. Otherwise, each loss keeps the nodes of its autograd graph in memory",
        "`backward()` frees only the saved activations",
    )
    model, losses = make_network(), []
    saved = Saved(model)
    for step in range(5):
        with saved.hooks:
            losses.append(model(X).square().mean())
        assert saved.activations()
        losses[-1].backward()
        assert saved.tensors() == []
        assert len(set().union(*map(find_nodes, losses))) > 2 * LAYERS * (step + 1)
    assert find_nodes(losses[-1].detach()) == set()


@pytest.mark.parametrize("at_the_end", [False, True])
def test_backward_for_each_micro_batch_frees_its_activations(at_the_end: bool) -> None:
    assert_text_has(
        "gradient_accumulation",
        "so that the activations can be freed",
        "Another is calling backward only once at the end, which keeps all activations in memory",
    )
    model, peak, losses = make_network(), 0, []
    saved = Saved(model)
    for micro_batch in torch.chunk(torch.ones(8 * ROWS, DIM), 8):
        with saved.hooks:
            losses.append(model(micro_batch).square().sum())
        peak = max(peak, len(saved.activations()))
        if not at_the_end:
            losses[-1].backward()
    of_one = LAYERS + 1
    assert of_one <= peak <= of_one + 1 if not at_the_end else peak > 6 * of_one


def test_checkpointing_saves_fewer_tensors_and_recomputes_forward() -> None:
    assert_text_has(
        "activation_checkpointing",
        "The cost is an additional forward pass: 8 FLOPs per token and parameter instead of 6",
        "about 8 + 8 = 16 blocks are in memory instead of 64",
        "Under `torch.no_grad()`, run each block once and do not save any activations",
    )
    segments, x = nn.Sequential(*(make_network(2) for _ in range(4))), X.clone().requires_grad_()

    def with_checkpoints(y: Any) -> Any:
        for segment in segments:
            y = checkpoint(segment, y, use_reentrant=False)
        return y

    kept = []
    for run in (segments, with_checkpoints):
        saved = Saved(segments)
        with saved.hooks:
            y = run(x)
        kept.append(len(saved.activations()))
        del y
    assert kept[1] <= 4 + 1 < 8 <= kept[0]
    forward = count_flops(lambda: segments(x))
    assert count_flops(lambda: segments(x).sum().backward()) == 3 * forward
    assert count_flops(lambda: with_checkpoints(x).sum().backward()) == 4 * forward
    nothing = Saved(segments)
    with nothing.hooks, torch.no_grad():
        segments(x)
    assert nothing.boxes == []


def test_autocast_halves_activations_and_copies_weights() -> None:
    assert_text_has(
        "mixed_precision",
        "Activations in bfloat16 take half as much memory as in float32",
        "weights, their gradients and the optimizer state stay in float32 and take as much memory as before",
        "autocast's bfloat16 copies of the weights take additional memory",
    )
    model = make_network()
    optimizer = torch.optim.Adam(model.parameters())
    sizes: dict[bool, set[tuple[torch.Size, int]]] = {}
    for enabled in (False, True):
        saved = Saved(model)
        with saved.hooks, torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            y = model(X)
        kept = [each for each in saved.tensors() if each.untyped_storage().data_ptr() not in saved.parameters]
        sizes[enabled] = {(each.shape, each.element_size()) for each in kept}
        y.float().square().mean().backward()
        optimizer.step()
        state = [each for states in optimizer.state.values() for each in states.values() if each.ndim]
        large = [*model.parameters(), *(p.grad for p in model.parameters()), *state]
        assert {each.dtype for each in large if each is not None} == {torch.float32}
    activation, weight = torch.Size([ROWS, DIM]), torch.Size([DIM, DIM])
    assert sizes == {False: {(activation, 4)}, True: {(activation, 2), (weight, 2)}}


def test_views_keep_the_entire_source_storage_alive() -> None:
    assert_text_has("same_storage", "a small slice can keep a large block of memory alive")
    assert_text_has("memory_accounting", "A view keeps the entire storage of its base tensor alive")
    assert_text_has(
        "strides",
        "Why is transposing free, no matter how large the tensor is? Because no element is moved",
        "`expand` is free",
    )
    large = torch.zeros(1000, 1000)
    whole, views = large.untyped_storage(), (large[0], large.t(), large[:1].expand(10**6, 1000))
    del large
    for view in views:
        storage = view.untyped_storage()
        assert (storage.data_ptr(), storage.nbytes()) == (whole.data_ptr(), 4 * 10**6)
    assert views[0].clone().untyped_storage().nbytes() == 4 * 1000


def test_weights_only_load_executes_no_code(tmp_path: Path) -> None:
    assert_text_has(
        "checkpoint", "Loading must not execute code from the file, so use `torch.load(..., weights_only=True)`"
    )
    ran = tmp_path / "ran"

    class Code:
        """An object that writes a file when it is unpickled."""

        def __reduce__(self) -> Any:
            return (Path.touch, (ran,))

    torch.save(Code(), tmp_path / "run.pt")
    with pytest.raises(Exception, match="weights_only"):
        torch.load(tmp_path / "run.pt", weights_only=True)
    assert not ran.exists()
    torch.load(tmp_path / "run.pt", weights_only=False)
    assert ran.exists()


SHORT = [  # a kata, a claim in its text, and code that is true only if the claim holds
    ("train", "with `None` (the default of `zero_grad()`, which frees their memory)", """
        p.grad = torch.ones(2); kept = weakref.ref(p.grad); SGD([p]).zero_grad()
        assert p.grad is kept() is None"""),
    ("train", "or with zeros", """
        p.grad = kept = torch.ones(2); SGD([p]).zero_grad(set_to_none=False)
        assert p.grad is kept and kept.tolist() == [0, 0]"""),
    ("sgd", "A learning rate schedule, which changes the learning rate from step to step, needs only one group", """
        optimizer = SGD([p], lr=1.0); p.grad = torch.ones(2)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (step + 1) / 4)
        for _ in range(4): optimizer.step(); schedule.step()
        assert p.tolist() == [1 - 2.5] * 2"""),
    ("momentum", "the next backward pass overwrites it", """
        p.sum().backward(); kept = p.grad; p.sum().backward()
        assert kept.tolist() == [2, 2]"""),
    ("adagrad", "storing the sum of squares outside the optimizer's state", """
        optimizer = Adagrad([p]); optimizer.elsewhere = {p: torch.ones(2)}; saved = optimizer.state_dict()
        assert saved.keys() == {"state", "param_groups"} and "sum" in saved["state"][0]"""),
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
    ("cruncher", "A plain Python list would hide the layers from `parameters()` and `state_dict()`", """
        hidden = nn.Module(); hidden.layers = [nn.Linear(2, 2)]
        assert ([*hidden.parameters()], hidden.state_dict()) == ([], {})"""),
    ("deep_network", "Several linear layers in a row are equivalent to a single linear layer", """
        assert (x @ a @ b).allclose(x @ (a @ b)) and not ((x @ a).relu() @ b).allclose(x @ (a @ b))"""),
    ("deep_network", "the mean square is halved with each block", """
        assert 0.45 < (x @ a).relu().square().mean() / (x @ a).square().mean() < 0.55"""),
    ("linear", "With plain `randn`, the output would be `sqrt(input_dim)` times as large", """
        assert 0.9 < (x @ a).std() / 1024**0.5 < 1.1"""),
    ("flop_accounting", "the first layer needs only two, because no gradient is computed for its input",
     "assert count_backward_matmuls(False) == 1"),
    ("linear_backward", "the result of one matrix multiplication with as many FLOPs as the forward pass",
     "assert count_backward_matmuls(True) == 2"),
    ("strides", "is not contiguous, but `x.transpose(0, 1).view(3, 2, 2, 2)` works", """
        y = torch.arange(24).reshape(2, 3, 4).transpose(0, 1)
        assert not y.is_contiguous() and y.view(3, 2, 2, 2).equal(y.contiguous().view(3, 2, 2, 2))"""),
    ("activation_checkpointing", "a reentrant checkpoint computes no gradients for the weights", """
        assert checkpoint(make_network(1), X, use_reentrant=False).requires_grad
        assert not checkpoint(make_network(1), X, use_reentrant=True).requires_grad"""),
]  # fmt: skip


def count_backward_matmuls(asks: bool) -> float:
    """Count the matmuls in a linear layer's backward pass, depending on whether its input requires grad."""
    layer, x = nn.Linear(DIM, DIM, bias=False), X.clone().requires_grad_(asks)
    return count_flops(lambda: layer(x).sum().backward()) / count_flops(lambda: layer(x)) - 1


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


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
@pytest.mark.parametrize(("kata", "words", "code"), SHORT, ids=[f"{kata}: {words}" for kata, words, _ in SHORT])
def test_factual_claim_in_kata_text_is_true(kata: str, words: str, code: str) -> None:
    assert_text_has(kata, words)
    generator = torch.Generator().manual_seed(0)
    x, a, b = (torch.randn(1024, 1024, generator=generator, dtype=torch.float64) for _ in range(3))
    given = {"x": x, "a": a, "b": b, "p": nn.Parameter(torch.ones(2))}
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


def test_each_library_has_its_own_random_generator() -> None:
    assert_text_has("reproducibility", "a run is reproducible only if all three are seeded")
    draws: list[Callable[[], float]] = [lambda: torch.rand(1).item(), np.random.rand, random.random]
    seeds: list[Callable[[int], object]] = [torch.manual_seed, np.random.seed, random.seed]
    for chosen, seed in enumerate(seeds):
        drawn = [(seed(7), [draw() for draw in draws])[1] for _ in range(2)]
        assert [a == b for a, b in zip(*drawn, strict=True)] == [place == chosen for place in range(3)]
