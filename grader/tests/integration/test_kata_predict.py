"""Tests of `kata predict` in a handout: input from a pipe or terminal, and predictions that stay local."""

import json
from pathlib import Path
from typing import Any

import pytest

from grader.tests.conftest import Run, get_student_environment, run_as_student, run_kata
from grader.tests.support.pseudo_terminal import Terminal
from grader.tests.support.warm_process import Fork

FILE = "assignment/predictions.json"
KEPT = f"Your predictions are stored in {FILE}. Only you see them, and they earn no points."
WRONG = "is not a positive number; write it without a unit, such as 1e12, 3.2e9 or 12_000"


def read_predictions(handout: Path) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((handout / FILE).read_text())["katas"]
    return {kata: {name: entry["predicted"] for name, entry in found.items()} for kata, found in stored.items()}


def list_questions(done: Run) -> list[str]:
    return [line for line in done.out.splitlines() if line[:3] in ("1. ", "2. ", "3. ")]


def test_repeated_command_asks_only_skipped_questions(handout: Path) -> None:
    skipped = run_kata(handout, "predict", "roofline", typed="\n\n\n")
    first = run_kata(handout, "predict", "roofline", typed="1e2\n\n1_0.5e-1\n")
    assert (first.code, first.err) == (0, "")
    assert first.out.count("skipped; the question stays the same next time") == 1
    assert read_predictions(handout) == {"roofline": {"matmul": 100, "inference": 1.05}}
    assert " ".join(first.out.split()).endswith(KEPT)
    second = run_kata(handout, "predict", "roofline", typed="300\n")
    assert list_questions(second) == list_questions(first) == list_questions(skipped)
    assert second.out.count("predicted 100, right ") == 1
    assert read_predictions(handout)["roofline"]["accelerator"] == 300
    third = run_kata(handout, "predict", "roofline")
    assert "skipped" not in third.out
    assert third.out.count(": ratio ") == 3
    assert "/ 3 = " in third.out, "the formula must contain the sizes"


def test_invalid_piped_input_keeps_earlier_predictions(handout: Path) -> None:
    done = run_kata(handout, "predict", "floating_point", typed="1e9\n12 GiB\n5\n")
    assert (done.code, done.err) == (2, f"kata: '12 GiB' {WRONG}\n")
    assert read_predictions(handout) == {"floating_point": {"storage": 1e9}}


def test_predict_repeats_question_until_number_is_valid(handout: Path) -> None:
    command, plain = ["torchkata", "predict", "flop_accounting"], {**get_student_environment(), "TERM": "dumb"}
    with Terminal(command, handout, plain, Fork) as terminal:
        for typed in ("many", "-3", "nan", "inf", "0"):
            terminal.read_until("FLOPs: ")
            terminal.type(f"{typed}\n")
            terminal.read_until(f"'{typed}' is not a positive number")
        terminal.read_until("FLOPs: ")
        terminal.type("1e13\n")
        terminal.read_until("predicted 1e+13, right ")
        terminal.read_until("FLOPs: ")
        terminal.type("\x03")
        assert terminal.wait() == 130
    assert read_predictions(handout) == {"flop_accounting": {"matmul": 1e13}}


def test_prediction_made_after_test_runs_is_marked_late(handout: Path) -> None:
    invitation = "before you run its tests: kata predict roofline"
    assert invitation in run_as_student("pytest", "--kata=roofline", "--examples=2", cwd=handout).out
    early = run_kata(handout, "predict", "roofline", typed="1\n")
    assert "marked as late" not in early.out, "a run of the stub shows no numbers"
    stub = handout / "assignment/roofline.py"
    stub.write_text(stub.read_text().replace("raise NotImplementedError", "return 1"))
    for _ in range(2):
        assert invitation not in run_as_student("pytest", "--kata=roofline", "--examples=2", cwd=handout).out
    late = run_kata(handout, "predict", "roofline", typed="1\n")
    assert "run the tests of this kata (runs: 2)" in late.out
    assert " ".join(late.out.split()).count("(predicted after 2 test runs)") == 1


@pytest.mark.parametrize("content", ["[]", '{"seed": -1}'])
def test_damaged_predictions_file_is_reported_in_one_line(content: str, handout: Path) -> None:
    (handout / FILE).write_text(content)
    done = run_kata(handout, "predict", "roofline", typed="1\n")
    assert (done.code, done.err) == (2, f"kata: {FILE} is damaged: remove or rename it\n")
    assert (handout / FILE).read_text() == content


def test_predict_lists_katas_that_have_questions(handout: Path) -> None:
    done = run_kata(handout, "predict", "linear")
    assert done.code == 2
    assert done.err.startswith("kata: there are no questions about linear; there are some about floating_point, ")
    assert run_kata(handout, "predict").code == 2
    assert not (handout / FILE).exists()
