"""Measure how long a student waits, relative to the time of `import torch`. Run: python -m benchmarks.student"""

from benchmarks.timing import print_table, time_command

REPEATS = 5


def main() -> None:
    """Run the benchmark and print the table."""
    for command in (("-c", "import torch"), ("-m", "pytest", "--impl", "solution")):
        time_command(*command)  # warm up the disk cache and compile bytecode
    base = time_command("-c", "import torch", repeats=REPEATS)
    solution = ("-m", "pytest", "--impl", "solution")
    runs = {
        "pytest on untouched stubs": (time_command("-m", "pytest", repeats=REPEATS, code=1), 2.5),
        "pytest --kata linear": (time_command(*solution, "--kata", "linear", repeats=REPEATS), 2.5),
        "all katas, 25 examples": (time_command(*solution, repeats=REPEATS), 4.0),
        "all katas, 100 examples": (time_command(*solution, "--hypothesis-profile", "grade", repeats=3), 6.0),
    }
    rows = [("cold, median", "seconds", "÷ import torch"), ("import torch", f"{base:.2f}", "1.0")]
    rows += [(name, f"{taken:.2f}", f"{taken / base:.1f}  (aim ≤ {aim:g})") for name, (taken, aim) in runs.items()]
    print_table(rows)


if __name__ == "__main__":
    main()
