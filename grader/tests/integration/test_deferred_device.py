"""The GPU path on a device that does everything late: real workers in the real sandbox, and what only a queue shows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeAlias

import pytest
import torch

from grader.proof.cheats import cheats, slow_ones
from grader.sandbox.launch import Sandbox, launch
from grader.speed import figures, grading, rates, rest, setup
from grader.speed.machine import DEMANDS, Machine
from grader.speed.rest import Rest
from grader.speed.timed_worker import SETTLINGS, Done, Task, TimedWorker
from grader.tests.deferred import CYCLES, Deferred, Late, deferred_device
from grader.tests.late_machine import late_machine, late_timing, outcome_of
from grader.tests.processes import descendants
from torchkata.course import course
from torchkata.seam.reply import Reply
from torchkata.speed.sizes import Size
from torchkata.speed.workload import Rate

LIMITS = setup.limits()
SOLUTION = course().solutions()
HEAVY = Task("linear_forward", "cuda", Size(batch=512, width=512, outputs=512), calls=8)
PRODUCT = Task("linear_forward", "cuda", Size(batch=256, width=256, outputs=256), calls=8)
SMALL = {
    "linear_forward": PRODUCT.size,
    "cruncher_step": Size(batch=64, width=64, layers=2, rate=2.0),
    "train_throughput": Size(batch=128, width=64, layers=2, rate=0.05),
    "sgd_step": Size(parameters=2**16, rate=0.1),
    "adagrad_step": Size(parameters=2**16, rate=0.1),
    "get_batch_throughput": Size(batch=16, sequence=128, tokens=2**14, width=64),
}
SECONDS = 60.0

pytestmark = pytest.mark.usefixtures("needs_bwrap")

Begin: TypeAlias = Callable[..., TimedWorker]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A zygote for workers that use the device."""
    started = launch("bwrap", LIMITS, late_timing())
    started.wait_until_ready()
    yield started
    started.close()


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deferred]:
    """The device, for this process."""
    monkeypatch.setattr(rest, "BUSY", 3.0)  # others use this machine's cores, too
    with deferred_device() as found:
        yield found


@pytest.fixture
def begin(sandbox: Sandbox, device: Deferred) -> Iterator[Begin]:
    """Begin a task with the solution's files, some of them replaced; or as the baseline."""
    made: list[Any] = []

    def begun(
        task: Task = PRODUCT,
        files: Mapping[str, bytes] | None = None,
        *,
        trusted: bool = False,
        accelerator: Any = device,
        kind: type[TimedWorker] = TimedWorker,
    ) -> TimedWorker:
        control = sandbox.clone()
        made.append(control)
        made.append(kind(control, LIMITS, task, None if trusted else SOLUTION | dict(files or {}), accelerator))
        return made[-1]  # type: ignore[no-any-return]

    yield begun
    for opened in reversed(made):
        opened.close()


def below(kata: str, code: str) -> dict[str, bytes]:
    """The solution of a kata, with this code below it."""
    return {f"{kata}.py": SOLUTION[f"{kata}.py"] + b"\n" + code.encode()}


@pytest.mark.parametrize("trusted", [False, True], ids=["solution", "baseline"])
@pytest.mark.parametrize("workload", SMALL)
def test_results_on_a_device_that_is_late_are_right(begin: Begin, workload: str, *, trusted: bool) -> None:
    timed = begin(Task(workload, "cuda", SMALL[workload], calls=3, times=2), trusted=trusted)
    work = timed.task.work
    for _ in range(2):
        done = timed.block(SECONDS)
        if not trusted or (isinstance(work, Rate) and work.same_as_baseline):
            assert done.error <= 2 * timed.check.floor, "which is for larger ones: of a few elements it is a guess"
        assert done.seconds > 0


def test_an_operation_that_changes_a_shape_in_place_does_so_at_once(device: Deferred) -> None:
    weight = device.memory(64).tensor.view(torch.float32).reshape(4, 4)
    weight.fill_(2)
    row = weight[0] @ weight
    assert (type(row), row.shape, row.tolist()) == (Late, (4,), [16.0] * 4)


class Forgets:
    """The device, one of whose synchronisations does not happen."""

    def __init__(self, device: Deferred, number: int) -> None:
        self.device, self.number = device, number
        self.memory, self.free_bytes = device.memory, device.free_bytes

    def synchronize(self) -> None:
        self.number -= 1
        if self.number != 0:
            self.device.synchronize()


@pytest.mark.parametrize("forgotten", [0, 1], ids=["none", "after prepare"])
def test_what_a_worker_begins_with_is_there_before_it_begins(begin: Begin, device: Deferred, forgotten: int) -> None:
    timed = begin(trusted=True, accelerator=Forgets(device, forgotten))
    right = timed.block(SECONDS).error <= 2 * timed.check.floor
    assert right == (not forgotten), "it has taken its weight from memory that nothing was in yet"


@pytest.mark.parametrize("forgotten", [0, 2 * SETTLINGS + 1], ids=["none", "before go"])
def test_inputs_and_poison_are_there_before_a_block(begin: Begin, device: Deferred, forgotten: int) -> None:
    accelerator = Forgets(device, 0)
    timed = begin(trusted=True, accelerator=accelerator)
    timed.block(SECONDS)
    accelerator.number = forgotten  # settling alone waits twice, three times, then refreshing
    assert (timed.block(SECONDS).error <= 2 * timed.check.floor) == (not forgotten)


NEVER_WAITS = """
import grader.sandbox.cuda as accelerator
accelerator.Deferred.synchronize = lambda self: None
"""


def test_results_that_are_still_queued_when_the_answer_comes_are_wrong(begin: Begin) -> None:
    timed = begin(files=below("linear", NEVER_WAITS))
    for _ in range(3):
        assert timed.block(SECONDS).error > 100 * timed.check.floor


def leaves_work(seconds: int) -> dict[str, bytes]:
    """Queues something behind each answer that keeps the device for so long."""
    return below("linear", LEAVES_WORK.replace("CYCLES", str(int(seconds * CYCLES))))


LEAVES_WORK = """
from grader.sandbox.bench import Bench
asked = Bench.answer
def answer(self, request):
    found = asked(self, request)
    if "block" in request:
        torch.cuda._sleep(CYCLES)
    return found
Bench.answer = answer
"""


class NeverAtRest(Rest):
    """Does not look."""

    def wait(self, patience: float) -> float:  # noqa: ARG002
        """For nothing."""
        return 0.0


@pytest.mark.parametrize("looks", [True, False], ids=["as it is", "without the look"])
def test_work_that_is_left_on_the_device_is_paid_by_who_left_it(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, *, looks: bool
) -> None:
    if not looks:
        monkeypatch.setattr("grader.speed.timed_worker.Rest", NeverAtRest)
    baseline, student = begin(HEAVY, trusted=True), begin(HEAVY, leaves_work(5 if looks else 25))
    undisturbed = min(baseline.block(SECONDS).seconds for _ in range(3))
    left = student.block(SECONDS).seconds
    beside = baseline.block(SECONDS).seconds
    assert (left >= 4) == looks
    assert (beside < 8 * undisturbed) == looks


@pytest.fixture
def machine(sandbox: Sandbox) -> Iterator[Machine]:
    """The device, as small as a CPU."""
    with late_machine(sandbox) as found:
        yield found


def test_who_leaves_work_on_the_device_earns_nothing_and_it_is_not_the_machines_fault(machine: Machine) -> None:
    workload = course().workloads["linear_forward"]
    (row,) = grading.grade(machine, [workload], {workload.name: SOLUTION | leaves_work(20)})
    assert (row.outcome, row.score) == ("timed_out", 0), row


WAITING = Task("no_hidden_sync", "cuda", Size(batch=32, width=32, layers=2, rate=0.05), calls=figures.STEPS)
ASKS = slow_ones(list(course().katas.values()))["train/asks_for_every_loss"]


class CountsTheFirst(TimedWorker):
    """Does not do the block that does not count."""

    skipped = False

    def block(self, seconds: float) -> Done:
        """None, the first time."""
        if self.skipped:
            return super().block(seconds)
        self.skipped = True
        return Done(1.0, 0.0, Reply("returned"))


def test_a_host_that_runs_ahead_passes_and_one_that_reads_every_loss_does_not(begin: Begin) -> None:
    assert figures.lead_of_the_host(begin(WAITING)).ratio == 1
    assert figures.lead_of_the_host(begin(WAITING, ASKS.files())).ratio == 0


def test_the_first_block_loads_what_it_needs_which_waits_for_the_device(begin: Begin) -> None:
    assert figures.lead_of_the_host(begin(WAITING, kind=CountsTheFirst)).ratio == 0


def test_a_worker_is_gone_when_it_is_closed_and_so_is_what_it_has_queued(begin: Begin, sandbox: Sandbox) -> None:
    timed = begin(trusted=True)
    running = descendants(sandbox.process.pid)
    timed.close()
    assert len(running - descendants(sandbox.process.pid)) == 1


TRAINING = Task("peak_memory", "cuda", Size(batch=2048, width=128, layers=4, rate=0.05), calls=figures.STEPS)
KEEPS = slow_ones(list(course().katas.values()))["train/keeps_its_graphs"]


def test_the_most_that_a_students_tensors_hold_on_the_device_is_seen(begin: Begin) -> None:
    thresholds = course().workloads["peak_memory"].ratio["cuda"]
    assert figures.peak_of_the_device(begin(TRAINING)).ratio >= thresholds.full
    assert figures.peak_of_the_device(begin(TRAINING, KEEPS.files())).ratio < thresholds.passing


ASYNCHRONOUS = [
    "elsewhere/after_the_answer",
    "elsewhere/when_it_is_looked_at",
    "forged/answers_early",
    "forged/says_it_is_done",
]


@pytest.mark.parametrize("title", ASYNCHRONOUS)
def test_a_cheat_that_puts_work_off_is_wrong(machine: Machine, title: str) -> None:
    (cheat,) = [cheat for cheat in cheats(list(course().katas.values())) if cheat.title == title]
    assert outcome_of(machine, cheat.files(), cheat.slow.workload) == "wrong"
    assert float(outcome_of(machine, SOLUTION, cheat.slow.workload)) > 0


def test_a_block_that_memory_makes_too_short_is_done_again_on_new_inputs(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DEMANDS, "cuda", replace(DEMANDS["cpu"], block_seconds=0.5, least_seconds=0.2))
    monkeypatch.setattr(rates, "median", lambda trials: 0.0 * sum(trials) + 0.07)  # whatever else this machine does
    small = replace(machine, arena_bytes=2**24)
    task = rates.sized(small, course().workloads["sgd_step"])
    assert (task.calls, task.times) == (2, 3)
    timed = TimedWorker(machine.baseline, LIMITS, task, None, machine.accelerator)
    one_turn, turns, inputs = timed.turn, list[Done](), list[torch.Tensor]()

    def turn(seconds: float) -> Done:
        turns.append(one_turn(seconds))
        inputs.append(timed.memory["grad"].clone())
        return turns[-1]

    monkeypatch.setattr(timed, "turn", turn)
    try:
        done = timed.block(SECONDS)
    finally:
        timed.close()
    assert len(turns) == 3
    assert done.seconds == sum(turn.seconds for turn in turns)
    assert done.error == max(turn.error for turn in turns) <= 2 * timed.check.floor
    assert not any(torch.equal(one, other) for one, other in combinations(inputs, 2))
