"""Collects the data about a submission that the class page needs. It is small, so that large classes fit in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose

from msgspec.structs import replace

from grader.base.text import count
from grader.output.page.sections import Part
from grader.results.faults import Fault, list_faults
from grader.results.items import Answers, Property, collect_answers
from grader.results.load import drop_details, share
from grader.results.result import KataResult, Result

BINS = 10


@dataclass(frozen=True, slots=True)
class SubmissionSummary:
    """A submission, as shown on the page of the class."""

    result: Result  # without details
    cells: dict[str, KataResult]  # the results of the katas and of speed, without tests
    answers: Answers
    faults: tuple[Fault, ...]  # tests that are waived or could not be graded
    graded: str = ""  # date of grading

    @property
    def rerun(self) -> list[str]:
        """The katas and workloads that have to be graded again after a machine fault."""
        faults = (fault.test.partition(".")[0] for fault in self.faults if fault.kind == "unsettled")
        return list(dict.fromkeys(faults))

    @property
    def device(self) -> str:
        """The model of the device, or its kind if the model is unknown."""
        return self.result.environment.get("device", self.result.device)

    @property
    def how(self) -> str:
        """How the submission was graded: the seed, the number of examples, the isolation and the device."""
        timed = f", speed on {self.device}" if self.result.performance else ""
        examples = count(self.result.examples, "example")
        return f"seed {self.result.seed}, {examples}, isolation {self.result.isolation}{timed}"

    @property
    def share(self) -> float:
        """The student's share of all points, between 0 and 1."""
        return self.result.score / self.result.max_score if self.result.max_score > 0 else 0.0

    @property
    def tried(self) -> list[Property]:
        """The tests that the student has tried."""
        return [which for which, answer in self.answers.items() if answer.outcome != "not_started"]

    @property
    def failed(self) -> list[Property]:
        """The tests that the student failed."""
        return [which for which, answer in self.answers.items() if answer.outcome == "failed"]

    @property
    def bin(self) -> int:
        """The index of the student's bin in the histogram. The last bin is for full points."""
        return BINS if isclose(self.share, 1.0) else int(self.share * BINS)


def summarize_student(result: Result, parts: Sequence[Part], graded: str = "") -> SubmissionSummary:
    """Extract the data that the page needs from a result."""
    return SubmissionSummary(
        result=replace(drop_details(result), katas=[]),
        cells={part.result.kata: share(part.result) for part in parts},
        answers=collect_answers(result),
        faults=tuple(map(share, list_faults(result))),
        graded=graded,
    )
