"""factorise: the prime factors of a number, with multiplicity."""

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from reference.factorise import oracle
from torchkata import Student, assert_equal, call

PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23]
LARGE_PRIMES = [997, 7919, 104_729, 1_299_709, 15_485_863, 179_424_673]


@given(n=st.one_of(st.integers(1, 50), st.integers(1, 10**6)))
def test_any_number_comes_apart(student: Student, n: int) -> None:
    """factorise(n) is the ascending list of the primes whose product is n."""
    assert_equal(student.call(call, "factorise", "factorise", n), oracle.factors(n))


@given(st.lists(st.sampled_from(PRIMES), max_size=7))
def test_products_of_primes_give_them_back(student: Student, primes: list[int]) -> None:
    """The product of up to seven primes, in any order, comes apart into them in ascending order."""
    assert_equal(student.call(call, "factorise", "factorise", prod(primes)), oracle.factors(prod(primes)))


@given(prime=st.sampled_from([*PRIMES, *LARGE_PRIMES]))
def test_a_prime_is_its_only_factor(student: Student, prime: int) -> None:
    """A prime is the one prime factor of itself."""
    assert_equal(student.call(call, "factorise", "factorise", prime), oracle.factors(prime))


@given(prime=st.sampled_from(PRIMES), exponent=st.integers(2, 7))
def test_powers_repeat_their_prime(student: Student, prime: int, exponent: int) -> None:
    """p to the power of k is p, k times; the square of a prime, too."""
    assert_equal(student.call(call, "factorise", "factorise", prime**exponent), oracle.factors(prime**exponent))


@given(small=st.lists(st.sampled_from(PRIMES[:4]), max_size=2), large=st.sampled_from(LARGE_PRIMES))
def test_a_large_prime_may_be_left(student: Student, small: list[int], large: int) -> None:
    """One prime factor may be above the square root of n, and is the last."""
    assert_equal(student.call(call, "factorise", "factorise", prod(small) * large), oracle.factors(prod(small) * large))


def test_one_has_no_factors(student: Student) -> None:
    """factorise(1) is the empty list: the product of no primes."""
    assert_equal(student.call(call, "factorise", "factorise", 1), oracle.factors(1))
