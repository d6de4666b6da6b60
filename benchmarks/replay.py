"""Check that replayed inputs do not change any grading result of the zoo.

    python -m benchmarks.replay [--examples N] [--jobs N] [--kata NAME]...

Each submission is graded twice: once with inputs drawn in advance and once with Hypothesis drawing them. Outcomes,
points, messages, diagnoses and source locations must be the same. The script also prints the total time of each method.
"""

import argparse
import re
import sys
import time

import msgspec

from grader.pipeline.collect import Tests
from grader.pipeline.job import Graded
from grader.pipeline.selection import choose
from grader.pipeline.session import grade
from grader.pipeline.setup import run_with_tests
from grader.proof.claims import Claim, make_claims
from grader.results.result import KataResult
from grader.sandbox.launch import Sandbox
from torchkata.pytest_plugin.run_state import get_state


def grade_claims(todo: list[Claim], tests: Tests, sandbox: Sandbox, jobs: int) -> dict[str, list[KataResult] | None]:
    """Grade the submissions and return their results by name."""
    events = grade((claim.job for claim in todo), tests, sandbox, jobs)
    return {event.job.submission.id: event.katas for event in events if isinstance(event, Graded)}


def drop_volatile(katas: list[KataResult] | None) -> object:
    """Return the results without times and without the names of temporary folders."""
    plain = msgspec.json.decode(re.sub(rb"/tmp/tmp\w+", b"/tmp/made", msgspec.json.encode(katas)))
    for test in (test for kata in plain or [] for test in kata["tests"]):
        del test["seconds"]
    return plain


def find_difference(replayed: object, drawn: object) -> str:
    """Return the first place at which the results differ, together with both values."""
    if isinstance(replayed, dict) and isinstance(drawn, dict):
        pairs = [(f"{key}: ", replayed[key], drawn[key]) for key in replayed]
    elif isinstance(replayed, list) and isinstance(drawn, list) and len(replayed) == len(drawn):
        pairs = [(f"{place}, ", *pair) for place, pair in enumerate(zip(replayed, drawn, strict=True))]
    else:
        return f"\n    replayed: {replayed}\n    drawn: {drawn}"
    name, one, other = next(pair for pair in pairs if pair[1] != pair[2])
    return name + find_difference(one, other)


def main() -> None:
    """Grade the zoo with and without replay and print the differences."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kata", action="append", default=[])
    options = parser.parse_args()
    katas = choose(options.kata)
    different = 0

    def compare(tests: Tests, sandbox: Sandbox) -> None:
        nonlocal different
        inputs, total, spent = get_state(tests.config).inputs, 0, [0.0, 0.0]
        for kata in katas:
            todo = [claim for claim in make_claims([kata], 1) if claim.kata == kata.name or len(katas) == 1]
            graded = []
            for turn, source in enumerate((inputs, None)):
                get_state(tests.config).inputs = source
                began = time.perf_counter()
                graded.append(grade_claims(todo, tests, sandbox, options.jobs))
                spent[turn] += time.perf_counter() - began
            total += len(todo)
            for name, results in graded[0].items():
                if (replayed := drop_volatile(results)) != (drawn := drop_volatile(graded[1][name])):
                    different += 1
                    print(f"DIFFERENT  {name}\n{find_difference(replayed, drawn)}", flush=True)
            print(f"{kata.name}: {len(todo)} compared, {spent[0]:.0f} s and {spent[1]:.0f} s so far", flush=True)
        print(f"{total} submissions, {different} different; {spent[0]:.0f} s replayed, {spent[1]:.0f} s drawn")

    run_with_tests("bwrap", options.examples, print, compare, profile="prove", katas=katas)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
