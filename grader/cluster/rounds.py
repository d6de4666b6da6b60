"""`grader grade --slurm`: submits job arrays, waits for them, and resubmits ungraded submissions."""

import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
from rich.console import Console

from grader.base.errors import CallError, MachineError
from grader.base.files import clear_half_written, write_whole
from grader.base.progress import ProgressBar
from grader.base.text import count, list_names
from grader.cluster import job_record, slurm
from grader.cluster.chunk import BROKEN, UNFIT
from grader.cluster.job_record import JobRecord
from grader.cluster.options import GPU_OPTIONS, PHASES, Phase, SlurmOptions, parse
from grader.cluster.pending import find_pending
from grader.cluster.plan import compute_chunk_size, create_plan, estimate_seconds
from grader.cluster.slurm import Array, ListedTask, SqueueError, SubmitError
from grader.options import GradeOptions
from grader.pipeline.executor import Executor, RunOutcome, Warn
from grader.pipeline.queue import Queue

ROUNDS = 3  # maximum number of times that a submission is sent to the cluster
LOOK_SECONDS = (2.0, 30.0)  # minimum and maximum seconds between updates; Slurm lists finished tasks for longer
LOOK_SECONDS_EACH = 0.002  # additional seconds per submission, up to the maximum
SILENCE_SECONDS = 600.0  # maximum time for which squeue may fail
EXTRA_MINUTES = 10  # a task's time limit is three times the estimate plus this many minutes


def prepare(options: GradeOptions) -> Executor:
    """Return the executor. Raises CallError or MachineError if these options can't be used."""
    slurm_options = parse(options.slurm)
    slurm.demand_slurm()
    if "%" in str(options.out.absolute()):
        raise CallError(f"--out {options.out}: the path must not contain %, which Slurm expands")

    def grade(queue: Queue, out: Console, warn: Warn) -> RunOutcome:
        if options.device == "none" and slurm_options.speed.keys() & GPU_OPTIONS:
            warn("the GPU options have no effect: only speed tests use a GPU, and they do not run without --device")
        return ClusterRun(queue, slurm_options, out, warn).grade()

    return grade


class ClusterRun:
    """A run of the command: the pending submissions, the record of its jobs, and the nodes that can't grade."""

    def __init__(self, queue: Queue, slurm_options: SlurmOptions, out: Console, warn: Warn) -> None:
        self.queue = queue
        self.options = queue.options
        self.slurm_options = slurm_options
        self.out = out
        self.warn = warn
        self.reported: set[str] = set()  # arrays that have already been reported as finished

    def grade(self) -> RunOutcome:
        """Grade all pending submissions.

        Raises CallError (before anything is submitted) if the options or submissions can't be used, or MachineError if
        Slurm fails or a file can't be written.
        """
        earlier, jobs = self.find_earlier()
        self.pending = find_pending(self.queue, earlier.since_ns if earlier else 0)
        if earlier:
            self.pending.began_ns = earlier.began_ns
            self.pending.update()
        names, broken = list(self.pending.paths), list[str]()
        try:
            if earlier and jobs:
                self.record = earlier
                self.out.print(f"job {', '.join(earlier.jobs)} continues: {count(len(jobs), 'task')}")
            elif self.pending.left:
                self.record = job_record.create(self.queue, earlier)
                self.pending.since_ns, self.pending.began_ns = self.record.since_ns, self.record.began_ns
            if jobs or self.pending.left:
                self.run_rounds(attached=bool(jobs))
                broken = [*self.read_notes(BROKEN).values()]
        except OSError as error:
            raise MachineError(f"can't write to {self.options.out / job_record.FOLDER} ({error.strerror})") from None
        unstored = set(self.pending.tests) - self.pending.inconclusive
        outcome = RunOutcome([name for name in names if name not in unstored], self.pending.left, broken=broken)
        if not outcome.unsure:
            job_record.forget(self.options.out)
        clear_half_written(self.options.out)
        return outcome

    def find_earlier(self) -> tuple[JobRecord | None, list[ListedTask]]:
        """Return the record and the unfinished jobs of an earlier run of the same command that was interrupted.

        Raises CallError if jobs of a different command still write to the same directory.
        """
        stored = job_record.load(self.options.out)
        if stored is None:
            return None, []
        try:
            jobs = [job for job in slurm.list_jobs(stored.name).values() if not job.ended]
        except SqueueError as error:
            raise MachineError(f"can't query Slurm for its jobs: {error}") from None
        if stored.call == job_record.digest_queue(self.queue):
            return stored, jobs
        if jobs:
            raise CallError(
                f"--out {self.options.out}: jobs that another command submitted still write to it; cancel them with "
                f"scancel --name={stored.name}"
            )
        return None, []

    def run_rounds(self, *, attached: bool) -> None:
        """Submit jobs and wait for them, until nothing is pending or the maximum number of rounds is reached.

        Raises SubmitError if sbatch rejects an array, MachineError if squeue keeps failing, or OSError if a file can't
        be written.
        """
        for number in range(ROUNDS):
            if number or not attached:
                try:
                    self.submit(number)
                except SubmitError as error:
                    if not self.read_notes(UNFIT):
                        raise
                    self.warn(f"no suitable node is left for grading: {error}")
                    return
            ended = self.follow()
            if not self.pending.left or self.report_ended(ended):
                return

    def submit(self, number: int) -> None:
        """Submit pending tests, then pending speed jobs, which wait for the tests.

        Raises SubmitError if sbatch rejects an array, or OSError if a plan or the record can't be written.
        """
        before = ""
        for phase in PHASES:
            paths = self.pending.select_paths(phase)
            if paths:
                before = self.submit_phase(phase, paths, number, before)

    def submit_phase(self, phase: Phase, paths: Mapping[str, Path], number: int, before: str) -> str:
        """Submit an array and return its id."""
        options = replace(self.options, since_ns=self.record.since_ns, began_ns=self.record.began_ns)
        chosen = self.slurm_options.build_options(phase)
        each = estimate_seconds(phase, self.queue.katas, options) / self.slurm_options.count_at_once(phase)
        per_task = self.slurm_options.per_task
        size = compute_chunk_size(each, len(paths), options.jobs, slurm.read_array_limit(), per_task)
        if per_task is not None and size > per_task:
            self.warn(
                f"--slurm per-task={per_task} gives more tasks than this cluster allows in an array; using {size}"
            )
        plan = create_plan(phase, paths, options, size)
        folder = self.record.folder(self.options.out.absolute()) / f"{phase}-{number}-{time.time_ns()}"
        for notes in (UNFIT, BROKEN):
            (folder / notes).mkdir(parents=True)
        write_whole(folder / "plan.json", plan.encode())
        minutes = self.slurm_options.minutes.get(phase, round(3 * each * size / 60) + EXTRA_MINUTES)
        nodes = [name for name in (chosen.get("exclude"), *self.read_notes(UNFIT)) if name]
        if nodes:
            chosen["exclude"] = ",".join(nodes)
        tasks = len(plan.chunks)
        array = Array(self.record.name, folder / "plan.json", tasks, self.options.jobs, minutes, chosen, before)
        job = slurm.submit(array)
        self.record = msgspec.structs.replace(self.record, jobs=[*self.record.jobs, job])
        job_record.store(self.record, self.options.out)
        what = f"{phase} of {count(len(paths), 'submission')} in {count(tasks, 'task')}"
        self.out.print(f"job {job}: {what}, {self.options.jobs} at once")
        return job

    def follow(self) -> dict[str, ListedTask]:
        """Wait until all tasks have finished, then return the tasks that squeue has listed.

        Raises MachineError if squeue keeps failing.
        """
        heard = time.monotonic()
        jobs: dict[str, ListedTask] = {}
        settled = False
        with ProgressBar(self.out, len(self.pending.paths), "graded", speed_seconds=1800) as progress:
            while True:
                try:
                    jobs |= (now := slurm.list_jobs(self.record.name))
                    heard = time.monotonic()
                    over = all(job.ended for job in now.values())
                except SqueueError as error:
                    over = False
                    if time.monotonic() - heard > SILENCE_SECONDS:
                        raise MachineError(
                            f"can't query Slurm for its jobs, which may still be running: {error}"
                        ) from None
                self.pending.update()
                done = len(self.pending.paths) - len(self.pending.left)
                progress.draw(describe_progress(jobs.values(), len(self.pending.inconclusive)), completed=done)
                if over and (settled or not self.pending.left):
                    return jobs
                settled = over  # a result or a requeued task may become visible a moment later
                least, most = LOOK_SECONDS
                time.sleep(min(least + LOOK_SECONDS_EACH * len(self.pending.paths), most))

    def report_ended(self, jobs: dict[str, ListedTask]) -> bool:
        """Report failed tasks, cancelled tasks and nodes that can't grade. Return whether any task was cancelled."""
        latest = {id: job for id, job in jobs.items() if id.partition("_")[0] not in self.reported}
        self.reported |= {id.partition("_")[0] for id in latest}
        failed = [
            f"{id} on {job.node} {job.state}"
            for id, job in latest.items()
            if job.state not in ("COMPLETED", "CANCELLED")
        ]
        cancelled = [id for id, job in latest.items() if job.state == "CANCELLED"]
        where = self.record.folder(self.options.out)
        if failed:
            self.warn(f"failed tasks: {list_names(failed)} (logs in {where})")
        for node, why in self.read_notes(UNFIT).items():
            self.warn(f"{node} can't be used: {why}")
        if cancelled:
            self.warn(f"cancelled tasks: {list_names(cancelled)}")
        return bool(cancelled)

    def read_notes(self, kind: str) -> dict[str, str]:
        """Return the texts that tasks wrote: why a node can't grade, by its name, or how a test is broken."""
        notes = sorted(self.record.folder(self.options.out).glob(f"*/{kind}/*"))
        return {note.name: note.read_text("utf-8", "replace") for note in notes if not note.name.startswith(".")}


def describe_progress(jobs: Collection[ListedTask], inconclusive: int) -> str:
    """Return the number of pending, running and finished tasks, and the number of inconclusive submissions."""
    states = Counter("ended" if job.ended else "pending" if job.state == "PENDING" else "running" for job in jobs)
    parts = [f"{states[state]} {state}" for state in ("pending", "running", "ended") if states[state]]
    words = f"tasks: {', '.join(parts) or 'none'}"
    return f"{words}; {inconclusive} inconclusive" if inconclusive else words
