"""A graded failure says what differs from the student's machine, and blames nothing else."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from grader.sandbox.launch import Sandbox
from grader.sandbox.runner import WorkerRunner
from grader.tests.support.reports import HOME_ONLY, REPORTS, SELF_EXPLANATORY
from grader.tests.support.sandbox_workers import start_sandbox
from tests.probes import linear as probes
from torchkata.course import course
from torchkata.diagnosis.crashes import explain_crash
from torchkata.diagnosis.explain import explain
from torchkata.seam.failures import Crashed, Wrong
from torchkata.seam.student import Student


@pytest.fixture(scope="module", params=["bwrap"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    yield from start_sandbox(request, course().limits)


def fail(sandbox: Sandbox, source: bytes) -> tuple[str, str]:
    """Return the sentence that explains the failure of a file, and the message. Both are "" if the file works."""
    runner = WorkerRunner(sandbox.clone(), course().limits)
    with closing(runner.control):
        student = Student(runner)
        runner.open({"linear.py": source}, 1.0)
        student.reset("linear")
        error: Exception = Wrong(note="a wrong answer")
        try:
            student.call(probes.initial_weights, 1, 1, 1, 0)
        except Crashed as crash:
            error = crash
        runner.end()
        explained = str(explain_crash(error)) if isinstance(error, Crashed) else ""
        message = explain("test", "claim", error, student.last, "pytest").message
        assert student.last is not None
        return ("", "") if student.last.answer is not None and not student.last.setting else (explained, message)


@pytest.mark.parametrize("name", [name for name in REPORTS if REPORTS[name].graded != HOME_ONLY])
def test_difference_is_named_in_the_grader(sandbox: Sandbox, name: str) -> None:
    report = REPORTS[name]
    explained, message = fail(sandbox, report.content)
    assert report.graded in f"{explained}\n{message}"
    assert bool(message) == bool(report.graded), message
    assert not (explained and name in SELF_EXPLANATORY)


def test_torch_compile_imports_no_compiler(sandbox: Sandbox) -> None:
    """The import can take longer than a call may take, so the verdict would depend on the load of the machine."""
    source = (
        REPORTS["torch.compile with options"].content + b"\nimport sys\nassert 'torch._dynamo' not in sys.modules\n"
    )
    assert fail(sandbox, source) == ("", "")
