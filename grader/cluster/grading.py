"""`grader grade --executor slurm`: plans arrays, submits them, watches, and plans again what did not come back."""

import time
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import msgspec
from rich.console import Console

from grader.base.cleanup import clear_half_written
from grader.base.errors import CallError, MachineError
from grader.base.progress import ProgressBar
from grader.cluster import record, slurm
from grader.cluster.chunk import UNFIT
from grader.cluster.options import OF_A_GPU, PHASES, Phase, SlurmOptions, parse
from grader.cluster.pending import pending
from grader.cluster.plan import plan, seconds_each, size_of_chunks
from grader.cluster.record import Record
from grader.cluster.slurm import Array, Job, SqueueError, SubmitError
from grader.pipeline.executor import Executor, ProgressListener, RunOutcome, Warn
from grader.pipeline.queue import Options, Queue
from grader.results.result import write_whole

ROUNDS = 3  # how often what did not come back is submitted
LOOK_SECONDS = 2.0  # between two looks, and more in a large class:
LOOK_SECONDS_EACH = 0.002  # for each submission that is pending
SILENCE_SECONDS = 600.0  # for which squeue may fail
EXTRA_MINUTES = 10  # of a task's time, beyond three times what its submissions should take


class Slurm(Executor):
    """Grades in arrays of jobs."""

    def __init__(self, options: Options) -> None:
        """Raises CallError and MachineError where these options can't be had."""
        self.asked = parse(options.slurm)
        slurm.demand_slurm()
        if "%" in str(options.out.absolute()):
            raise CallError(f"--out {options.out}: Slurm takes a % in a path for something else")

    def grade(self, queue: Queue, out: Console, warn: Warn, live: ProgressListener | None) -> RunOutcome:  # noqa: ARG002
        """Nobody follows a single submission on a cluster."""
        if queue.options.grading.device == "none" and self.asked.speed.keys() & OF_A_GPU:
            warn("no GPU is asked for: tests take none, and without --device nothing is timed")
        return Run(queue, self.asked, out, warn).grade()


class Run:
    """One call: what is pending, the record of its jobs, and the nodes that turned out to be unfit."""

    def __init__(self, queue: Queue, asked: SlurmOptions, out: Console, warn: Warn) -> None:
        self.queue = queue
        self.options = queue.options
        self.asked = asked
        self.out = out
        self.warn = warn
        self.told: set[str] = set()  # the arrays of whose end the instructor has read

    def grade(self) -> RunOutcome:
        """Do all of it. Raises CallError before anything is submitted, and MachineError."""
        earlier, jobs = self.earlier()
        self.pending = pending(self.queue, earlier.since_ns if earlier else 0)
        if earlier:
            self.pending.look()
        wanted = list(self.pending.paths)
        try:
            if earlier and jobs:
                self.record = earlier
                self.out.print(f"job {', '.join(earlier.jobs)} goes on: {len(jobs)} tasks", markup=False)
            elif self.pending.left:
                self.record = record.begin(self.queue, earlier)
                self.pending.since_ns = self.record.since_ns
            if jobs or self.pending.left:
                self.rounds(attached=bool(jobs))
        except OSError as error:
            raise MachineError(f"can't write in {self.options.out / record.FOLDER} ({error.strerror})") from None
        unstored = set(self.pending.tests) - self.pending.inconclusive
        outcome = RunOutcome([name for name in wanted if name not in unstored], self.pending.left)
        if not outcome.unsure:
            record.forget(self.options.out)
        clear_half_written(self.options.out)
        return outcome

    def earlier(self) -> tuple[Record | None, list[Job]]:
        """The record of the same call, if it was stopped, and its jobs that live. Raises CallError if another's do."""
        stored = record.load(self.options.out)
        if stored is None:
            return None, []
        try:
            jobs = slurm.alive(slurm.jobs_called(stored.name).values())
        except SqueueError as error:
            raise MachineError(f"can't ask Slurm for its jobs: {error}") from None
        if stored.call == record.digest_of_call(self.queue):
            return stored, jobs
        if jobs:
            raise CallError(
                f"--out {self.options.out}: jobs of another call still grade into it (scancel --name={stored.name} "
                "ends them)"
            )
        return None, []

    def rounds(self, *, attached: bool) -> None:
        """Submit what is left and wait for it, several times if need be. Raises SubmitError, MachineError, OSError."""
        for number in range(ROUNDS):
            if number or not attached:
                try:
                    self.submit(number)
                except SubmitError as error:
                    if not self.unfit():
                        raise
                    self.warn(f"no other node is left to grade on: {error}")
                    return
            ended = self.follow()
            if not self.pending.left or self.tell_of(ended):
                return

    def submit(self, number: int) -> None:
        """Plan and submit the tests, and after them the speed. Raises SubmitError and OSError."""
        before = ""
        for phase in PHASES:
            paths = self.pending.of(phase)
            if paths:
                before = self.submit_phase(phase, paths, number, before)

    def submit_phase(self, phase: Phase, paths: list[Path], number: int, before: str) -> str:
        """Submit one array; its id."""
        options = replace(self.options, since_ns=self.record.since_ns)
        each = seconds_each(phase, self.queue.katas, options)
        size = size_of_chunks(each, len(paths), options)
        made = plan(phase, paths, options, size)
        folder = self.record.folder(self.options.out.absolute()) / f"{phase}-{number}-{time.time_ns()}"
        (folder / UNFIT).mkdir(parents=True)
        write_whole(folder / "plan.json", msgspec.json.encode(made))
        minutes = self.asked.minutes.get(phase, round(3 * each * size / 60) + EXTRA_MINUTES)
        chosen = dict(self.asked.of(phase))
        nodes = [name for name in (chosen.get("exclude"), *self.unfit()) if name]
        if nodes:
            chosen["exclude"] = ",".join(nodes)
        tasks = len(made.chunks)
        array = Array(self.record.name, folder / "plan.json", tasks, self.options.jobs, minutes, chosen, before)
        job = slurm.submit(array)
        self.record = msgspec.structs.replace(self.record, jobs=[*self.record.jobs, job])
        record.store(self.record, self.options.out)
        self.out.print(
            f"job {job}: {phase} of {len(paths)} submissions in {tasks} tasks, {self.options.jobs} at once",
            markup=False,
        )
        return job

    def follow(self) -> dict[str, Job]:
        """Watch until no task lives; all tasks that squeue has told of. Raises MachineError."""
        heard = time.monotonic()
        jobs: dict[str, Job] = {}
        settled = False
        with ProgressBar(self.out, len(self.pending.paths), "graded", speed_seconds=1800) as progress:
            while True:
                try:
                    jobs |= (now := slurm.jobs_called(self.record.name))
                    heard = time.monotonic()
                    over = not slurm.alive(now.values())
                except SqueueError as error:
                    over = False
                    if time.monotonic() - heard > SILENCE_SECONDS:
                        raise MachineError(f"can't ask Slurm for its jobs, which may go on: {error}") from None
                self.pending.look()
                done = len(self.pending.paths) - len(self.pending.left)
                progress.draw(described(jobs.values(), len(self.pending.inconclusive)), completed=done)
                if over and (settled or not self.pending.left):
                    return jobs
                settled = over  # a result, or a task that is queued again, may be seen a moment late
                time.sleep(LOOK_SECONDS + LOOK_SECONDS_EACH * len(self.pending.left))

    def tell_of(self, jobs: dict[str, Job]) -> bool:
        """Say which tasks failed or were cancelled, and which nodes are unfit; whether somebody wants no more."""
        latest = {id: job for id, job in jobs.items() if id.partition("_")[0] not in self.told}
        self.told |= {id.partition("_")[0] for id in latest}
        failed = [
            f"{id} on {job.node} {job.state}"
            for id, job in latest.items()
            if job.state not in ("COMPLETED", "CANCELLED")
        ]
        cancelled = [id for id, job in latest.items() if job.state == "CANCELLED"]
        where = self.record.folder(self.options.out)
        if failed:
            self.warn(f"tasks that failed: {', '.join(failed)} (logs in {where})")
        for node, why in self.unfit().items():
            self.warn(f"{node} is unfit: {why}")
        if cancelled:
            self.warn(f"tasks that were cancelled: {', '.join(cancelled)}")
        return bool(cancelled)

    def unfit(self) -> dict[str, str]:
        """The nodes whose tasks could not grade, and why."""
        notes = sorted(self.record.folder(self.options.out).glob(f"*/{UNFIT}/*"))
        return {note.name: note.read_text("utf-8", "replace") for note in notes if not note.name.startswith(".")}


def described(jobs: Collection[Job], inconclusive: int) -> str:
    """How many tasks wait, run and have ended, and how many submissions came out inconclusive."""
    states = Counter("ended" if job.ended else "pending" if job.state == "PENDING" else "running" for job in jobs)
    parts = [f"{states[state]} {state}" for state in ("pending", "running", "ended") if states[state]]
    words = f"tasks: {', '.join(parts) or 'none'}"
    return f"{words}; {inconclusive} inconclusive" if inconclusive else words
