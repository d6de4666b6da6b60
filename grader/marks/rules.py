"""By which rules graded points become a mark, as one pure function.

    raw points ──► less what lateness takes ──► what somebody has put right by hand ──► the mark, with its reasons

The raw points are never touched: the same results and rules make the same marks, however often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated

import msgspec

from torchkata.i18n import class_words

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`policy.toml`: when it is due, and what lateness takes of the points that were earned."""

    due: datetime | None = None
    zone: str = ""  # of times without an offset, such as Europe/Berlin
    grace_minutes: Annotated[float, msgspec.Meta(ge=0)] = 0
    free_days: Count = 0  # of lateness, which cost nothing
    penalty_per_day: Share = 0.0  # of the points, for each day that is not free
    cap: Share = 1.0  # the largest share that these may take together
    closes_after_days: Count | None = None  # later than that earns nothing


@dataclass(frozen=True)
class Extension:
    """A later time by which somebody may hand in."""

    until: datetime
    reason: str


@dataclass(frozen=True)
class Override:
    """Points that somebody has put right by hand: of a test, of a kata, or the mark itself."""

    kata: str
    test: str
    points: float
    reason: str
    who: str

    @property
    def target(self) -> str:
        """Whose points these are."""
        return " ".join(filter(None, (self.kata, self.test))) or class_words("feedback.mark")


@dataclass(frozen=True)
class Points:
    """What grading a submission has come to."""

    score: float
    katas: Mapping[str, float]
    tests: Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Mark:
    """What somebody gets, step by step; None where nothing was handed in."""

    raw: float | None
    days_late: int
    late: float  # what lateness takes
    override: float  # what is put right, up or down
    final: float | None
    reasons: tuple[str, ...]


def mark(
    points: Points | None,
    handed_in: datetime | None,
    policy: Policy,
    zone: tzinfo,
    extension: Extension | None = None,
    overrides: Sequence[Override] = (),
) -> Mark:
    """The mark of one submission. An unknown time of handing in is not late. `overrides` have distinct targets."""
    raw = points.score if points else None
    days = 0
    if points and handed_in and policy.due:
        due = aware(policy.due, zone)
        days = days_late(handed_in, max(due, extension.until) if extension else due, policy.grace_minutes, zone)
    late = (raw or 0.0) * share_taken(days, policy)
    reasons = [class_words("marks.day_late" if days == 1 else "marks.days_late", days=days)] if days else []
    if extension and points:
        until = extension.until.isoformat(timespec="minutes")
        reasons.append(class_words("marks.extension", until=until, reason=extension.reason))
    for one in sorted(overrides, key=lambda one: (one.kata, one.test)):
        points_now = {"points": f"{one.points:g}", "reason": one.reason, "who": one.who}
        reasons.append(class_words("marks.right", target=one.target, **points_now))
    kept = (raw or 0.0) - late
    final = None if raw is None and not overrides else kept
    if parts := [one.points - now(points, one) for one in overrides if one.kata]:
        final = max(0.0, kept + sum(parts))
    for whole in (one.points for one in overrides if not one.kata):
        final = whole
    changed = 0.0 if final is None else rounded(final - kept)
    return Mark(raw, days, rounded(late), changed, None if final is None else rounded(final), tuple(reasons))


def now(points: Points | None, one: Override) -> float:
    """What an override's target was graded with."""
    if points is None:
        return 0.0
    return points.tests.get((one.kata, one.test), 0.0) if one.test else points.katas.get(one.kata, 0.0)


def share_taken(days: int, policy: Policy) -> float:
    """Of the points, by so many days of lateness; never less for more days."""
    if policy.closes_after_days is not None and days > policy.closes_after_days:
        return 1.0
    return min(policy.cap, max(0, days - policy.free_days) * policy.penalty_per_day)


def days_late(handed_in: datetime, due: datetime, grace_minutes: float, zone: tzinfo) -> int:
    """How many days were begun since it was due: each ends at the same time of the clock there, summer or winter."""
    if handed_in.astimezone(UTC) <= due.astimezone(UTC) + timedelta(minutes=grace_minutes):
        return 0
    clock = due.astimezone(zone).replace(tzinfo=None)
    days = max(1, (handed_in - due).days - 1)
    while handed_in.astimezone(UTC) > aware(clock + timedelta(days=days), zone).astimezone(UTC):
        days += 1
    return days


def aware(time: datetime, zone: tzinfo) -> datetime:
    """In this zone, where it does not say its own."""
    return time if time.tzinfo else time.replace(tzinfo=zone)


def rounded(points: float) -> float:
    """To hundredths, and never minus zero."""
    return round(points, 2) + 0.0
