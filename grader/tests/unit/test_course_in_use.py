"""What a process remembers of a course is that course's."""

from grader.tests.support.submissions import PRIMES
from torchkata.course import cached_by_course, course, use


def test_what_is_remembered_of_a_course_is_not_said_of_another() -> None:
    asked: list[str] = []

    @cached_by_course
    def title() -> str:
        asked.append(course().title)
        return course().title

    here = course().root
    try:
        said = []
        for root in (here, PRIMES, here):
            use(root)
            said.append(title())
    finally:
        use(here)
    assert said == [asked[0], asked[1], asked[0]]
    assert len(asked) == len({*asked}) == 2
