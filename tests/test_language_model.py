"""language_model: the model, its loss, the parts of a training step, resumable training, and text."""

import math
from typing import Any

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.language_model import oracle
from tests.language_model_inputs import (
    RATES,
    Case,
    Step,
    cases,
    draw_tokens,
    gradients,
    make_source,
    models,
    plans,
    prompts,
    schedules,
    steps,
)
from tests.losses import assert_loss
from tests.probes import language_model as probes
from tests.sampling import chi_square_range
from tests.strategies import SEEDS, costly, rng_of, sizes
from torchkata import (
    Plain,
    Student,
    Text,
    as_float64,
    assert_close,
    assert_equal,
    assert_number,
    check,
    require,
)

COARSE = 2**24  # float64 roundings for logits, whose error grows with the number of layers; relative to them, 1e-8
EPSILON = 2**8  # float32 roundings, enough to allow an epsilon of 1e-6 that is added to a norm of at least 0.1


@given(st.tuples(sizes(4, 6, 2), st.sampled_from([4, 3, 8]), st.integers(0, 3), sizes(3)))
def test_model_has_expected_parts(student: Student, chosen: tuple[int, int, int, int]) -> None:
    """The model has two embeddings, `num_layers` attention layers and blocks, and an output layer without bias."""
    reply = student.call(probes.shapes, list(chosen))
    expected = oracle.list_shapes(*chosen)
    assert_equal(reply["state"], dict(sorted(expected.items())), what=Text("shapes in state_dict()"))
    assert_equal(reply["parameters"], sorted(expected), what=Text("parameters"))
    check(reply["distinct"] == len(expected), mistake=Text("two of the parts share their parameters"))
    assert_equal(reply["context"], chosen[-1], what="model.context")
    note = Text("not your own class: {parts}", parts=", ".join(reply["foreign"]))
    check(not reply["foreign"], note, expected=Text("CausalAttention, your Block and your Linear"))


@given(models())
def test_logits_follow_the_formula(student: Student, case: tuple[list[int], dict[str, Tensor], Tensor]) -> None:
    """The model applies the embeddings, the layers and the output layer, in this order."""
    (_, _, num_layers, _), weights, tokens = case
    exact = oracle.forward({key: as_float64(w) for key, w in weights.items()}, num_layers, tokens.numpy())
    yours = student.call(probes.logits, case[0], weights, tokens)
    assert_close(yours, exact, dtype=torch.float64, scale=1 + abs(exact), roundings=COARSE, what="logits")


@costly
@given(models().filter(lambda case: case[2].shape[1] > 1), SEEDS)
def test_logits_ignore_later_tokens(
    student: Student, case: tuple[list[int], dict[str, Tensor], Tensor], seed: int
) -> None:
    """Logits do not depend on later tokens or on other rows. Tokens may have any integer dtype."""
    chosen, weights, tokens = case
    rng = rng_of(seed)
    tokens = tokens.to([torch.int64, torch.int32, torch.uint16][int(rng.integers(3))])
    keep = int(rng.integers(1, tokens.shape[1]))
    yours = student.call(probes.logits, chosen, weights, tokens)
    short = student.call(probes.logits, chosen, weights, tokens[:1, :keep].contiguous())
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


@given(cases())
def test_loss_is_mean_cross_entropy_of_next_tokens(student: Student, case: Case) -> None:
    """The loss is the mean cross-entropy of each token after the first, given the tokens before it."""
    tables, batch = as_float64(case.tables), case.batch.numpy()
    reply = student.call(probes.loss, case.tables, case.batch, "float32")
    scale = 1 + 4 * float(abs(tables).sum(0).max())
    rows, length = batch.shape
    expected = [["forward", rows, length - 1]]
    note = Text("the model should be called once, with all tokens but the last of each row")
    assert_equal(reply["calls"], expected, what=Text("calls of the model"), note=note)
    assert_loss(reply["loss"], oracle.loss(tables, batch), scale=scale, roundings=32)
    check(reply["has graph"], mistake=Text("the loss has no graph, so backward() cannot compute gradients"))
    assert_equal(reply["batch"], case.batch, what="batch", mistake=Text("loss changes the batch"))


@given(cases(size=300.0), st.sampled_from(["float32", "bfloat16"]))
def test_loss_is_exact_for_large_and_bfloat16_logits(student: Student, case: Case, dtype: str) -> None:
    """The loss has float32 precision, even for large logits and for logits in bfloat16."""
    tables = case.tables.round()
    seen, following = oracle.split_batch(case.batch.numpy())
    logits = torch.from_numpy(oracle.look_up(as_float64(tables), seen)).to(getattr(torch, dtype))
    exact = oracle.average(oracle.compute_nats(as_float64(logits), following))
    reply = student.call(probes.loss, tables, case.batch, dtype)
    scale = 1 + 4 * float(abs(as_float64(logits)).max())
    check(
        np.isfinite(float(reply["loss"])),
        Text("the loss should be finite"),
        yours=reply["loss"],
        expected=f"{exact:.6g}",
    )
    assert_loss(reply["loss"], exact, scale=scale, roundings=32)
    is_float32 = isinstance(reply["loss"], float) or reply["loss"].dtype == torch.float32
    check(is_float32, Text("the loss should be float32"), yours=reply["loss"], expected=Text("a float32 scalar"))


def check_rate(student: Student, schedule: tuple[int, float, float, int, int]) -> None:
    """Compare a learning rate with the schedule."""
    yours = student.call("language_model.learning_rate", *schedule)
    assert_close(
        torch.tensor(yours, dtype=torch.float64) if type(yours) in (int, float) else yours,
        oracle.learning_rate(*schedule),
        dtype=torch.float64,
        scale=schedule[1],
        roundings=64,
        what=Text("learning rate"),
    )


@given(schedules(warm=True))
def test_warm_up_is_linear(student: Student, schedule: tuple[int, float, float, int, int]) -> None:
    """During the warm-up, the rate rises linearly from peak / warmup in step 0 to peak."""
    check_rate(student, schedule)


@given(schedules(warm=False))
def test_rate_follows_half_a_cosine(student: Student, schedule: tuple[int, float, float, int, int]) -> None:
    """After the warm-up, the rate follows half a cosine wave from peak to final, and then stays at final."""
    check_rate(student, schedule)


def check_clipping(student: Student, grads: list[Tensor | None], max_norm: float) -> None:
    """Compare the norm and the gradients with the oracle's. Gradients that should not change must be identical."""
    reply = student.call(probes.clip, grads, max_norm)
    absent = [grad is None for grad in reply["gradients"]]
    assert_equal(absent, [grad is None for grad in grads], what=Text("whether each gradient is None"))
    given = [grad for grad in grads if grad is not None]
    norm, expected = oracle.clip([as_float64(grad) for grad in given], max_norm)
    yours = [grad for grad in reply["gradients"] if grad is not None]
    for i, (mine, grad, exact) in enumerate(zip(yours, given, expected, strict=True)):
        if np.array_equal(exact, as_float64(grad)):
            assert_equal(mine, grad, what=Text("gradient {i}", i=i))
        else:
            assert_close(mine, exact, scale=abs(exact), roundings=EPSILON, what=Text("gradient {i}", i=i))
    number = reply["norm"].item() if isinstance(reply["norm"], Tensor) else reply["norm"]
    assert_number(number, norm, relative=1e-5, what=Text("the returned norm"))


@given(gradients(st.floats(0.01, 0.9)))
def test_large_gradients_are_clipped_by_global_norm(student: Student, case: tuple[list[Tensor | None], float]) -> None:
    """If the global norm exceeds max_norm, all gradients are scaled by max_norm / norm. The old norm is returned."""
    check_clipping(student, *case)


@given(gradients(st.floats(1.1, 100)) | st.just(([None, None], 1.0)))
def test_small_gradients_do_not_change(student: Student, case: tuple[list[Tensor | None], float]) -> None:
    """If the global norm is below max_norm, the gradients do not change."""
    check_clipping(student, *case)


@given(
    st.lists(st.sampled_from([[2], [3, 2], [], [2, 3, 1], [1]]), min_size=1, max_size=4),
    RATES,
    st.sampled_from([0.1, 0.0]),
)
def test_only_matrices_decay(student: Student, shapes: list[list[int]], lr: float, weight_decay: float) -> None:
    """AdamW gets every parameter once, with the given lr. Only those with two or more dimensions decay."""
    reply = student.call(probes.groups, shapes, lr, weight_decay)
    for shape, options in zip(shapes, reply["options"], strict=True):
        decay = float(oracle.get_decay(shape, weight_decay))
        expected = [{"lr": lr, "betas": [0.9, 0.95], "weight_decay": decay}]
        assert_equal(options, expected, what=Text("groups of a parameter of shape {shape}", shape=shape))
    check(reply["is AdamW"], mistake=Text("the optimizer is not the AdamW from adamw.py"))


def take_step(student: Student, step: Step) -> Plain:
    """Return the reply of the probe for a step."""
    case = step.case
    return student.call(
        probes.step, case.tables, step.before, case.batch, step.micro_batch_size, step.max_norm, step.lr
    )


def check_step(student: Student, step: Step) -> None:
    """Compare the loss and the gradient that the optimizer receives with the results for the whole batch."""
    reply = take_step(student, step)
    tables, batch = as_float64(step.case.tables), step.case.batch.numpy()
    value, gradient = oracle.train(tables, batch, step.micro_batch_size, step.max_norm)
    check(
        len(reply["steps"]) == 1,
        Text("optimizer.step() should be called once"),
        yours=Text("{count} calls", count=len(reply["steps"])),
    )
    what = Text("the gradient when optimizer.step() is called")
    assert_close(reply["steps"][0], gradient, scale=1.0, roundings=64, what=what)
    assert_loss(reply["loss"], value, scale=1 + 4 * float(abs(tables).sum(0).max()), roundings=32)
    check(
        type(reply["loss"]) is float,
        Text("the returned loss should be a float"),
        yours=reply["loss"],
        expected=Text("a float"),
    )


@given(steps(rows=st.integers(1, 4), limits=st.floats(1.5, 10)))
def test_micro_batches_equal_whole_batch(student: Student, step: Step) -> None:
    """For micro-batches of any size, even a smaller last one, loss and gradients equal those of the whole batch."""
    check_step(student, step)


@given(steps(rows=st.integers(2, 4), limits=st.floats(0.05, 0.6)))
def test_accumulated_gradients_are_clipped(student: Student, step: Step) -> None:
    """The accumulated gradients are clipped once, after the last micro-batch and before the optimizer's step."""
    check_step(student, step)


@given(steps(rows=st.integers(1, 3), limits=st.just(2.0)))
def test_each_micro_batch_is_freed_before_the_next(student: Student, step: Step) -> None:
    """Each micro-batch runs forward and backward before the next one, and then the optimizer takes one step."""
    reply = take_step(student, step)
    rows = [count for name, count in reply["events"] if name == "forward"]
    few = Text("micro-batches of at most {most} of {rows} rows", most=step.micro_batch_size, rows=len(step.case.batch))
    check(
        sum(rows) == len(step.case.batch), Text("the model should see each row exactly once"), yours=rows, expected=few
    )
    check(max(rows) <= step.micro_batch_size, Text("a micro-batch has too many rows"), yours=rows, expected=few)
    expected = ["forward", "backward"] * len(rows) + ["step"]
    assert_equal(reply["names"], expected, what=Text("the order of the passes and the step"))


@costly
@given(st.booleans(), SEEDS)
def test_forward_is_bfloat16_if_requested(student: Student, bfloat16: bool, seed: int) -> None:
    """Forward matmuls run in bfloat16 if bfloat16=True, otherwise in float32. Parameters stay float32."""
    batch = torch.from_numpy(rng_of(seed).integers(0, 4, [3, 5]))
    reply = student.call(probes.precision, batch, bfloat16)
    assert_equal(
        reply["products"], ["bfloat16" if bfloat16 else "float32"], what=Text("matrix products of the forward pass")
    )
    assert_equal(reply["parameters"], ["float32"], what=Text("parameters and gradients"))


@costly
@given(plans(), SEEDS)
def test_each_step_follows_the_settings(student: Student, settings: dict[str, Any], seed: int) -> None:
    """Each step calls get_batch once and AdamW's step() once, with the scheduled learning rate in every group."""
    tokens = draw_tokens(seed, settings["vocab"])
    reply = student.call(probes.train, tokens, settings)
    s = settings
    one = [len(tokens), s["batch_size"], s["context"] + 1]
    assert_equal(
        reply["sizes"], [one] * s["steps"], what=Text("calls of get_batch: tokens, batch_size, sequence_length")
    )
    exact = [oracle.learning_rate(i, s["peak_lr"], s["final_lr"], s["warmup"], s["steps"]) for i in range(s["steps"])]
    check(
        len(reply["rates"]) == s["steps"], Text("AdamW.step should be called once per step"), yours=len(reply["rates"])
    )
    for i, (rates, rate) in enumerate(zip(reply["rates"], exact, strict=True)):
        numbers = torch.tensor(rates, dtype=torch.float64)
        what = Text("learning rates of the groups in step {i}", i=i)
        assert_close(numbers, np.full(len(rates), rate), dtype=torch.float64, scale=rate, roundings=64, what=what)
    check("load_tokens" in reply["used"], mistake=Text("load_tokens is not used"))
    check(reply["is a LanguageModel"], Text("train_lm should return the model"), expected=Text("a LanguageModel"))


@costly
@given(plans(), SEEDS)
def test_checkpoints_are_saved_and_losses_reported_on_schedule(
    student: Student, settings: dict[str, Any], seed: int
) -> None:
    """A checkpoint is saved every `checkpoint_every` steps and after the last. Each step's loss is reported."""
    reply = student.call(probes.train, draw_tokens(seed, settings["vocab"]), settings)
    count = settings["steps"]
    assert_equal(
        reply["saves"],
        oracle.list_saves(0, count, settings["checkpoint_every"]),
        what=Text("steps at which checkpoints are saved"),
    )
    assert_equal([step for step, _ in reply["reports"]], list(range(1, count + 1)), what=Text("reported steps"))
    are_floats = all(type(value) is float and 0 < value < 100 for _, value in reply["reports"])
    check(
        are_floats,
        Text("the reported losses should be floats"),
        yours=reply["reports"],
        expected=Text("[[1, loss], …]"),
    )


@costly
@given(plans(), SEEDS)
def test_batches_depend_on_seed_and_step(student: Student, settings: dict[str, Any], seed: int) -> None:
    """Different steps draw different batches, and so do different seeds."""
    long = settings | {"vocab": 251, "batch_size": 3, "context": 4}
    tokens = draw_tokens(seed, 251, 4000)
    one = student.call(probes.train, tokens, long)["batches"]
    once = Text("get_batch should be called once per step")
    repeated = Text("two steps draw the same batch: the seed does not depend on the step")
    require(len(one) == settings["steps"], once, yours=len(one))
    check(len({str(batch.tolist()) for batch in one}) == len(one), mistake=repeated)
    other = student.call(probes.train, tokens, long | {"seed": settings["seed"] + 1})["batches"]
    require(len(other) == settings["steps"], once, yours=len(other))
    alike = Text("another seed draws the same batches")
    check(not any(torch.equal(a, b) for a, b in zip(one, other, strict=True)), mistake=alike)


@costly
@given(plans(), st.lists(st.integers(1, 5), min_size=1, max_size=2), SEEDS)
def test_resumed_run_equals_uninterrupted_run(
    student: Student, settings: dict[str, Any], stops: list[int], seed: int
) -> None:
    """A killed and resumed run equals an uninterrupted one, bit for bit. A finished run is loaded, not repeated."""
    count, every = settings["steps"], settings["checkpoint_every"]
    stops = sorted({min(stop, count - 1) for stop in stops})
    reply = student.call(probes.resume, draw_tokens(seed, settings["vocab"]), settings, stops)
    through = dict(reply["reports"])
    require([*through] == list(range(1, count + 1)), Text("each step should be reported"), yours=reply["reports"])
    first = 1
    for stop, reports in zip([*stops, count], reply["sessions"], strict=True):
        last = max(stop, first)
        what = Text("steps reported when resumed with the checkpoint of step {step}", step=first - 1)
        assert_equal([step for step, _ in reports], list(range(first, last + 1)), what=what)
        for step, value in reports:
            assert_equal(value, through[step], what=Text("loss of step {step} of the resumed run", step=step))
        first = last - last % every + 1
    assert_equal(reply["resumed"], reply["through"], what=Text("weights at the end of the resumed run"))
    check("load_checkpoint" in reply["used"], mistake=Text("load_checkpoint is not used"))
    assert_equal(reply["again"], reply["through"], what=Text("weights of a run that was finished before"))
    assert_equal(reply["reports when done"], [], what=Text("steps reported for a run that was finished before"))


@costly
@given(plans(), SEEDS)
def test_damaged_checkpoint_is_not_overwritten(student: Student, settings: dict[str, Any], seed: int) -> None:
    """If the checkpoint cannot be loaded, the error is raised, and the file is not replaced by a new run."""
    reply = student.call(probes.corrupt, draw_tokens(seed, settings["vocab"]), settings)
    anew = Text("the checkpoint is damaged, but train_lm does not raise")
    check(bool(reply["raised"]), mistake=anew, expected=Text("an exception from load_checkpoint"))
    check(reply["as before"], mistake=Text("the damaged checkpoint was overwritten"))


@costly
@given(plans(), st.sampled_from(["meta", "cpu"]), SEEDS)
def test_model_is_on_requested_device(student: Student, settings: dict[str, Any], device: str, seed: int) -> None:
    """The model is on the device given in the settings."""
    found = student.call(
        probes.devices, draw_tokens(seed, settings["vocab"]), settings | {"steps": 0, "device": device}
    )
    assert_equal(found, [device], what=Text("devices of the parameters of a model that is trained for 0 steps"))


def test_training_reaches_entropy_of_source(student: Student, seed: int) -> None:
    """If each token depends on the two before it, the loss comes within 0.1 nats of the entropy of the source."""
    rng = rng_of(seed)
    vocab, context = 3, 3
    table, text = make_source(rng, vocab, 20_000)
    settings = {
        **{"vocab": vocab, "dim": 32, "num_layers": 1, "context": context, "steps": 240, "batch_size": 64},
        **{"micro_batch_size": 64, "peak_lr": 0.02, "final_lr": 0.001, "warmup": 10, "checkpoint_every": 1000},
    }
    windows = np.lib.stride_tricks.sliding_window_view(text, context)[:500].copy()
    scores = student.call(probes.learn, torch.from_numpy(text.astype(np.uint16)), settings, torch.from_numpy(windows))
    require(
        isinstance(scores, Tensor) and scores.shape == (len(windows), vocab), Text("the model should return logits")
    )
    truth = table[windows[:, -2], windows[:, -1]]
    entropy = -np.mean(np.sum(truth * np.log(np.maximum(truth, 1e-30)), -1))
    nats = np.mean(np.sum(truth * -np.log(np.maximum(oracle.softmax(as_float64(scores)), 1e-30)), -1))
    within = Text(
        "at most {most} nats: the entropy of the source is {entropy}",
        most=f"{entropy + 0.1:.3f}",
        entropy=f"{entropy:.3f}",
    )
    check(
        nats <= entropy + 0.1,
        Text("the predictions of the trained model are not good enough"),
        yours=Text("{value} nats", value=f"{nats:.3f}"),
        expected=within,
    )


@given(prompts())
def test_temperature_zero_takes_most_likely_token(student: Student, case: tuple[Tensor, Tensor, int]) -> None:
    """With temperature 0, each token is the most likely one given the last `context` tokens."""
    tables, prompt, n = case
    reply = student.call(probes.generate, tables, prompt, n, 0.0, None)
    long = Text("the model is given more tokens than its context")
    check(max(reply["lengths"], default=0) <= len(tables), mistake=long, yours=reply["lengths"])
    expected = torch.tensor(oracle.continue_greedily(as_float64(tables), prompt.tolist(), n), dtype=torch.long)
    check(isinstance(reply["tokens"], Tensor), Text("generate should return a tensor"), yours=reply["tokens"])
    assert_equal(reply["tokens"].long(), expected, what=Text("the prompt and the new tokens"))
    assert_equal(reply["prompt"], prompt, what="prompt", mistake=Text("generate modifies the prompt"))
    check(
        not reply["builds graphs"], mistake=Text("the model builds a graph, which is not needed: use torch.no_grad()")
    )


@costly
@given(prompts(), SEEDS, st.booleans())
def test_text_depends_only_on_seed_and_earlier_tokens(
    student: Student, case: tuple[Tensor, Tensor, int], seed: int, is_global: bool
) -> None:
    """The same seed gives the same tokens, and a larger n only appends further tokens."""
    tables, prompt, n = case
    again, same, longer = student.call(probes.generate_each, tables, prompt, [n, n, n + 3], seed, is_global)
    assert_equal(same, again, what=Text("tokens drawn again with the same seed"))
    assert_equal(longer[: len(same)], same, what=Text("the first {n} new tokens of {all}", n=n, all=n + 3))
    reply = student.call(probes.generate, tables, prompt, n + 1, 1.0, seed)
    elsewhere = Text("torch's global generator is used although a generator is given")
    check(not reply["global generator used"], mistake=elsewhere)


def test_tokens_are_drawn_at_the_temperature(student: Student, seed: int) -> None:
    """Tokens are drawn from softmax(logits / temperature)."""
    rng = rng_of(seed)
    n, vocab = 1500, 4
    logits = rng.permutation([0.0, 0.7, 1.4, 2.1])
    tables = torch.from_numpy(np.tile(logits, (1, vocab, 1))).float()
    low, high = chi_square_range(vocab - 1)
    for temperature in (1.0, 0.5, 2.0):
        reply = student.call(probes.generate, tables, torch.tensor([0]), n, temperature, seed)
        tokens = reply["tokens"]
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
