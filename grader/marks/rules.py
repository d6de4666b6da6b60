"""Computes a mark from graded points according to the rules of the class, in a single pure function.

    raw points ──► minus late penalty ──► manual overrides ──► mark, with reasons

The raw points are never changed. The same results and rules always produce the same marks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated

import msgspec

from torchkata.i18n import ngettext
from torchkata.i18n import translate_for_class as _

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The deadline, the late penalty and the scale of marks, as specified in `policy.toml`."""

    due: datetime | None = None
    zone: str = ""  # time zone for times without an offset, such as Europe/Berlin
    grace_minutes: Annotated[float, msgspec.Meta(ge=0)] = 0
    free_days: Count = 0  # number of late days without a penalty
    penalty_per_day: Share = 0.0  # fraction of the points that is subtracted per day after the free days
    cap: Share = 1.0  # maximum late penalty, as a fraction of the points
    closes_after_days: Count | None = None  # a submission that is more than this many days late earns no points
    out_of: Annotated[float, msgspec.Meta(gt=0)] | None = None  # the maximum of a mark, if it is not that of the points
    only_done: bool = False  # whether a kata earns points only if all of its tests pass


@dataclass(frozen=True)
class Extension:
    """An extended deadline for a person."""

    until: datetime
    reason: str


@dataclass(frozen=True)
class Override:
    """Points that were set by hand for a test, for a kata or, if neither is given, for the mark."""

    kata: str
    test: str
    points: float
    reason: str
    who: str

    @property
    def target(self) -> str:
        """The test, kata or mark that the override applies to."""
        return " ".join(filter(None, (self.kata, self.test))) or _("mark")


@dataclass(frozen=True)
class Points:
    """The graded points of a submission: in total, per kata, and per test that has an override."""

    score: float
    katas: Mapping[str, float]
    tests: Mapping[tuple[str, str], float]
    max_score: float = 0.0
    remarks: tuple[str, ...] = ()  # reasons for points that are not those of the tests, for the student
    late_by_platform: bool = False  # whether the platform has marked the submission as late


@dataclass(frozen=True)
class Mark:
    """A mark and the steps of its computation. `raw` and `final` are None if nothing was submitted."""

    raw: float | None
    days_late: int
    late: float  # late penalty, in points
    override: float  # change due to overrides, which can be positive or negative
    final: float | None
    reasons: tuple[str, ...]


def compute_mark(
    points: Points | None,
    handed_in: datetime | None,
    policy: Policy,
    zone: tzinfo,
    extension: Extension | None = None,
    overrides: Sequence[Override] = (),
) -> Mark:
    """Return the mark of a submission.

    If the submission time is unknown, the submission is considered on time, unless the platform says that it is late:
    then there is no mark. An override of the mark is not scaled. Overrides must not overlap.
    """
    raw = points.score if points else None
    days = 0
    if points and handed_in and policy.due:
        due = add_zone(policy.due, zone)
        days = count_days_late(handed_in, max(due, extension.until) if extension else due, policy.grace_minutes, zone)
    late = (raw or 0.0) * late_share(days, policy)
    reasons = [_(ngettext("1 day late", "{days} days late", days), days=days)] if days else []
    if extension and points:
        until = extension.until.isoformat(timespec="minutes")
        reasons.append(_("extension until {until}: {reason}", until=until, reason=extension.reason))
    for override in sorted(overrides, key=lambda override: (override.kata, override.test)):
        details = {"points": f"{override.points:g}", "reason": override.reason, "who": override.who}
        reasons.append(_("{target} {points}: {reason} ({who})", target=override.target, **details))
    reasons += points.remarks if points else ()
    undecided = bool(points and points.late_by_platform and policy.due and not handed_in)
    if undecided:
        reasons.append(_("late; there is no mark until the time of submission is known"))
    after_late = (raw or 0.0) - late
    final = None if undecided or (raw is None and not overrides) else after_late
    scale = policy.out_of / points.max_score if policy.out_of and points and points.max_score else 1.0
    if undecided:
        overrides = [override for override in overrides if not override.kata]
    if parts := [override.points - graded_points(points, override) for override in overrides if override.kata]:
        final = max(0.0, after_late + sum(parts))
    for whole in (override.points for override in overrides if not override.kata):
        final = whole / scale
    changed = 0.0 if final is None else round_points(final - after_late)
    if final is not None and scale != 1.0:
        steps = {"points": round_points(final), "most": (policy.out_of or 0.0) / scale, "out_of": policy.out_of}
        figures = {name: f"{value:g}" for name, value in steps.items()}
        reasons.append(_("{points} of {most} points, scaled to {out_of}", **figures))
        final *= scale
    return Mark(raw, days, round_points(late), changed, None if final is None else round_points(final), tuple(reasons))


def graded_points(points: Points | None, override: Override) -> float:
    """Return the graded points of the test, kata or mark that is overridden."""
    if points is None:
        return 0.0
    if override.test:
        return points.tests.get((override.kata, override.test), 0.0)
    return points.katas.get(override.kata, 0.0) if override.kata else points.score


def late_share(days: int, policy: Policy) -> float:
    """Return the fraction of the points that is subtracted for this many late days. More days never reduce it."""
    if policy.closes_after_days is not None and days > policy.closes_after_days:
        return 1.0
    return min(policy.cap, max(0, days - policy.free_days) * policy.penalty_per_day)


def count_days_late(handed_in: datetime, due: datetime, grace_minutes: float, zone: tzinfo) -> int:
    """Return the number of days since the deadline, rounded up.

    Each day ends at the local time of the deadline, even after a change to or from daylight saving time.
    """
    if handed_in.astimezone(UTC) <= due.astimezone(UTC) + timedelta(minutes=grace_minutes):
        return 0
    clock = due.astimezone(zone).replace(tzinfo=None)
    days = max(1, (handed_in - due).days - 1)
    while handed_in.astimezone(UTC) > add_zone(clock + timedelta(days=days), zone).astimezone(UTC):
        days += 1
    return days


def add_zone(time: datetime, zone: tzinfo) -> datetime:
    """Return a time with this time zone, unless it already has one."""
    return time if time.tzinfo else time.replace(tzinfo=zone)


def round_points(points: float) -> float:
    """Round to two decimal places, and convert -0.0 to 0.0."""
    return round(points, 2) + 0.0
