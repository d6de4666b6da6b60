"""Divides a kata's points among its tests.

Half of the points belong to the central tests, a tenth to the conventions, and the rest to the essential tests. If a
list is empty, the others get its share in proportion. Within a list, all tests are worth the same.

Points are rounded to quarters that add up to the kata's weight: each test gets its share rounded down, and the quarters
that remain go to the tests with the largest remainders, one each, in the order of `kata.toml`. If a test would get
nothing, all points are rounded to eighths instead, or to sixteenths, and so on.
"""

from collections.abc import Mapping, Sequence

from .model import Level

TENTHS: dict[Level, int] = {"central": 5, "essential": 4, "conventions": 1}  # of a kata's points, by list


def divide_points(weight: int, tests: Mapping[Level, Sequence[str]]) -> dict[str, float]:
    """Return the points of each test, in the order of the lists.

    Args:
        weight: The kata's points.
        tests: The names of its tests by list; the lists are the keys of `TENTHS`.
    """
    total = sum(tenths for name, tenths in TENTHS.items() if tests.get(name))
    parts = {test: (TENTHS[name], total * len(tests[name])) for name in TENTHS for test in tests.get(name, ())}
    units = 4 * weight  # quarters
    while True:
        exact = {test: divmod(units * tenths, divisor) for test, (tenths, divisor) in parts.items()}
        counts = {test: whole for test, (whole, _) in exact.items()}
        largest = sorted(parts, key=lambda test: -exact[test][1] / parts[test][1])
        for test in largest[: units - sum(counts.values())]:
            counts[test] += 1
        if all(counts.values()):
            return {test: count * weight / units for test, count in counts.items()}
        units *= 2
