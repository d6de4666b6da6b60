"""Speed on this machine's GPU: `pytest -m gpu`. First whether the work is right, roughly, then how fast it is done.

A hint, no more: the grader times the same workloads again, by a clock that no student's code can reach.
"""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from reference.adagrad import oracle as adagrad
from reference.get_batch import oracle as get_batch
from reference.linear import oracle as linear
from reference.sgd import oracle as sgd
from tests.trial import Trial
from torchkata.compare import check
from torchkata.gpu import Judge, workload_of
from torchkata.speed.amounts import own_peak_bytes
from torchkata.speed.stopwatch import Stopwatch
from torchkata.student import InProcess, Student

pytestmark = pytest.mark.gpu

CALL_SECONDS = 60.0
LOOKED_AT = 64  # rows and columns of a product, rows of a batch
ELEMENTS = 2**16  # of weights or parameters
OFF = 0.03  # of what should have changed: more than a right result in bfloat16 shows, less than a shortcut does
LEAD_SECONDS = 0.025  # half of what the device is kept busy for


@pytest.fixture
def trial(request: pytest.FixtureRequest, student: Student, stopwatch: Stopwatch) -> Trial:
    """The workload that the test is named after."""
    assert isinstance(student.runner, InProcess)
    patient = Student(InProcess(student.runner.assignment.folder, CALL_SECONDS))
    workload = workload_of(request.node)
    patient.reset(workload.uses[-1])
    return Trial(workload, patient, stopwatch)


def test_linear_forward(trial: Trial, judge: Judge) -> None:
    """Linear is as fast as one large product can be."""
    plain, work = trial.plain(), trial.begin()
    work()
    rows, columns = trial.memory["x"][-1, -LOOKED_AT:], trial.memory["weight"][:, :LOOKED_AT]
    expected = linear.forward(columns.double().cpu().numpy(), rows.double().cpu().numpy())
    assert_about(trial.memory["y"][-1, -LOOKED_AT:, :LOOKED_AT], torch.from_numpy(expected))
    judge(trial.rate(work, plain))


def test_cruncher_step(trial: Trial, judge: Judge) -> None:
    """Forward, backward and a step of SGD take little longer than their products."""
    plain, work = trial.plain(), trial.begin()
    assert_as_plain(trial, work, plain)
    judge(trial.rate(work, plain))


def test_train_throughput(trial: Trial, judge: Judge) -> None:
    """Training steps take little longer than their products."""
    plain, work = trial.plain(), trial.begin()
    assert_as_plain(trial, work, plain)
    judge(trial.rate(work, plain))


def test_sgd_step(trial: Trial, judge: Judge) -> None:
    """A step of SGD takes little longer than to read p and grad and to write p."""
    plain, work = trial.plain(), trial.begin()
    p, grad = sample(trial.memory["p"]), sample(trial.memory["grad"])
    work()
    expected = sgd.step(p.double().numpy(), grad.double().numpy(), trial.size.rate)
    assert_about(sample(trial.memory["p"]), torch.from_numpy(expected), p)
    judge(trial.rate(work, plain))


def test_adagrad_step(trial: Trial, judge: Judge) -> None:
    """A step of AdaGrad takes not much longer than to read p, grad and g2 and to write p and g2."""
    plain, work = trial.plain(), trial.begin()
    p, grad = sample(trial.memory["p"]), sample(trial.memory["grad"]).double().numpy()
    work()  # the second step: `begin` has taken the first
    expected, _ = adagrad.step(p.double().numpy(), grad**2, grad, trial.size.rate)
    assert_about(sample(trial.memory["p"]), torch.from_numpy(expected), p)
    judge(trial.rate(work, plain))


def test_get_batch_throughput(trial: Trial, judge: Judge) -> None:
    """Batches reach the device about as fast as a plain gather can bring them, and while it works."""
    plain, work = trial.plain(), trial.begin()
    work()
    data, rows = trial.memory["data"].numpy(), trial.memory["batch"][-1, :LOOKED_AT].cpu().numpy()
    starts = [start_of(row, data) for row in rows]
    check(len(set(starts)) > len(rows) // 2, "rows should start anywhere in the data, and start in few places")
    judge(trial.rate(work, plain))


def test_no_hidden_sync(trial: Trial, judge: Judge) -> None:
    """In training the host queues work and does not wait for the device."""
    plain, work = trial.plain(), trial.begin()
    assert_as_plain(trial, work, plain)
    judge(trial.figure(float(trial.stopwatch.lead(work) >= LEAD_SECONDS)))


def test_peak_memory(trial: Trial, judge: Judge) -> None:
    """Training holds little more memory than the formula says."""
    plain, work = trial.plain(), trial.begin()
    assert_as_plain(trial, work, plain)
    judge(trial.figure(own_peak_bytes(trial.size) / max(1, trial.stopwatch.peak_bytes(work))))


def assert_as_plain(trial: Trial, work: Callable[[], object], plain: Callable[[], object]) -> None:
    """Demand the weights that plain torch makes of the same batches, from the same start."""
    work()
    found = {name: sample(trial.memory[f"new_{name}"]) for name in ("layers", "final")}
    plain()
    for name, yours in found.items():
        right = trial.memory[f"new_{name}"]
        assert_about(yours, sample(right), sample(trial.memory[name].expand_as(right)))


def assert_about(yours: Tensor, right: Tensor, before: Tensor | None = None) -> None:
    """Demand that the change from `before` (zeros, if nothing is said) is right but for a few percent of its norm."""
    found, right = yours.double().cpu(), right.double()
    change = right if before is None else right - before.double()
    bound = OFF * float(change.norm()) + torch.finfo(yours.dtype).eps * float(right.norm())
    off = float((found - right).norm())
    check(off <= bound, f"the result is wrong: off by {off:.2g} in norm, where {bound:.2g} is rounding")


def sample(tensor: Tensor) -> Tensor:
    """A copy of some of the elements, on the host; an odd stride reaches every row and column."""
    stride = max(1, tensor.numel() // ELEMENTS) | 1
    return tensor.flatten()[::stride].to("cpu", copy=True)


def start_of(row: np.ndarray, data: np.ndarray) -> int:
    """Where in the data this row is. Raises Wrong where it is nowhere."""
    windows = get_batch.windows(data, len(row))
    first, second, third = (data[i : len(windows) + i] == row[i] for i in range(3))
    for start in np.flatnonzero(first & second & third):
        if np.array_equal(windows[start], row):
            return int(start)
    check(False, "a row of the batch is no window of the data")
    return -1
