"""What comes of handing something in: the submission or the refusal, and what it took the grader to read it."""

import time
import tracemalloc
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.pipeline.archives import SubmissionError
from grader.pipeline.submission import Submission, read
from grader.proof.archive import Archive, Builder

READ_SECONDS, READ_MIB = 5.0, 256.0  # of a processor, which a busy machine does not stretch; no archive may take more


@dataclass(frozen=True)
class Received:
    """Something that was handed in, as the grader has it."""

    submission: Submission | None
    refusal: str = ""  # the reader's words, where there is no submission
    problem: str = ""  # what reading it did that it must not do


def receive(name: str, build: Builder, file: str, files: Mapping[str, bytes], folder: Path) -> Received:
    """Build an archive a few folders deep in `folder`, and read it as the grader does."""
    deep = folder / "class/of/2026"
    deep.mkdir(parents=True)
    path = build(Archive(deep, file, files))
    before = set(folder.rglob("*"))
    submission, refusal = None, ""
    tracemalloc.start()
    began = time.process_time()
    try:
        submission = Submission(name, read(path).files)
    except SubmissionError as error:
        refusal = str(error)
    finally:
        seconds = time.process_time() - began
        peak_mib = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    escaped = sorted(str(path.relative_to(folder)) for path in set(folder.rglob("*")) - before)
    problems = [
        f"reading it took {seconds:.0f} seconds" if seconds > READ_SECONDS else "",
        f"reading it took {peak_mib:.0f} MiB" if peak_mib > READ_MIB else "",
        f"reading it wrote {', '.join(escaped)}" if escaped else "",
    ]
    return Received(submission, refusal, "; ".join(filter(None, problems)))
