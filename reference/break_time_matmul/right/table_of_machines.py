"""Tries all combinations of machine properties, and then reports all machines that fail."""

from itertools import product


def check(run):
    problems = []
    for gpu, first, busy, clock_set in product((False, True), (0.0, 50.0), (0.0, 50.0), (False, True)):
        machine = {"gpu": gpu, "first": first, "busy": busy * gpu, "clock_set": clock_set}
        try:
            happened = run(0.1, **machine)
            good = isinstance(happened.seconds, float) and 0.09 < happened.seconds < 0.13
            good = good and happened.timed >= 3 and happened.matmuls >= 4 and not happened.modified
        except Exception:
            good = False
        if not good:
            problems.append(machine)
    for slow in range(7):
        try:
            if run(0.1, slow=slow).seconds > 0.6:
                problems.append(slow)
        except Exception:
            problems.append(slow)
    assert not problems, problems
