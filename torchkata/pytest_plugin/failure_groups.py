"""Groups the failures of a kata. Tests that fail for the same reason form a block; the clearest block comes first."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import dropwhile, takewhile

from torchkata.course import Kata
from torchkata.i18n import _, format_label
from torchkata.result import FAILED, UNUSABLE, TestResult

MAX_NAMES = 4  # maximum number of additional tests listed in a block


@dataclass(frozen=True)
class FailureGroup:
    """Tests that failed for the same reason.

    The report shows the message of the first test and the names of the others.
    """

    tests: tuple[TestResult, ...]
    waits: bool = False  # whether a precondition of the tests failed and another block gives the reason


def group_failures(results: Sequence[TestResult]) -> list[FailureGroup]:
    """Group the tests that did not pass by their cause: the most frequent mistake first, failed preconditions last.

    A test whose precondition failed waits for other failures, unless it alone names a mistake.
    """
    named = dict.fromkeys(result.diagnosis for result in results if result.diagnosis)
    met = [result for result in results if not is_unmet(result)]
    own = {sentence for result in met for sentence in (result.diagnosis, *result.explained_by) if sentence}
    known: Collection[str] = own if any(result.diagnosis for result in met) else named
    seen = {get_cause(result, named) for result in met if result.outcome in FAILED}
    unmet = [result for result in results if is_unmet(result) and get_cause(result, named) not in seen]
    stuck = [result for result in unmet if get_explanation(result, known) not in known]
    if not any(result.outcome in FAILED and result not in stuck for result in results):
        stuck = []
    causes: dict[str, list[TestResult]] = {}
    for result in sorted(results, key=partial(rank_clarity, named=named)):
        if result.outcome != "passed" and result not in stuck:
            causes.setdefault(get_cause(result, named), []).append(result)
    for group in causes.values():  # a crash at the same line is clearest with the shortest input
        if group[0].outcome == "crashed":
            group.sort(key=lambda result: (is_unmet(result), len(result.message)))
    most = sorted(causes.values(), key=lambda group: -len(group) if group[0].diagnosis else 0)
    return [FailureGroup(tuple(group)) for group in most] + [FailureGroup(tuple(stuck), waits=True)] * bool(stuck)


def rank_clarity(result: TestResult, named: Collection[str]) -> tuple[bool, ...]:
    """Return a sort key: known mistakes, other diagnoses, wrong answers, crashes.

    A crash without a diagnosis may be the consequence of a wrong call by another function of the student's.
    """
    own, shared = result.diagnosis, get_explanation(result, named)
    is_unclear = result.outcome == "crashed" and not own
    return is_unclear, not own, own not in result.explained_by, own != shared, is_unmet(result)


def get_cause(result: TestResult, named: Collection[str]) -> str:
    """Return the mistake, or else the line and type of the error, or a pattern in the answers, or the message."""
    between_claim_and_command = "\n".join(result.message.splitlines()[1:-1])
    cause = result.cause.removeprefix(UNUSABLE)
    seen = f"{result.outcome} {cause or between_claim_and_command or result.name}"
    return get_explanation(result, named) or seen


def get_explanation(result: TestResult, named: Collection[str]) -> str:
    """Return a diagnosis in `named` that also explains this result, or else the result's own diagnosis."""
    return next((sentence for sentence in result.explained_by if sentence in named), "") or result.diagnosis or ""


def is_unmet(result: TestResult) -> bool:
    """Return whether the test failed because a precondition does not hold."""
    return result.outcome in FAILED and result.cause.startswith(UNUSABLE)


def render_block(
    kata: Kata, block: FailureGroup, above: FailureGroup | None = None, *, is_repeated: bool = False
) -> list[str]:
    """Return the lines of a block: the message of the first test, and the names of the others.

    A long input that is also that of the block `above` is not repeated. If the whole message `is_repeated`, because it
    was shown during the run, the lines only refer to it.
    """
    names = [test.name for test in block.tests]
    if block.waits:
        return [_("{kata} · skipped until the failure above is fixed: {tests}", kata=kata.name, tests=", ".join(names))]
    heading, *lines = block.tests[0].message.splitlines()
    heading = heading.replace(_("cannot be tested yet: {claim}", claim=""), "", 1)  # no other failure says why
    given = find_input(block)
    if len(given) > 1 and above and given == find_input(above):
        place = lines.index(given[0])
        lines[place : place + len(given)] = [format_label(_("input"), _("as above"))]
    others, more = names[1:], ""
    if len(names) == len(kata.points) > 1:
        heading, others = _("{kata} · all {count} tests fail in the same way", kata=kata.name, count=len(names)), []
    if is_repeated:
        heading, lines = _("{heading} (see above)", heading=heading), []
    if len(others) > MAX_NAMES:
        others, more = others[: MAX_NAMES - 1], _(" and {count} more", count=len(others) - MAX_NAMES + 1)
    return [heading, *lines] + [_("  same failure in: {tests}", tests=", ".join(others) + more)] * bool(others)


def find_input(block: FailureGroup) -> list[str]:
    """Return the lines of the block's message that show the input."""
    label, continued = (format_label(text, "") for text in (_("input"), ""))
    lines = [*dropwhile(lambda line: not line.startswith(label), block.tests[0].message.splitlines())]
    return [*lines[:1], *takewhile(lambda line: line.startswith(continued), lines[1:])]


def describe_hidden(kata: Kata, count: int) -> str:
    """Return a line about the failures of a kata that are not shown."""
    return _("  … and {count} more of {kata}: pytest --kata {kata} -v", count=count, kata=kata.name)
