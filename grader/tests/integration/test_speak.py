"""Tests of `kata speak` in a handout: interrupting a run, and a full disk."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.tests.conftest import get_student_environment, run_program, write_solution

PARTS = (
    *("language_model", "train_language_model", "generate_text", "adamw", "attention", "checkpoint", "flop_accounting"),
    *("get_batch", "linear", "memmap_tokens", "memory_accounting", "promised_flops", "puzzles", "time_matmul"),
)
QUICK = ("speak", "--minutes=0.02", "--device=cpu")
FILL = """
from pathlib import Path

def save_checkpoint(path, *args, save=save_checkpoint):
    try:
        with Path(path).with_name("filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    except OSError:
        save(path, *args)
"""


@pytest.fixture
def speaking(handout: Path) -> Path:
    """Return a handout with the solution of each kata that `kata speak` uses."""
    write_solution(handout, *PARTS)
    return handout


def test_interrupted_speak_run_saves_a_checkpoint(speaking: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "torchkata", "speak", "--minutes", "9", "--device", "cpu"],
        cwd=speaking,
        env=get_student_environment() | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert any("minutes left" in line for line in process.stdout), "training must begin"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=600)
    assert process.returncode == 130, rest
    assert re.search(r"Saved at step \d+ of \d+\. To continue: kata speak\nkata: stopped\n$", rest), rest


@pytest.mark.usefixtures("needs_bwrap")
def test_disk_that_fills_up_while_saving_is_reported(speaking: Path) -> None:
    with (speaking / "assignment/checkpoint.py").open("a") as file:
        file.write(FILL)
    (speaking / ".kata").mkdir()
    small = ("bwrap", "--dev-bind", "/", "/", "--size", 60 * 10**6, "--tmpfs", speaking / ".kata")
    command = (sys.executable, "-m", "torchkata", *QUICK)
    done = run_program(*small, *command, cwd=speaking, environment=get_student_environment())
    assert (done.code, done.err.count("\n")) == (3, 1), done.err
    assert done.err.startswith("kata: the disk is full: .kata/speak needs ")
