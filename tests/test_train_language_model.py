"""train_language_model: the parts of a training step, and resumable training."""

from typing import Any

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.language_model.oracle import softmax
from reference.train_language_model import oracle
from tests.losses import assert_loss
from tests.own_answers import holds
from tests.probes import train_language_model as probes
from tests.strategies import SEEDS, costly, rng_of
from tests.train_language_model_inputs import RATES, Step, gradients, plans, schedules, steps
from torchkata import (
    Plain,
    Student,
    Text,
    as_float64,
    asking,
    assert_close,
    assert_equal,
    assert_number,
    check,
    require,
)

right_clip = oracle.clip  # no mistake replaces it
BATCHES = Text("a resumed run draws other batches: call torch.manual_seed before each one, for this step")
HASH = Text("`hash` of a string differs in each process, so a resumed run computes another seed")
EPSILON = 2**8  # float32 roundings, enough to allow an epsilon of 1e-6 that is added to a norm of at least 0.1


def check_rate(student: Student, schedule: tuple[int, float, float, int, int]) -> None:
    """Compare a learning rate with the schedule."""
    yours = student.call("train_language_model.learning_rate", *schedule)
    assert_close(
        yours,
        oracle.learning_rate(*schedule),
        dtype=float if type(yours) in (int, float) else torch.float64,
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
    compare_clipping(student.call(probes.clip, grads, max_norm), grads, max_norm)


def compare_clipping(reply: Plain, grads: list[Tensor | None], max_norm: float) -> None:
    """Compare the reply of the probe with the oracle's results."""
    twice = Text("`parameters` is read a second time, but the iterator is empty then: make a list first")
    again = twice if reply["ends"] > 1 else ""
    absent = [grad is None for grad in reply["gradients"]]
    assert_equal(absent, [grad is None for grad in grads], what=Text("whether each gradient is None"))
    given = [grad for grad in grads if grad is not None]
    norm, expected = oracle.clip([as_float64(grad) for grad in given], max_norm)
    yours = [grad for grad in reply["gradients"] if grad is not None]
    for i, (mine, grad, exact) in enumerate(zip(yours, given, expected, strict=True)):
        if np.array_equal(exact, as_float64(grad)):
            assert_equal(mine, grad, what=Text("gradient {i}", i=i))
        else:
            what = Text("gradient {i}", i=i)
            assert_close(mine, exact, scale=abs(exact), roundings=EPSILON, what=what, mistake=again)
    number = reply["norm"].item() if isinstance(reply["norm"], Tensor) else reply["norm"]
    assert_number(number, norm, relative=1e-5, what=Text("the returned norm"))
    new = Text("p.grad is replaced by a new tensor, but the gradients should be changed in place, as by mul_()")
    with asking(probes.SHOW_IN_PLACE):
        assert_equal(reply["in place"], True, what=Text("whether p.grad is the same tensor as before"), mistake=new)


@given(gradients(st.floats(0.01, 0.9)))
def test_large_gradients_are_clipped_by_global_norm(student: Student, case: tuple[list[Tensor | None], float]) -> None:
    """A global norm above max_norm is returned, and each gradient but None is scaled in place by max_norm / norm."""
    check_clipping(student, *case)


@given(gradients(st.floats(1.1, 100)) | st.just(([None, None], 1.0)))
def test_small_gradients_do_not_change(student: Student, case: tuple[list[Tensor | None], float]) -> None:
    """If the global norm is below max_norm, each p.grad stays the same tensor and values. The norm is returned."""
    check_clipping(student, *case)


@given(
    st.lists(st.sampled_from([[2], [3, 2], [], [2, 3, 1], [1]]), min_size=1, max_size=4),
    RATES,
    st.sampled_from([0.1, 0.0]),
)
def test_only_matrices_decay(student: Student, shapes: list[list[int]], lr: float, weight_decay: float) -> None:
    """Your AdamW gets every parameter once, with lr, betas (0.9, 0.95), and decay for two or more dimensions only."""
    reply = student.call(probes.groups, shapes, lr, weight_decay)
    *others, bias, embedding = reply["options"]
    decays, stays = ([{"lr": lr, "betas": [0.9, 0.95], "weight_decay": decay}] for decay in (weight_decay, 0.0))
    by_name = Text("parameters with fewer than two dimensions decay, but not `bias`: decide by ndim, not by the name")
    for shape, options in zip(shapes, others, strict=True):
        expected = decays if oracle.get_decay(shape, weight_decay) else stays
        mistake = by_name if expected == bias == stays and options == decays else ""
        what = Text("groups of a parameter of shape {shape}", shape=shape)
        assert_equal(options, expected, what=what, mistake=mistake)
    expected = decays if oracle.get_decay([2], weight_decay) else stays
    assert_equal(bias, expected, what=Text("groups of model.bias"))
    expected = decays if oracle.get_decay([3, 2], weight_decay) else stays
    mistake = Text("the weight of an nn.Embedding does not decay, although other matrices do")
    assert_equal(embedding, expected, what=Text("groups of model.embedding.weight"), mistake=mistake)
    check(reply["is AdamW"], mistake=Text("the optimizer is not the AdamW from adamw.py"))


def take_step(student: Student, step: Step) -> Plain:
    """Return the reply of the probe for a step."""
    case = step.case
    return student.call(
        probes.step, case.tables, step.before, case.batch, step.micro_batch_size, step.max_norm, step.lr
    )


def check_step(student: Student, step: Step) -> None:
    """Compare the loss and the gradient that the optimizer receives with the results for the whole batch."""
    long = [torch.tensor([3.0, 4.0])]
    clips = holds(compare_clipping, student.call(probes.clip, long, 2.5), long, 2.5)
    reply = take_step(student, step)
    tables, batch = as_float64(step.case.tables), step.case.batch.numpy()
    before = as_float64(step.before)
    value, gradient = oracle.train(tables, batch, step.micro_batch_size, step.max_norm, before)
    check(
        len(reply["steps"]) == 1,
        Text("optimizer.step() should be called once"),
        yours=Text("{count} calls", count=len(reply["steps"])),
    )
    what = Text("the gradient when optimizer.step() is called")
    whole = right_clip([oracle.compute_gradient(tables, batch)], step.max_norm)[1][0]
    is_right = holds(assert_close, reply["steps"][0], whole, scale=1.0, roundings=64)
    require(clips or is_right, Text("clip_gradients is wrong"))
    assert_close(reply["steps"][0], gradient, scale=1.0, roundings=64, what=what)
    stale = Text("a parameter that is not in the optimizer keeps its gradient from before the step")
    shift = reply["shift"][0]
    kept = 0.0 if shift is None else shift.item()
    found = Text("gradient of model.shift: {value}", value=f"{kept:.2g}")
    is_zero = abs(kept) < probes.STALE / 100 or bool(oracle.zero(np.array(probes.STALE)))  # a mistake keeps it
    check(is_zero, mistake=stale, yours=found, expected=Text("0 or None"))
    assert_loss(reply["loss"], value, scale=1 + 4 * float(abs(tables).sum(0).max()), roundings=32)
    check(
        type(reply["loss"]) is float,
        Text("the returned loss should be a float"),
        yours=reply["loss"],
        expected=Text("a float"),
    )


@given(steps(rows=st.integers(1, 4), limits=st.floats(1.5, 10)))
def test_micro_batches_equal_whole_batch(student: Student, step: Step) -> None:
    """For any micro-batch size, one step uses only the whole batch's gradients, and returns that batch's float loss."""
    check_step(student, step)


@given(steps(rows=st.integers(2, 4), limits=st.floats(0.05, 0.6)))
def test_accumulated_gradients_are_clipped(student: Student, step: Step) -> None:
    """One optimizer step uses only the whole batch's gradients, clipped once. The float result is that batch's loss."""
    check_step(student, step)


@given(steps(rows=st.integers(1, 3), limits=st.just(2.0)))
def test_each_micro_batch_is_freed_before_the_next(student: Student, step: Step) -> None:
    """Micro-batches of up to micro_batch_size rows, each row once, run forward and backward in turn, then one step."""
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
    """Forward matmuls are bfloat16 if bfloat16=True, otherwise float32. Parameters and gradients stay float32."""
    batch = torch.from_numpy(rng_of(seed).integers(0, 4, [3, 5]))
    reply = student.call(probes.precision, batch, bfloat16)
    what = Text("matrix products of the forward pass")
    always = Text("autocast is enabled although `settings.bfloat16` is False")
    never = Text("autocast is not enabled, or for another device than the batch's")
    expected, mistake = ("bfloat16", never) if bfloat16 else ("float32", always)
    other = [{"bfloat16": "float32", "float32": "bfloat16"}[expected]]
    assert_equal(reply["products"], [expected], what=what, mistake=mistake if reply["products"] == other else "")
    assert_equal(reply["parameters"], ["float32"], what=Text("parameters and gradients"))


@costly
@given(plans(), SEEDS)
def test_each_step_follows_the_settings(student: Student, settings: dict[str, Any], seed: int) -> None:
    """With load_tokens, each step calls get_batch and AdamW.step once, as in the stub, and the model is returned."""
    reply = student.call(probes.train, seed, settings)
    s = settings
    one = [probes.COUNT, s["batch_size"], s["context"] + 1]
    short = Text("windows have `context` tokens instead of context + 1: the last token is only a target")
    mistake = short if reply["sizes"] == [[*one[:2], s["context"]]] * s["steps"] else ""
    what = Text("calls of get_batch: tokens, batch_size, sequence_length")
    assert_equal(reply["sizes"], [one] * s["steps"], what=what, mistake=mistake)
    exact = oracle.list_rates(s["peak_lr"], s["final_lr"], s["warmup"], s["steps"])
    check(
        len(reply["rates"]) == s["steps"], Text("AdamW.step should be called once per step"), yours=len(reply["rates"])
    )
    for i, (rates, rate) in enumerate(zip(reply["rates"], exact, strict=True)):
        numbers = torch.tensor(rates, dtype=torch.float64)
        what = Text("learning rates of the groups in step {i}", i=i)
        exact_rates = np.full(len(rates), rate)
        with asking(probes.write_rates(seed, settings)):
            assert_close(numbers, exact_rates, dtype=torch.float64, scale=rate, roundings=64, what=what)
    check("load_tokens" in reply["used"], mistake=Text("load_tokens is not used"))
    check(reply["is a LanguageModel"], Text("train_lm should return the model"), expected=Text("a LanguageModel"))


@costly
@given(plans(), SEEDS)
def test_checkpoints_are_saved_and_losses_reported_on_schedule(
    student: Student, settings: dict[str, Any], seed: int
) -> None:
    """Every `checkpoint_every` steps and in the last, a checkpoint is saved before the step reports its float loss."""
    reply = student.call(probes.train, seed, settings)
    count = settings["steps"]
    assert_equal(
        reply["saves"],
        oracle.list_saves(0, count, settings["checkpoint_every"]),
        what=Text("steps at which checkpoints are saved"),
    )
    assert_equal([step for step, _ in reply["reports"]], list(range(1, count + 1)), what=Text("reported steps"))
    early = Text("in these steps, report is called before the checkpoint is saved")
    what = Text("steps that are reported before they are saved")
    assert_equal(reply["reported before saved"], [], what=what, mistake=early)
    are_floats = all(type(value) is float and 0 < value < 100 for _, value in reply["reports"])
    check(
        are_floats,
        Text("the reported losses should be floats"),
        yours=reply["reports"],
        expected=Text("[[1, loss], …]"),
    )


def test_batches_depend_on_seed_and_step(student: Student, seed: int) -> None:
    """No two steps share a batch, whether their seeds are equal or not. No batch depends on `settings.steps`."""
    steps = 12  # so that seed 1 in step 10 can be confused with seed 11 in step 0
    settings = {"vocab": 251, "dim": 3, "num_layers": 0, "context": 4, "steps": steps, "batch_size": 3}
    other, count = seed % 2**20, 4000
    drawn: dict[str, tuple[int, int, int]] = {}
    for each in sorted({0, 1, 11, 2**12, other, other + 1}):
        reply = student.call(probes.train, seed, settings | {"seed": each}, count)
        batches = reply["batches"]
        require(len(batches) == steps, Text("get_batch should be called once per step"), yours=len(batches))
        for step, (batch, number) in enumerate(zip(batches, reply["seeds"], strict=True)):
            before, earlier, old = drawn.setdefault(str(batch.tolist()), (each, step, number))
            repeated = Text("two steps draw the same batch")
            check(before != each or earlier == step, mistake=repeated)
            both = Text(
                "step {i} with seed {a}, and step {j} with seed {b}: the same batch",
                i=earlier,
                a=before,
                j=step,
                b=each,
            )
            another = Text("another seed draws the same batches")
            if old != number and (old - number) % 2**32 == 0:
                another = Text("another seed draws the same batches: on the CPU, torch uses only the low 32 bits")
            with asking(probes.write_batches(seed, settings, count, [before, each])):
                check(before == each, mistake=another, yours=both, expected=Text("different batches"))
    shorter = student.call(probes.train, seed, settings | {"seed": each, "steps": 3}, count)["batches"]
    note = Text("yours are those of a run of 3 steps, expected are the first of a run of {steps}", steps=steps)
    depends = Text("the batch of a step also depends on `settings.steps`")
    assert_equal(shorter, batches[:3], what=Text("batches"), note=note, mistake=depends)


@costly
@given(plans(), st.lists(st.integers(1, 5), min_size=1, max_size=2), SEEDS)
def test_resumed_run_equals_uninterrupted_run(
    student: Student, settings: dict[str, Any], stops: list[int], seed: int
) -> None:
    """A run resumed by load_checkpoint equals an uninterrupted one bit for bit. A finished one is only loaded."""
    count, every = settings["steps"], settings["checkpoint_every"]
    stops = sorted({min(stop, count - 1) for stop in stops})
    reply = student.call(probes.resume, seed, settings, stops)
    through = dict(reply["reports"])
    require([*through] == list(range(1, count + 1)), Text("each step should be reported"), yours=reply["reports"])
    first, killed = 1, 0
    initial = Text("the initial weights depend on more than `seed`: call torch.manual_seed before the model is created")
    for stop, reports, batches in zip([*stops, count], reply["sessions"], reply["batches"], strict=True):
        last = max(stop, first)
        what = Text("steps reported when started again after a kill in step {step}", step=killed)
        what = what if killed else Text("reported steps")
        assert_equal([step for step, _ in reports], list(range(first, last + 1)), what=what)
        for place, (step, value) in enumerate(reports):
            same = len(batches) > place and holds(assert_equal, batches[place], reply["batch of each step"][step - 1])
            mistake: Text | str = HASH if "hash" in reply["used"] else BATCHES if not same else ""
            mistake = mistake or (initial if step == 1 else "")
            what = Text("loss of step {step} of the resumed run", step=step)
            assert_equal(value, through[step], what=what, mistake=mistake)
        first, killed = last - last % every + 1, last
    assert_equal(reply["resumed"], reply["through"], what=Text("weights at the end of the resumed run"))
    check("load_checkpoint" in reply["used"], mistake=Text("load_checkpoint is not used"))
    assert_equal(reply["again"], reply["through"], what=Text("weights of a run that was finished before"))
    assert_equal(reply["reports when done"], [], what=Text("steps reported for a run that was finished before"))


@costly
@given(plans(), SEEDS)
def test_damaged_checkpoint_is_not_overwritten(student: Student, settings: dict[str, Any], seed: int) -> None:
    """If the checkpoint cannot be loaded, the error is raised, and the file is not replaced by a new run."""
    reply = student.call(probes.corrupt, seed, settings)
    anew = Text("the checkpoint is damaged, but train_lm does not raise")
    check(bool(reply["raised"]), mistake=anew, expected=Text("an exception from load_checkpoint"))
    check(reply["as before"], mistake=Text("the damaged checkpoint was overwritten"))


@costly
@given(plans(), st.sampled_from(["meta", "cpu"]), SEEDS)
def test_model_is_on_requested_device(student: Student, settings: dict[str, Any], device: str, seed: int) -> None:
    """The model is on the device given in the settings."""
    found = student.call(probes.devices, seed, settings | {"steps": 0, "device": device})
    assert_equal(found, [device], what=Text("devices of the parameters of a model that is trained for 0 steps"))


def test_training_reaches_entropy_of_source(student: Student, seed: int) -> None:
    """If a token depends on the two before it, every weight changes, and the loss is within 0.1 nats of the entropy."""
    vocab, context = 3, 3
    table, text = probes.draw_source(seed)
    settings = {
        **{"vocab": vocab, "dim": 8, "num_layers": 1, "context": context, "steps": 240, "batch_size": 64},
        **{"micro_batch_size": 64, "peak_lr": 0.02, "final_lr": 0.001, "warmup": 10, "checkpoint_every": 1000},
    }
    windows = np.lib.stride_tricks.sliding_window_view(text.astype(np.int64), context)[:500].copy()
    reply = student.call(probes.learn, seed, settings, torch.from_numpy(windows))
    scores, unchanged = reply["scores"], ", ".join(reply["unchanged"])
    require(
        isinstance(scores, Tensor) and scores.shape == (len(windows), vocab), Text("the model should return logits")
    )
    check(not unchanged, mistake=Text("training does not change {weights}", weights=unchanged))
    truth = table[windows[:, -2], windows[:, -1]]
    entropy = -np.mean(np.sum(truth * np.log(np.maximum(truth, 1e-30)), -1))
    nats = np.mean(np.sum(truth * -np.log(np.maximum(softmax(as_float64(scores)), 1e-30)), -1))
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
