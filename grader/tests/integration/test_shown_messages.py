"""The messages that the students' page shows are what is printed: what it shows after "Now", and its first example."""

import re
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import run
from grader.tests.handed_in import changed
from grader.tests.shown import assert_shown, fail_at
from torchkata.course import course

PATH = ROOT / "docs/students.md"
PAGE = PATH.read_text("utf-8")
BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MISTAKES = {
    "## Reading a failure": ("linear", "return x @ self.weight", "return (x @ self.weight).unsqueeze(-1)"),
    "a weight like that of `nn.Linear`": (
        "linear",
        "torch.randn(input_dim, output_dim)",
        "torch.randn(output_dim, input_dim)",
    ),
    "a colon is missing": ("linear", '-> Float[Tensor, "... output_dim"]:', '-> Float[Tensor, "... output_dim"]'),
    "the stub's `raise` is left": (
        "linear",
        "return x @ self.weight",
        "y = x @ self.weight\n        raise NotImplementedError",
    ),
    "1e-5 outside the root": ("adagrad", 'torch.sqrt(state["g2"] + 1e-5)', '(torch.sqrt(state["g2"]) + 1e-5)'),
    "the model is returned without the losses": ("train", "return model, losses", "return model"),
    "elements are counted": (
        "memory_accounting",
        "return x.untyped_storage().nbytes()",
        "return x.numel() * x.element_size()",
    ),
    "the gradient of w is transposed": ("linear_backward", "rows.T @ grad_rows", "grad_rows.T @ rows"),
    "another signature": ("named_dimensions", "def mean_over_hidden(x:", "def mean_over_hidden(*, x:"),
    "no bias correction": ("adam", '1 - beta1 ** state["t"], 1 - beta2 ** state["t"]', "1.0, 1.0"),
    "NumPy is not seeded": ("reproducibility", "    np.random.seed(seed)\n", ""),
}


@pytest.mark.parametrize("heading", MISTAKES)
def test_a_message_that_the_page_shows_is_printed(heading: str, tmp_path: Path) -> None:
    kata, right, wrong = MISTAKES[heading]
    for name, content in course().solutions().items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / f"{kata}.py").write_text(changed(kata, right, wrong), "utf-8")
    printed = run("pytest", f"--impl={tmp_path}", "--kata", kata, "--seed", "1234").out.splitlines()
    assert_shown(without_commands(shown_under(heading)), without_commands(printed))


def shown_under(heading: str) -> list[str]:
    """Return the lines of the last block under a heading, or of the first one in a section of its own."""
    if PAGE.count(heading) != 1:
        fail_at(PATH, heading, f"{heading!r} stands there {PAGE.count(heading)} times, not once")
    section = re.split(r"\n(?:\*\*\w+, `|## )", PAGE[PAGE.index(heading) + 3 :], maxsplit=1)[0]
    blocks = BLOCK.findall(section)
    if not blocks:
        fail_at(PATH, heading, f"no block of output follows {heading!r}")
    lines: list[str] = blocks[0 if heading.startswith("#") else -1].splitlines()
    return lines


def without_commands(lines: list[str]) -> list[str]:
    """Leave out the commands that run a test again, which name a folder."""
    return [line for line in lines if not line.startswith("  again:")]
