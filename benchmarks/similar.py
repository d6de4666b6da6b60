"""Copies that hide where they come from, in a large class: does `grader similar` put them first, and how fast.

Run: python -m benchmarks.similar [--submissions N] [--copies C] [--first M] [--track NAME] [--keep DIR]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import ROOT
from benchmarks.timing import ENVIRONMENT, table
from grader.output.page.similar import PAGE, TABLE
from grader.tests.made_sources import hand_in, made_class, pairs_of
from torchkata.course import course

AIM_SECONDS = 60
HASH_SEEDS = ("0", "1")


def measure(paths: Sequence[Path], out: Path, seed: str, arguments: argparse.Namespace) -> float:
    """Run it; the seconds. Raises CalledProcessError."""
    options = ["--out", out, "--pairs", str(arguments.first), "--track", arguments.track]
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "grader", "similar", *paths, *options],
        cwd=ROOT,
        env={**ENVIRONMENT, "PYTHONHASHSEED": seed},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - began


def main() -> None:
    """Make the class, compare it under two hash seeds, print; fails where a copy is missing or a list differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=500, metavar="N")
    parser.add_argument("--copies", type=int, default=25, metavar="C")
    parser.add_argument("--first", type=int, default=40, metavar="M")
    parser.add_argument("--track", default="core", metavar="NAME")
    parser.add_argument("--keep", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    katas = course().choose([], [arguments.track])
    made = made_class(katas, arguments.submissions, arguments.copies)
    with tempfile.TemporaryDirectory() as folder:
        paths = hand_in(made, Path(folder, "class"))
        outs = [(arguments.keep or Path(folder)) / f"out{seed}" for seed in HASH_SEEDS]
        seconds = [measure(paths, out, seed, arguments) for seed, out in zip(HASH_SEEDS, outs, strict=True)]
        found = pairs_of(outs[0] / TABLE)
        same = all((outs[0] / name).read_bytes() == (outs[1] / name).read_bytes() for name in (PAGE, TABLE))
    places = [place for place, pair in enumerate(found, start=1) if pair in made.copies]
    table(
        [
            (f"{arguments.submissions} submissions, {len(katas)} katas", "", f"{os.cpu_count()} cores"),
            ("disguised copies", f"{len(places)} of {len(made.copies)}", f"among the first {arguments.first} pairs"),
            ("the last of them", f"{max(places, default=0)}", "its place"),
            ("seconds", f"{max(seconds):.1f}", f"aim ≤ {AIM_SECONDS}"),
            ("page and table", "the same" if same else "DIFFERENT", "under another PYTHONHASHSEED"),
        ]
    )
    if len(places) < len(made.copies) or not same:
        sys.exit(1)


if __name__ == "__main__":
    main()
