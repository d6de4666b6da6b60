"""Draws the inputs of tests before there is anything to grade: for a package, and for the image that it is used in.

    python -m grader.pipeline.draw [--seed N] [--examples N] [--course DIR] [--kata NAME]...

keeps them where `grader grade` looks for them, and prints their paths there.
"""

import argparse
from pathlib import Path

from grader.pipeline.collect import Tests, with_tests
from grader.pipeline.drawn import DrawnInputs, kept_in, path_of
from grader.pipeline.wanted import choose
from torchkata.course import use


def main() -> None:
    """As typed."""
    parser = argparse.ArgumentParser(
        prog="python -m grader.pipeline.draw", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--course", type=Path, default=Path.cwd())
    parser.add_argument("--kata", action="append", default=[])
    asked = parser.parse_args()
    use(asked.course)

    def draw(tests: Tests) -> None:
        inputs = DrawnInputs(kept_in())
        for item in (item for items in tests.items.values() for item in items.values()):
            if hasattr(item.obj, "hypothesis"):
                inputs.given(item, asked.seed)
                print(path_of(item, asked.seed).as_posix())

    with_tests(draw, asked.examples, "grade", choose(asked.kata))


if __name__ == "__main__":
    main()
