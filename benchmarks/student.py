"""How long a student waits, in multiples of `import torch`. Run: python -m benchmarks.student"""

from benchmarks.timing import seconds, table

REPEATS = 5


def main() -> None:
    """Measure and print."""
    for command in (("-c", "import torch"), ("-m", "pytest", "--impl", "solution")):
        seconds(*command)  # files from disk, byte code written
    base = seconds("-c", "import torch", repeats=REPEATS)
    solution = ("-m", "pytest", "--impl", "solution")
    runs = {
        "pytest on untouched stubs": (seconds("-m", "pytest", repeats=REPEATS, code=1), 2.5),
        "pytest --kata linear": (seconds(*solution, "--kata", "linear", repeats=REPEATS), 2.5),
        "all katas, 25 examples": (seconds(*solution, repeats=REPEATS), 4.0),
        "all katas, 100 examples": (seconds(*solution, "--hypothesis-profile", "grade", repeats=3), 6.0),
    }
    rows = [("cold, median", "seconds", "÷ import torch"), ("import torch", f"{base:.2f}", "1.0")]
    rows += [(name, f"{taken:.2f}", f"{taken / base:.1f}  (aim ≤ {aim:g})") for name, (taken, aim) in runs.items()]
    table(rows)


if __name__ == "__main__":
    main()
