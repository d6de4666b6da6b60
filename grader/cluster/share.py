"""Grades one share of a directory of submissions, as a pod of a Kubernetes Indexed Job does: every N-th of them.

Run by the manifest of `grader package kubernetes`: python -m grader.cluster.share SUBMISSIONS --out DIR --of N
"""

import argparse
import os
import sys
from pathlib import Path

from grader.cluster.chunk import grade_chunk, warn
from grader.course.intake import Options
from grader.course.roster import roster
from grader.errors import GraderError
from grader.wanted import wanted

INDEX = "JOB_COMPLETION_INDEX"  # set by Kubernetes in each pod


def main() -> int:
    """Grade a share; 0 if all of it is graded, 3 if it has to be tried again, 2 if the call is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submissions", type=Path, metavar="SUBMISSIONS")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--of", type=int, required=True, metavar="N", help="how many shares there are")
    parser.add_argument("--index", type=int, default=os.environ.get(INDEX), metavar="I", help=f"{INDEX} if not said")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--kata", action="append", default=[], metavar="NAME")
    given = parser.parse_args()
    if given.index is None or not 0 <= given.index < given.of:
        parser.error(f"the index has to be from 0 to {given.of - 1}, and is {given.index}")
    options = Options(
        out=given.out,
        jobs=1,
        seed=given.seed,
        examples=given.examples,
        isolation="bwrap",
        katas=wanted(given.kata, ()),
        force=False,
        quiet=True,
        alone=False,
    )
    try:
        entries, refused = roster(sorted(path for path in given.submissions.iterdir() if path.name[0] != "."))
    except (OSError, GraderError) as error:
        parser.error(str(error))
    for line in refused if given.index == 0 else []:
        warn(line)
    share = entries[given.index :: given.of]
    if not share:
        return 0
    done = grade_chunk("tests", share, options)
    for line in filter(None, (done.unfit, f"could not be graded: {', '.join(done.unsure)}" if done.unsure else "")):
        warn(line)
    return 3 if done.unfit or done.unsure else 0


if __name__ == "__main__":
    sys.exit(main())
