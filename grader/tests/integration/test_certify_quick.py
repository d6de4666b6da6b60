"""Tests of `grader certify --quick` and `caught_by.toml`, which names a test for each wrong implementation."""

import os
import tomllib
from pathlib import Path

from grader.proof import zoo
from grader.proof.claims import make_claims
from grader.tests import ROOT
from grader.tests.conftest import Run
from grader.tests.support.solution import copy_course
from grader.tests.support.warm_process import run_module
from torchkata.course import course

KATAS = list(course().katas.values())


def test_every_wrong_implementation_fails_a_test() -> None:
    wrong = [entry for kata in KATAS for entry in zoo.load_wrong(kata)]
    assert wrong
    assert [(entry.kata, entry.name) for entry in wrong if not entry.caught_by] == []


def test_quick_certify_runs_one_test_per_wrong_implementation() -> None:
    whole = {(c.group, c.kata, c.job.submission.id) for c in make_claims(KATAS, seeds=1) if c.group != "fallback"}
    made = list(make_claims(KATAS, seeds=1, quick=True))
    assert {(c.group, c.kata, c.job.submission.id) for c in made} == whole
    for claim in made:
        asked = {kata.name: [*kata.points] for kata in claim.job.katas}
        assert claim.job.few_examples == (claim.group in ("solution", "right"))
        assert claim.job.expect_failure == (claim.entry is not None), "only a test that must fail skips the first pass"
        if claim.entry:
            assert asked == {claim.kata: [claim.entry.caught_by]}
        else:
            own = [claim.kata] if claim.kata else [*course().katas]
            assert asked == {name: [*course().katas[name].points] for name in own}


ASKED = ("--jobs=1", "--seeds=1", "--examples=5", "--isolation=none", "--kata=strides", "--only=zoo")


def certify(own: Path, *options: str) -> Run:
    """Run `grader certify` on the zoo of `strides`, using the copy of the course and the cache in the folder `own`."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(own / "cache"), "COLUMNS": "120"}
    command = ("grader", "--course", str(own / "course"), "certify", *ASKED, *options)
    return Run(*run_module(*command, cwd=ROOT, environment=environment))


def test_certify_writes_and_checks_caught_by_toml(tmp_path: Path) -> None:
    file = copy_course(tmp_path / "course") / "reference/strides/wrong.toml"
    file.parents[1].joinpath("costly.toml").write_text("", "utf-8")  # it lists entries that are replaced here
    lock = file.with_name("caught_by.toml")
    replace = '["initial=1))", "initial=1.0))"]'
    table = f'[known]\nbreaks = "strides are whole numbers"\nlooks_like = "floats"\nreplace = {replace}\n'
    file.write_text(f"[patches]\nfloats = {replace}\n\n{table}", "utf-8")
    first = "test_strides_are_products_of_later_sizes"
    lock.write_text(f'{first} = ["known", "gone"]\ntest_of_old = ["floats"]\n', "utf-8")
    for path in sorted((file.parent / "right").glob("*.py"))[1:]:
        path.unlink()
    made = 5  # stubs, solution, one right entry, and two wrong ones

    written = certify(tmp_path)
    assert written.code == 0, written.out + written.err
    assert "\nreference/strides/caught_by.toml: 1 added, 1 that no longer exist removed\n" in written.out
    assert f"\ncertified: {made} of {made} claims hold\n" in written.out
    caught_by = {name: test for test, names in tomllib.loads(lock.read_text("utf-8")).items() for name in names}
    assert caught_by.keys() == {"known", "floats"}
    assert caught_by["known"] == first
    assert caught_by["floats"] in course().katas["strides"].points
    lock.write_text(lock.read_text("utf-8") + "# mine\n", "utf-8")

    quick = certify(tmp_path, "--quick")
    assert quick.code == 0, quick.out + quick.err
    assert (
        f"\ncertified by the quick proof: {made} of {made} claims hold, {made - 2} of them from stored proofs"
        in quick.out
    )
    assert lock.read_text("utf-8").endswith("# mine\n"), "an up-to-date file is not written again"
    assert "\nNot included in --quick: for a wrong entry, all tests except the one in caught_by.toml" in quick.out

    other = next(name for name in course().katas["strides"].points if "contiguous" in name)
    lock.write_text(f'{other} = ["floats", "known"]\n', "utf-8")
    wrong = certify(tmp_path, "--again")
    assert wrong.code == 1, wrong.err
    assert f"FAILED  wrong strides floats: its {other} does not give its diagnosis" in wrong.out
    assert "from stored proofs" not in wrong.out
    assert "delete it there, and certify searches for another" in wrong.out
