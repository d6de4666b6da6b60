"""Properties of NAME."""

from hypothesis import given
from hypothesis import strategies as st

from reference.NAME import oracle
from torchkata import Student, assert_equal

ITEMS = st.lists(st.integers(-9, 9), max_size=8)
SEEDS = st.integers(0, 2**32 - 1)
MANY = 150  # seeds: correct code misses one of the six orders of three items with a probability of about 1e-11


@given(ITEMS, SEEDS)
def test_order_has_the_same_items(student: Student, items: list[int], seed: int) -> None:
    """NAME(items, seed) has the same items as `items`, each as often."""
    assert_equal(oracle.sort_items(student.call("NAME", items, seed)), oracle.sort_items(items))


@given(SEEDS)
def test_same_seed_gives_same_order(student: Student, seed: int) -> None:
    """Two calls with the same seed return the same order."""
    items = list(range(20))
    assert_equal(student.call("NAME", items, seed), student.call("NAME", items, seed))


def test_every_order_occurs(student: Student) -> None:
    """With many seeds, every order of three items occurs."""
    found = [student.call("NAME", [1, 2, 3], seed) for seed in range(MANY)]
    assert_equal(sorted(order for place, order in enumerate(found) if order not in found[:place]), oracle.list_orders([1, 2, 3]))
