"""`certify --only messages`: writes a page per kata with the messages that students see for each wrong entry."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from grader.base.errors import convert_write_errors
from grader.base.files import write_whole
from grader.base.terminal import print_warning
from grader.base.text import count
from grader.options import CertifyOptions
from grader.pipeline.collect import Tests
from grader.pipeline.proven_sandbox import run_with_tests
from grader.proof import zoo
from grader.proof.claims import make_claims
from grader.proof.proof import grade_all
from grader.results.result import KataResult
from grader.sandbox.launch import Sandbox
from torchkata.course import Kata
from torchkata.i18n import translate_for_class as _
from torchkata.i18n import wrap
from torchkata.pytest_plugin.failure_groups import FailureGroup, group_failures, render_block

WIDTH = 99  # maximum number of columns
NOTHING = "No test catches it, so a student sees no message."


def write_messages(folder: Path, katas: Sequence[Kata], options: CertifyOptions, out: Console, err: Console) -> int:
    """Grade every wrong entry like a student's submission, and write the pages.

    Raises CallError if an entry is invalid or a page can't be written.
    """
    wrong = {id(claim.job): claim for claim in make_claims(katas, 1) if claim.group == "wrong"}
    found: dict[str, dict[str, KataResult]] = {}

    def use(tests: Tests, sandbox: Sandbox) -> None:
        jobs = [claim.job for claim in wrong.values()]
        for graded in grade_all(jobs, options.jobs, tests, sandbox, out, "grading", "wrong entries"):
            claim = wrong[id(graded.job)]
            found.setdefault(claim.kata, {})[claim.name] = graded.katas[0]

    warn = partial(print_warning, err)
    run_with_tests(options.isolation, options.examples, warn, use, katas=katas)
    with convert_write_errors(f"--out {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        for kata in katas:
            entries = [(entry, found[kata.name][entry.name]) for entry in zoo.load_wrong(kata)]
            write_whole(folder / f"{kata.name}.md", format_page(kata, entries).encode())
    out.print(f"{len(wrong)} wrong entries of {count(len(katas), 'kata')}: {folder}")
    return 0


def format_page(kata: Kata, entries: Iterable[tuple[zoo.ZooEntry, KataResult]]) -> str:
    """Return the page with the failure messages of a kata."""
    parts = [f"# {kata.name}: failure messages\n"]
    for entry, result in entries:
        blocks = group_failures(result.tests)
        texts = [format_block(kata, *pair) for pair in zip(blocks, [None, *blocks], strict=False)]
        shown = "```\n" + "\n\n".join(texts) + "\n```" if texts else NOTHING
        parts.append(f"## {entry.name}\n\n{entry.words}\n\n{shown}\n")
    return "\n".join(parts)


def format_block(kata: Kata, block: FailureGroup, above: FailureGroup | None) -> str:
    """Format a failure as shown in the terminal, without the command that runs the test again."""
    lines = [line for line in render_block(kata, block, above) if not line.startswith(f"  {_('again: ')}")]
    return "\n".join(part for line in lines for part in wrap(line, WIDTH))
