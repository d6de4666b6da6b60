"""The secret seed of a class occurs in nothing that a student may see, even if every student makes a mistake.

Students who know it can draw the inputs of the grader at home and submit a table of answers.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from grader.pipeline.seed import draw
from grader.proof.zoo import ZooEntry, load_wrong
from grader.results.result import read as read_result
from grader.tests.conftest import FEW, Run, call_grader, grade, run
from grader.tests.support.submissions import PRIMES, SIEVE, WRONG_SIEVE, write_submissions
from torchkata.course import Kata, course
from torchkata.result import FAILED

SECRET = 7_310_562_894_417_338_591  # as large as those that `grader grade` draws
DERIVED = {number + shift for number in (SECRET, SECRET % 2**31, SECRET % 2**32) for shift in (0, 1)}
FORMS = [re.compile(rf"(?<!\d){number:d}(?!\d)|{number:x}") for number in DERIVED]  # such as numpy's `seed % 2**32`
SAMPLE = ("linear", "get_batch", "initialization")
ENTRIES = 2  # sampled wrong programs of each kata; they are handed in together


def find_seeded_tests(kata: Kata) -> set[str]:
    """Return the tests that take the fixture `seed` rather than drawing one with Hypothesis."""
    tree = ast.parse(course().test_file(kata.name).read_text("utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.decorator_list]
    return {node.name for node in functions if "seed" in {argument.arg for argument in node.args.args}}


def choose_entries(kata: Kata) -> list[ZooEntry]:
    """Return a sample of the wrong programs, if possible those that tests with a seed catch."""
    seeded = find_seeded_tests(kata)
    return sorted(load_wrong(kata), key=lambda entry: entry.caught_by not in seeded)[:ENTRIES]


def write_outputs(names: Sequence[str], hand_ins: Mapping[str, Mapping[str, ZooEntry]], folder: Path) -> Path:
    """Grade wrong programs (by hand-in and kata) with the secret seed, write pages and exports, return their folder."""
    out = folder / "out"
    for hand_in, entries in hand_ins.items():
        (folder / hand_in).mkdir()
        for kata, entry in entries.items():
            (folder / hand_in / f"{kata}.py").write_text(entry.source)
    options = ("--kata", ",".join(names), "--examples", 5, "--jobs", 2, "--seed", SECRET, "--isolation", "none")
    done = run("grader", "grade", *map(str, (*(folder / name for name in hand_ins), "--out", out, *options)))
    assert done.code == 0, done.err
    (out / "printed").write_text(done.out + done.err)
    assert call_grader("report", out, "--out", out / "pages").code == 0
    for name in ("gradescope", "classroom50", "github", "junit"):
        fields = [f"--field={field}=x" for field in ("assignment", "owner", "datetime", "submission")]
        call_grader("export", out, "--format", name, "--out", out / name, *(fields if name == "classroom50" else ()))
    return out


def read_texts(out: Path) -> Iterator[tuple[str, str]]:
    """Yield the texts in a results directory, without the places at which instructors find the seed."""
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        text = path.read_bytes().decode("utf-8", "replace")
        if path.name == "result.json":
            assert f'"seed":{SECRET}' in text.replace(" ", "")
            text = json.dumps({key: value for key, value in json.loads(text).items() if key != "seed"})
        if path.name == "report.html":
            text = text.replace(f"seed {SECRET}, ", "")
        if path.name != ".seed":
            yield path.relative_to(out).as_posix(), text


def find_secret(out: Path) -> list[str]:
    """Return the names of the files that contain the secret seed or a number that is computed from it trivially."""
    return [name for name, text in read_texts(out) if any(form.search(text) for form in FORMS)]


def read_messages(out: Path) -> list[str]:
    results = [json.loads(path.read_text()) for path in out.glob("*/result.json")]
    tests = [test for result in results for kata in result["katas"] for test in kata["tests"]]
    return [test["message"] for test in tests if test["outcome"] in FAILED]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the outputs for a sample of the zoo."""
    chosen = {name: choose_entries(course().katas[name]) for name in SAMPLE}
    hand_ins = {f"student{i}": {name: entries[i] for name, entries in chosen.items()} for i in range(ENTRIES)}
    return write_outputs(SAMPLE, hand_ins, tmp_path_factory.mktemp("sample"))


def test_no_output_about_wrong_programs_contains_the_secret(sample: Path) -> None:
    assert {message.partition(" ")[0] for message in read_messages(sample)} == {*SAMPLE}
    assert find_secret(sample) == []


def test_seed_in_message_is_good_for_one_test(sample: Path) -> None:
    seeds = [found[1] for message in read_messages(sample) if (found := re.search(r"\bseed = (\d+)", message))]
    assert len({*seeds}) > 1


def test_search_finds_a_number_computed_from_the_secret(tmp_path: Path) -> None:
    (tmp_path / "leak").write_text(f"input seed = {SECRET % 2**32}")
    (tmp_path / "other").write_text(f"input seed = 1{SECRET % 2**32}")
    assert find_secret(tmp_path) == ["leak"]


@pytest.mark.timing  # an hour for all katas
@pytest.mark.parametrize("name", list(course().katas))
def test_no_output_about_a_wrong_program_has_secret(name: str, tmp_path: Path) -> None:
    hand_ins = {entry.name: {name: entry} for entry in load_wrong(course().katas[name])}
    assert find_secret(write_outputs([name], hand_ins, tmp_path)) == []


def test_drawn_seed_is_stored_and_hidden_from_students(tmp_path: Path) -> None:
    def grade(*command: object) -> Run:
        parts = ("--course", PRIMES, *command, "--out", out, "--kata", "sieve", "--examples", 20)
        return run("grader", *map(str, parts))

    out, live = tmp_path / "out", tmp_path / "results.json"
    (right,) = write_submissions(tmp_path, SIEVE, "right", kata="sieve")
    (wrong,) = write_submissions(tmp_path, WRONG_SIEVE, "wrong", kata="sieve")
    assert grade("grade", right).code == 0
    seed = (out / ".seed").read_text().strip()
    assert len({seed, *(str(draw()) for _ in range(3))}) > 1, "the seed must be random"
    assert "were already graded" in grade("grade", right).out
    assert grade("gradescope", wrong, live, "--seed", seed).code == 0
    assert (out / ".seed").read_text().strip() == seed
    results = [json.loads(path.read_text()) for path in out.glob("*/result.json")]
    assert [str(result["seed"]) for result in results] == [seed, seed]
    assert "again: pytest" in "".join(read_messages(out))
    for text in (live.read_text(), *read_messages(out)):
        assert seed not in text
        assert "--seed" not in text
    (out / ".seed").write_text("seven")
    refused = grade("grade", right)
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "should contain one integer" in refused.err


LEAKS = """
import random, torch

def raise_stub():
    raise NotImplementedError

class Ours(Exception):
    pass
Ours.__module__ = "torchkata.seam.failures"

def check(candidate):
    if candidate is None:
        return
    {way}
"""
WAYS = {
    "assertion": "assert False, 'the source'",
    "exception": "raise ValueError('the source')",
    "keyboard": "raise KeyboardInterrupt('the source')",
    "module": "raise Ours('the source')",
    "exit": "import sys; sys.exit(7)",
    "stub": "raise_stub()",
    "died": "import os; os._exit(77)",
}


def test_nothing_of_check_reaches_a_message(tmp_path: Path) -> None:
    for way, code in WAYS.items():
        write_submissions(tmp_path, LEAKS.format(way=code), way, kata="break_sgd")
    paths = [tmp_path / way for way in WAYS]
    options = ("--kata", "break_sgd", "--examples", FEW, "--isolation", "none", "--jobs", 2)
    assert grade(*paths, "--out", tmp_path / "out", *options).code == 0
    seen = {}
    for way in WAYS:
        tests = read_result(tmp_path / "out" / way / "result.json").katas[0].tests
        assert {(test.outcome, test.file, test.line) for test in tests} == {("failed", "", 0)}
        seen[way] = [test.message for test in tests]
        assert "the source" not in "".join(seen[way])
    assertion, *others = seen.values()
    assert all(messages == others[0] for messages in others), "no difference between errors can be seen"
    assert [one.replace("rejects", "") for one in assertion] == [one.replace("rejects", "") for one in others[0]]
