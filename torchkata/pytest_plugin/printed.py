"""Adds to the message of a failure what the student's code printed in the call that it shows."""

from dataclasses import replace

import pytest

from torchkata.compare.show import shorten
from torchkata.i18n import _, format_label
from torchkata.result import TestResult

from .run_state import get_state

MOST = 5  # lines of each stream


def add_prints(config: pytest.Config, result: TestResult, report: pytest.TestReport) -> TestResult:
    """Add the last lines that the student's code printed to the standard output and error."""
    different = [[*dict.fromkeys(text.strip().splitlines())] for text in read_printed(config, report)]
    lines = [format_label(_("printed"), shorten(line)) for stream in different for line in stream[-MOST:]]
    block, found, again = result.message.rpartition("\n")
    return replace(result, message="\n".join([block, *lines, again])) if found and lines else result


def read_printed(config: pytest.Config, report: pytest.TestReport) -> list[str]:
    """Return what the student's code wrote to each stream in the last call, or in all calls if that is unknown."""
    call, texts = get_state(config).student.last, [report.capstdout, report.capstderr]
    if call is None or config.getoption("capture") != "fd":
        return texts
    return [text.encode()[part].decode(errors="replace") for text, part in zip(texts, call.printed, strict=True)]
