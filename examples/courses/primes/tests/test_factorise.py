"""factorise: the prime factors of a number, with multiplicity."""

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from reference.factorise import oracle
from torchkata import Student, assert_equal

PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23]
LARGE_PRIMES = [997, 7919, 104_729, 1_299_709, 15_485_863, 179_424_673]


@given(n=st.one_of(st.integers(1, 50), st.integers(1, 10**6)))
def test_factors_multiply_to_n(student: Student, n: int) -> None:
    """factorise(n) is the ascending list of the primes whose product is n."""
    assert_equal(student.call("factorise", n), oracle.factors(n))


@given(st.lists(st.sampled_from(PRIMES), max_size=7))
def test_factors_are_in_ascending_order(student: Student, primes: list[int]) -> None:
    """The factors of a product of primes are these primes in ascending order."""
    assert_equal(student.call("factorise", prod(primes)), oracle.factors(prod(primes)))


@given(prime=st.sampled_from([*PRIMES, *LARGE_PRIMES]))
def test_prime_has_only_itself_as_factor(student: Student, prime: int) -> None:
    """The only prime factor of a prime is the prime itself."""
    assert_equal(student.call("factorise", prime), oracle.factors(prime))


@given(prime=st.sampled_from(PRIMES), exponent=st.integers(2, 7))
def test_prime_powers_repeat_the_prime(student: Student, prime: int, exponent: int) -> None:
    """The factors of p ** k are k copies of p."""
    assert_equal(student.call("factorise", prime**exponent), oracle.factors(prime**exponent))


@given(small=st.lists(st.sampled_from(PRIMES[:4]), max_size=2), large=st.sampled_from(LARGE_PRIMES))
def test_large_prime_factor_is_listed(student: Student, small: list[int], large: int) -> None:
    """A prime factor above the square root of n is listed last."""
    assert_equal(student.call("factorise", prod(small) * large), oracle.factors(prod(small) * large))


def test_one_has_no_factors(student: Student) -> None:
    """factorise(1) is the empty list, because 1 is the product of no primes."""
    assert_equal(student.call("factorise", 1), oracle.factors(1))
