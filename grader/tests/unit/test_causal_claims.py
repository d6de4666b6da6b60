"""What the stubs and `docs/katas.md` claim about causes and effects, run on a CPU and counted without a clock."""

import random
import re
import weakref
from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from jaxtyping import Float, TypeCheckError, jaxtyped
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from grader.tests.unit.test_stated_figures import sections
from torchkata.course import course

LAYERS, ROWS, DIM = 8, 16, 32


def assert_said(kata: str, *claims: str) -> None:
    """Demand that the kata's stub or its section of the page still says these words."""
    stub = re.sub(r"\n# ?", "\n", course().stub(kata).read_text("utf-8"))
    text = " ".join(f"{stub} {sections()[kata]}".split())
    for claim in claims:
        assert claim in text, f"{kata} no longer says {claim!r}: change the test with the text"


def network(layers: int = LAYERS) -> nn.Sequential:
    """Linear layers without biases, each followed by a ReLU."""
    return nn.Sequential(*(nn.Sequential(nn.Linear(DIM, DIM, bias=False), nn.ReLU()) for _ in range(layers)))


class Saved:
    """The tensors that autograd saves while this is active, as long as they are alive."""

    def __init__(self, model: nn.Module) -> None:
        self.parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
        self.boxes: list[weakref.ref[Any]] = []
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, lambda box: box[0])

    def pack(self, tensor: Tensor) -> Any:
        """Put a tensor into a box that lives as long as the graph keeps it."""
        box = np.empty(1, object)
        box[0] = tensor
        self.boxes.append(weakref.ref(box))
        return box

    def tensors(self) -> list[Tensor]:
        """Return what is alive."""
        return [box[0] for box in (ref() for ref in self.boxes) if box is not None]

    def activations(self) -> dict[int, int]:
        """Return the bytes of each storage that is alive and is no parameter's."""
        storages = [tensor.untyped_storage() for tensor in self.tensors()]
        return {each.data_ptr(): each.nbytes() for each in storages if each.data_ptr() not in self.parameters}


def nodes_of(tensor: Tensor) -> set[Any]:
    """Return the nodes of a tensor's graph."""
    nodes: set[Any] = set()
    further = [tensor.grad_fn]
    while further:
        node = further.pop()
        if node is not None and node not in nodes:
            nodes.add(node)
            further.extend(before for before, _ in node.next_functions)
    return nodes


def flops_of(run: Callable[[], object]) -> int:
    """Count the FLOPs of matrix multiplications."""
    with FlopCounterMode(display=False) as counter:
        run()
    return int(counter.get_total_flops())


def test_kept_loss_keeps_nodes_but_no_activations() -> None:
    assert_said(
        "train",
        "a loss that is kept with its graph keeps the graph's nodes in memory",
        "`backward()` frees the activations that the graph has saved, but not the nodes",
        "A graph that no backward pass has gone through keeps its activations as well",
    )
    model, losses = network(), []
    saved = Saved(model)
    for step in range(5):
        with saved.hooks:
            losses.append(model(torch.ones(ROWS, DIM)).square().mean())
        assert saved.activations()
        losses[-1].backward()
        assert saved.tensors() == []
        assert len(set().union(*map(nodes_of, losses))) > 2 * LAYERS * (step + 1)
    assert nodes_of(losses[-1].detach()) == set()


def test_zero_grad_frees_gradients_unless_told_otherwise() -> None:
    assert_said("train", "sets each `p.grad` to `None`, which frees its memory", "fills it with zeros")
    model = network(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    weight: Any = next(model.parameters())
    model(torch.ones(ROWS, DIM)).sum().backward()
    gradient: Any = weakref.ref(weight.grad)
    optimizer.zero_grad(set_to_none=False)
    assert weight.grad is gradient()
    assert torch.equal(gradient(), torch.zeros(DIM, DIM))
    optimizer.zero_grad()
    assert weight.grad is None
    assert gradient() is None


@pytest.mark.parametrize("at_the_end", [False, True])
def test_backward_for_each_micro_batch_frees_its_activations(at_the_end: bool) -> None:
    assert_said(
        "gradient_accumulation",
        "then the activations of that one can go",
        "Or going backward once, at the end, when all activations have been kept after all",
    )
    model, peak, losses = network(), 0, []
    saved = Saved(model)
    for micro_batch in torch.chunk(torch.ones(8 * ROWS, DIM), 8):
        with saved.hooks:
            losses.append(model(micro_batch).square().sum())
        peak = max(peak, len(saved.activations()))
        if not at_the_end:
            losses[-1].backward()
    of_one = LAYERS + 1
    assert of_one <= peak <= of_one + 1 if not at_the_end else peak > 6 * of_one


def test_checkpointing_keeps_less_and_computes_forward_twice() -> None:
    assert_said(
        "activation_checkpointing",
        "The price is one more forward pass: 8 FLOPs for each token and parameter in place of 6",
        "about 8 + 8 = 16 are alive instead of 64",
        "Inference needs no gradients, so it keeps no activations at all but those at hand",
    )
    segments, x = [network(2) for _ in range(4)], torch.ones(ROWS, DIM, requires_grad=True)

    def plain() -> Any:
        return nn.Sequential(*segments)(x)

    def with_checkpoints() -> Any:
        y: Any = x
        for segment in segments:
            y = checkpoint(segment, y, use_reentrant=False)
        return y

    kept = {}
    for run in (plain, with_checkpoints):
        saved = Saved(nn.ModuleList(segments))
        with saved.hooks:
            y = run()
        kept[run] = len(saved.activations())
        del y
    assert kept[with_checkpoints] <= 4 + 1 < 8 <= kept[plain]
    forward = flops_of(plain)
    assert flops_of(lambda: plain().sum().backward()) == 3 * forward
    assert flops_of(lambda: with_checkpoints().sum().backward()) == 4 * forward
    nothing = Saved(nn.ModuleList(segments))
    with nothing.hooks, torch.no_grad():
        plain()
    assert nothing.boxes == []


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
@pytest.mark.parametrize("reentrant", [True, False])
def test_reentrant_checkpoint_loses_gradients_of_weights(reentrant: bool) -> None:
    assert_said("activation_checkpointing", "the weights within a reentrant checkpoint get none")
    model = network(1)
    y = checkpoint(model, torch.ones(ROWS, DIM), use_reentrant=reentrant)
    assert y.requires_grad is not reentrant


def test_autocast_halves_activations_and_copies_weights() -> None:
    assert_said(
        "mixed_precision",
        "Activations in it take half the memory",
        "Weights, gradients and optimizer state stay as large as before",
        "the bfloat16 copies of the weights that `torch.autocast` makes come on top",
    )
    model, x = network(), torch.ones(ROWS, DIM)
    optimizer = torch.optim.Adam(model.parameters())
    shapes: dict[bool, dict[tuple[int, ...], set[int]]] = {}
    for enabled in (False, True):
        saved = Saved(model)
        with saved.hooks, torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            y = model(x)
        activations = saved.activations()
        shapes[enabled] = {}
        for each in saved.tensors():
            if each.untyped_storage().data_ptr() in activations:
                shapes[enabled].setdefault(tuple(sorted(each.shape)), set()).add(each.element_size())
        y.float().square().mean().backward()
        kept = [each for p in model.parameters() for each in (p, p.grad)]
        assert {each.dtype for each in kept if each is not None} == {torch.float32}
        optimizer.step()
        state = [each for each in optimizer.state[next(model.parameters())].values() if each.ndim]
        assert {each.dtype for each in state} == {torch.float32}
    assert shapes[False] == {(ROWS, DIM): {4}}  # no copies of weights
    assert shapes[True] == {(ROWS, DIM): {2}, (DIM, DIM): {2}}


def test_small_steps_are_rounded_away_in_bfloat16() -> None:
    assert_said("mixed_precision", "the risk is that small steps are rounded away", "A float32 copy of the parameters")
    for dtype, moved in ((torch.bfloat16, False), (torch.float32, True)):
        weight = nn.Parameter(torch.ones(1, dtype=dtype))
        weight.grad = torch.full_like(weight, 1e-3)
        torch.optim.SGD([weight], lr=1.0).step()
        assert bool(weight != 1) is moved


def test_two_products_backward_unless_input_is_data() -> None:
    assert_said("flop_accounting", "autograd leaves that product out")
    assert_said("linear_backward", "Two matrix multiplications, each as large as that of the forward pass")
    layer = nn.Linear(DIM, DIM, bias=False)
    forward = flops_of(lambda: layer(torch.ones(ROWS, DIM)))
    for asks, products in ((False, 2), (True, 3)):
        x = torch.ones(ROWS, DIM, requires_grad=asks)
        assert flops_of(lambda: layer(x).sum().backward()) == products * forward  # noqa: B023  (called at once)


def test_small_view_keeps_large_storage_alive() -> None:
    assert_said("same_storage", "a small slice keeps a large block of memory alive")
    assert_said("memory_accounting", "a view keeps the whole storage of its source alive")
    large = torch.zeros(1000, 1000)
    row, copy = large[0], large[0].clone()
    del large
    assert row.untyped_storage().nbytes() == 1000 * copy.untyped_storage().nbytes()


def test_transpose_and_expand_move_no_element() -> None:
    assert_said(
        "strides", "Why is a transpose free, whatever the size? Because no element moves", "`expand` costs nothing"
    )
    x = torch.arange(6).reshape(2, 3)
    for view in (x.t(), x[:1].expand(10**6, 3)):
        assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        assert view.untyped_storage().nbytes() == 6 * 8


def test_view_takes_some_tensors_that_are_not_contiguous() -> None:
    assert_said("strides", "is not contiguous, and `x.transpose(0, 1).view(3, 2, 2, 2)` works")
    x = torch.arange(24).reshape(2, 3, 4).transpose(0, 1)
    assert not x.is_contiguous()
    assert torch.equal(x.view(3, 2, 2, 2), x.contiguous().view(3, 2, 2, 2))


def test_jaxtyping_checks_only_with_a_checker() -> None:
    assert_said(
        "named_dimensions",
        "By themselves such annotations check nothing",
        "@jaxtyped(typechecker=beartype)",
    )

    def double(x: Float[Tensor, "rows 3"]) -> Float[Tensor, "rows 3"]:
        return 2 * x

    def checker(function: Any) -> Any:  # as beartype: compares the argument with its annotation
        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            given = signature(function).bind(*args, **kwargs).arguments
            for name, value in given.items():
                kind = function.__annotations__.get(name)
                if kind not in (None, Any) and not isinstance(value, kind):
                    raise TypeError(name)
            return function(*args, **kwargs)

        return checked

    assert double(torch.ones(2, 4)).shape == (2, 4)
    with pytest.raises(TypeCheckError):
        jaxtyped(double, typechecker=checker)(torch.ones(2, 4))
    assert jaxtyped(double, typechecker=checker)(torch.ones(2, 3)).shape == (2, 3)


def test_plain_list_hides_layers() -> None:
    assert_said("cruncher", "A plain Python list would hide the layers from `parameters()` and `state_dict()`")

    class Hidden(nn.Module):
        """Two layers in a list."""

        def __init__(self) -> None:
            super().__init__()
            self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]

    assert [*Hidden().parameters()] == []
    assert Hidden().state_dict() == {}


def test_linear_layers_in_a_row_are_one() -> None:
    assert_said("deep_network", "Linear layers in a row are one linear layer")
    first, second = (torch.randn(DIM, DIM, dtype=torch.float64) for _ in range(2))
    x = torch.randn(ROWS, DIM, dtype=torch.float64)
    assert torch.allclose(x @ first @ second, x @ (first @ second))
    assert not torch.allclose((x @ first).relu() @ second, x @ (first @ second))


def test_relu_halves_the_mean_square_and_randn_grows_it() -> None:
    assert_said("deep_network", "the mean square halves from block to block")
    assert_said("linear", "Plain `randn` would make it `sqrt(input_dim)` times as large")
    generator = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(1024, 1024, generator=generator, dtype=torch.float64) for _ in range(2))
    assert 0.9 < (x @ weight).std() / 1024**0.5 < 1.1
    scaled = x @ (weight / 1024**0.5)
    assert 0.9 < scaled.std() < 1.1
    assert 0.45 < scaled.relu().square().mean() / scaled.square().mean() < 0.55


def test_backward_writes_into_the_same_gradient() -> None:
    assert_said("momentum", "The next backward pass writes into it")
    weight: Any = nn.Parameter(torch.ones(2))
    weight.sum().backward()
    remembered = weight.grad
    weight.sum().backward()
    assert remembered.tolist() == [2.0, 2.0]


def test_memory_outside_the_state_is_not_saved() -> None:
    assert_said("adagrad", "a memory kept anywhere but in the optimizer's state, which saving forgets")
    optimizer: Any = torch.optim.Adagrad([weight := nn.Parameter(torch.ones(2))])
    optimizer.elsewhere = {weight: torch.ones(2)}
    assert optimizer.state_dict().keys() == {"state", "param_groups"}
    assert "sum" in optimizer.state_dict()["state"][0]


def test_loading_casts_all_state_but_step() -> None:
    assert_said("adam", "casts those of other names to the parameter's dtype, and in bfloat16 256 + 1 is 256")
    optimizer = torch.optim.SGD([weight := nn.Parameter(torch.ones(2, dtype=torch.bfloat16))])
    optimizer.state[weight] = {"step": torch.tensor(257.0), "t": torch.tensor(257.0)}
    optimizer.load_state_dict(optimizer.state_dict())
    assert optimizer.state[weight]["step"] == 257
    assert optimizer.state[weight]["t"] == 256


def test_rare_gradients_make_larger_adagrad_steps() -> None:
    assert_said("adagrad", "The weights of a rare word get few gradients, so their `g2` stays small")
    weights = nn.Parameter(torch.zeros(2))
    optimizer = torch.optim.Adagrad([weights], lr=1.0)
    for step in range(100):
        weights.grad = torch.tensor([1.0, float(step % 10 == 9)])
        before = weights.detach().clone()
        optimizer.step()
    common, rare = (before - weights.detach()).tolist()
    assert rare > 3 * common


def test_adam_hardly_decays_where_gradients_are_large() -> None:
    assert_said("adamw", "weights with large gradients then hardly decay", "whatever the gradients")

    def decayed(kind: Callable[..., torch.optim.Optimizer], gradient: float) -> float:
        weights = []
        for decay in (0.1, 0.0):
            weight = nn.Parameter(torch.ones(1, dtype=torch.float64))
            optimizer = kind([weight], lr=0.1, weight_decay=decay, eps=0.0)
            for sign in (1, -1, 1, 1):
                weight.grad = torch.full_like(weight, sign * gradient)
                optimizer.step()
            weights.append(weight.item())
        return weights[1] - weights[0]

    assert abs(decayed(torch.optim.Adam, 100.0)) < 0.1 * abs(decayed(torch.optim.Adam, 1.0))
    assert decayed(torch.optim.AdamW, 100.0) == pytest.approx(decayed(torch.optim.AdamW, 1.0))


def test_one_group_is_enough_for_a_schedule() -> None:
    assert_said("sgd", "A schedule, which changes the learning rate from step to step, needs one group only")
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (step + 1) / 4)
    rates = []
    for _ in range(4):
        rates += [group["lr"] for group in optimizer.param_groups]
        optimizer.step()
        schedule.step()
    assert rates == [0.25, 0.5, 0.75, 1.0]


def test_libraries_draw_from_generators_of_their_own() -> None:
    assert_said("reproducibility", "seed one, and the run still differs every time")
    draws: list[Callable[[], float]] = [lambda: torch.rand(1).item(), np.random.rand, random.random]
    seeds: list[Callable[[int], object]] = [torch.manual_seed, np.random.seed, random.seed]
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    try:
        for chosen, seed in enumerate(seeds):
            drawn = []
            for _ in range(2):
                seed(7)
                drawn.append([draw() for draw in draws])
            assert [a == b for a, b in zip(*drawn, strict=True)] == [i == chosen for i in range(3)]
    finally:
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])


def test_weights_only_loads_no_code(tmp_path: Path) -> None:
    assert_said("checkpoint", "Never run code from the file: `torch.load(..., weights_only=True)`")

    class Code:
        """Writes a file when it is unpickled."""

        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "ran",))

    torch.save(Code(), tmp_path / "run.pt")
    with pytest.raises(Exception, match="weights_only"):
        torch.load(tmp_path / "run.pt", weights_only=True)
    assert not (tmp_path / "ran").exists()
    torch.load(tmp_path / "run.pt", weights_only=False)
    assert (tmp_path / "ran").exists()
