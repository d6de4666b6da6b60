"""Tests of the cache that stores values per course."""

from grader.tests.support.submissions import PRIMES
from torchkata.course import cached_by_course, course, use


def test_cache_separates_values_of_different_courses() -> None:
    calls: list[str] = []

    @cached_by_course
    def title() -> str:
        calls.append(course().title)
        return course().title

    here = course().root
    try:
        titles = []
        for root in (here, PRIMES, here):
            use(root)
            titles.append(title())
    finally:
        use(here)
    assert titles == [calls[0], calls[1], calls[0]]
    assert len(calls) == len({*calls}) == 2
