"""sieve: all primes below n."""

from hypothesis import given
from hypothesis import strategies as st

from reference.sieve import oracle
from torchkata import Student, assert_equal

SMALL_PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]
MANY = 100_000


@given(n=st.one_of(st.integers(-2, 30), st.integers(0, 3000)))
def test_primes_are_listed_in_order(student: Student, n: int) -> None:
    """sieve(n) is the list of all primes below n, in ascending order."""
    assert_equal(student.call("sieve", n), oracle.primes(n))


@given(prime=st.sampled_from(SMALL_PRIMES), above=st.integers(0, 1))
def test_upper_bound_is_exclusive(student: Student, prime: int, above: int) -> None:
    """A prime p is not in sieve(p), and is the last element of sieve(p + 1)."""
    assert_equal(student.call("sieve", prime + above), oracle.primes(prime + above))


@given(p=st.sampled_from(SMALL_PRIMES), q=st.sampled_from(SMALL_PRIMES))
def test_products_of_primes_are_not_listed(student: Student, p: int, q: int) -> None:
    """Products of two primes are not listed, including squares."""
    assert_equal(student.call("sieve", p * q + 1), oracle.primes(p * q + 1))


@given(n=st.one_of(st.integers(-3, 2), st.integers(-(10**12), 2)))
def test_there_are_no_primes_below_two(student: Student, n: int) -> None:
    """For n up to 2, including negative n, the list is empty."""
    assert_equal(student.call("sieve", n), oracle.primes(n))


def test_sieve_is_fast_enough(student: Student) -> None:
    """sieve(100_000) takes less than two seconds."""
    assert_equal(student.call("sieve", MANY), oracle.primes(MANY))
