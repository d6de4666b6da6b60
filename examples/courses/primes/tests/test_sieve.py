"""sieve: all primes below n."""

from hypothesis import given
from hypothesis import strategies as st

from reference.sieve import oracle
from torchkata import Student, assert_equal, call

SMALL_PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]
MANY = 100_000


@given(n=st.one_of(st.integers(-2, 30), st.integers(0, 3000)))
def test_the_primes_below_n_are_listed_in_order(student: Student, n: int) -> None:
    """sieve(n) is the list of all primes below n, in ascending order."""
    assert_equal(student.call(call, "sieve", "sieve", n), oracle.primes(n))


@given(prime=st.sampled_from(SMALL_PRIMES), above=st.integers(0, 1))
def test_a_prime_is_not_below_itself(student: Student, prime: int, above: int) -> None:
    """A prime p is missing from sieve(p), and the last of sieve(p + 1)."""
    assert_equal(student.call(call, "sieve", "sieve", prime + above), oracle.primes(prime + above))


@given(p=st.sampled_from(SMALL_PRIMES), q=st.sampled_from(SMALL_PRIMES))
def test_squares_and_products_of_primes_are_crossed_out(student: Student, p: int, q: int) -> None:
    """No product of two primes is listed, not even the square of the largest prime up to the root of n."""
    assert_equal(student.call(call, "sieve", "sieve", p * q + 1), oracle.primes(p * q + 1))


@given(n=st.one_of(st.integers(-3, 2), st.integers(-(10**12), 2)))
def test_below_two_there_are_none(student: Student, n: int) -> None:
    """For n up to 2, negative ones among them, the list is empty."""
    assert_equal(student.call(call, "sieve", "sieve", n), oracle.primes(n))


def test_a_hundred_thousand_numbers_are_sifted_in_time(student: Student) -> None:
    """The primes below 100 000 come within two seconds."""
    assert_equal(student.call(call, "sieve", "sieve", MANY), oracle.primes(MANY))
