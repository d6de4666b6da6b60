"""Records the Slurm jobs of a command in `DIR/.slurm/jobs.json`, so that they can be found after an interruption."""

import secrets
import shutil
from pathlib import Path

import msgspec

from grader.base.errors import CallError
from grader.base.files import write_whole
from grader.pipeline import seed
from grader.pipeline.queue import Queue
from grader.results.dependencies import digest

FOLDER = ".slurm"


class JobRecord(msgspec.Struct, frozen=True):
    """The record of one call of `grader grade` on the cluster.

    The name of the jobs is stored before sbatch is run, so that a later call can find every job.
    """

    call: str  # digest of the submissions and options
    name: str  # name of all its jobs in Slurm
    since_ns: int  # results stored before this time are graded again
    jobs: list[str] = []  # ids of its arrays
    began_ns: int = 0  # when the call began, by the file system's clock

    def folder(self, out: Path) -> Path:
        """Return the folder that contains the plans and logs of this call."""
        return out / FOLDER / self.name


def create(queue: Queue, earlier: JobRecord | None) -> JobRecord:
    """Create and store a record. If the same call was interrupted before, the new record continues the `earlier` one.

    Raises OSError if the record can't be written.
    """
    out, name = queue.options.out, f"torchkata-{secrets.token_hex(4)}"
    mark = out / FOLDER / name / "began"
    mark.parent.mkdir(parents=True)
    mark.touch()
    seed.store(out, queue.options.seed)
    began_ns = earlier.began_ns if earlier else mark.stat().st_mtime_ns
    since_ns = earlier.since_ns if earlier else began_ns if queue.options.again else 0
    record = JobRecord(digest_queue(queue), name, since_ns, began_ns=began_ns)
    store(record, out)
    return record


def store(record: JobRecord, out: Path) -> None:
    """Write a record atomically. Raises OSError if it can't be written."""
    write_whole(out / FOLDER / "jobs.json", msgspec.json.encode(record))


def load(out: Path) -> JobRecord | None:
    """Return the stored record, if any. Raises CallError if it can't be read, because its jobs may still be running."""
    path = out / FOLDER / "jobs.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=JobRecord)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise CallError(f"{path}: can't be read ({error}); remove it once no job writes to {out}") from None


def forget(out: Path) -> None:
    """Remove all plans and logs after everything has been graded."""
    shutil.rmtree(out / FOLDER, ignore_errors=True)


def digest_queue(queue: Queue) -> str:
    """Return a digest of everything that affects results: the submissions, the course and the options."""
    options = {name: getattr(queue.options, name) for name in ("again", "device", "keep")}
    places = [(entry.id, str(entry.path.absolute())) for entry in queue.entries]
    return digest(sorted(options.items()), queue.judges, places)
