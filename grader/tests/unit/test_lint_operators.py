"""Tests that the lint reports code that uses torch's operators instead of implementing a formula."""

import pytest

from grader.pipeline.lint import lint_file
from torchkata.course import course

KATAS = [kata.name for kata in course().katas.values() if {"layer", "optimizer", "training"} & {*kata.lint}]


@pytest.mark.parametrize("kata", KATAS)
@pytest.mark.parametrize(
    "source",
    [
        "import torch\nOPERATOR = torch.ops.aten.linear.default",
        "from torch import ops as o\nOPERATOR = getattr(o.aten, '_fused_sgd_')",
        "from torch.ops import aten\nOPERATOR = aten.linear",
        "import torch.library as own\nOPERATOR = own.custom_op('own::linear', mutates_args=())",
    ],
)
def test_lint_reports_direct_use_of_torch_operators(kata: str, source: str) -> None:
    assert {finding.line for finding in lint_file(f"{kata}.py", source.encode())} == {2}


@pytest.mark.parametrize("kata", KATAS)
def test_correct_solutions_have_no_torch_operator_findings(kata: str) -> None:
    folder = course().folder(kata)
    for path in (folder / "solution.py", *(folder / "right").glob("*.py")):
        texts = [finding.text for finding in lint_file(f"{kata}.py", path.read_bytes())]
        assert not [text for text in texts if text.startswith(("torch.ops", "torch._ops", "torch.library"))], path
