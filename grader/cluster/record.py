"""`DIR/.slurm/jobs.json`: which jobs grade into DIR, so that the same command finds them again after it was stopped."""

import secrets
import shutil
from pathlib import Path

import msgspec

from grader.base.errors import CallError
from grader.pipeline import seed
from grader.pipeline.queue import Queue
from grader.results.dependencies import digest_call
from grader.results.result import write_whole

FOLDER = ".slurm"


class Record(msgspec.Struct, frozen=True):
    """A call of `grader grade` on the cluster. The name is stored before sbatch runs, so no job of it is ever lost."""

    call: str  # the digest of the submissions and options
    name: str  # that Slurm knows all its jobs by
    since_ns: int  # results from before are graded again
    jobs: list[str] = []  # the ids of its arrays

    def folder(self, out: Path) -> Path:
        """Where its plans and logs are."""
        return out / FOLDER / self.name


def begin(queue: Queue, earlier: Record | None) -> Record:
    """A new record, stored; it goes on where an `earlier` one of the same call stopped. Raises OSError."""
    out, name = queue.options.out, f"torchkata-{secrets.token_hex(4)}"
    mark = out / FOLDER / name / "began"
    mark.parent.mkdir(parents=True)
    mark.touch()
    seed.store(out, queue.options.grading.seed)
    since_ns = earlier.since_ns if earlier else mark.stat().st_mtime_ns if queue.options.force else 0
    record = Record(digest_of_call(queue), name, since_ns)
    store(record, out)
    return record


def store(record: Record, out: Path) -> None:
    """Write it, whole or not at all. Raises OSError."""
    write_whole(out / FOLDER / "jobs.json", msgspec.json.encode(record))


def load(out: Path) -> Record | None:
    """What is stored, if anything is. Raises CallError where it can't be read: its jobs may still run."""
    path = out / FOLDER / "jobs.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise CallError(f"{path}: can't be read ({error}); remove it once no job grades into {out}") from None


def forget(out: Path) -> None:
    """Nothing is left to be graded: plans and logs go."""
    shutil.rmtree(out / FOLDER, ignore_errors=True)


def digest_of_call(queue: Queue) -> str:
    """Return the same digest for the same submissions, course and options that results depend on."""
    options = {**msgspec.structs.asdict(queue.options.grading), "force": queue.options.force}
    return digest_call(options, [(entry.id, entry.path) for entry in queue.entries])
