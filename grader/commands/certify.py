"""`grader certify`: runs the proofs and prints the results."""

from collections.abc import Sequence
from functools import partial

from rich.console import Console

from grader.base.cachedir import cache_dir
from grader.base.errors import CallError
from grader.base.terminal import create_console, print_warning
from grader.commands.requirements import find_missing
from grader.pipeline.collect import Tests
from grader.pipeline.reference import find_missing_solutions
from grader.pipeline.selection import choose
from grader.pipeline.setup import run_with_tests
from grader.proof.attack_run import prove_attacks
from grader.proof.attacks import load_attacks
from grader.proof.cache import ProofCache
from grader.proof.caught_by import update_caught_by
from grader.proof.cheats import load_cheats, load_slow
from grader.proof.claims import Claim, make_claims
from grader.proof.messages import write_messages
from grader.proof.proof import Options, Proof, format_markdown, grade_all
from grader.proof.shares import find_unfair, tabulate_shares
from grader.proof.zoo_proof import ZooOutcome, tabulate_catches, tabulate_katas, tabulate_slowest
from grader.results.dependencies import digest_grading
from grader.results.result import write_whole
from grader.sandbox.launch import Sandbox
from torchkata.compat.hypothesis_internals import FEW_EXAMPLES
from torchkata.course import CourseError, Kata, course

MAX_INCONCLUSIVE = 0.25  # maximum fraction of claims in a part of the proof that may be inconclusive
NOTHING = {"attacks": "there are none in these katas", "cheats": "this course has no workloads"}
LEFT_OUT = (
    "Not included in --quick: for a wrong entry, all tests except the one in caught_by.toml; for a correct variant, "
    f"all but {FEW_EXAMPLES} inputs per test, and the katas that build on it; fallbacks; other seeds; for attacks, "
    "the controls, times, diagnoses, lower isolation levels and most tests of the attacked and of the next submission; "
    "cheats on speed; mypy."
)
NO_TEST_KNOWN = (
    "{} wrong entries are missing from caught_by.toml, so all tests ran on them (--write-caught-by adds them)"
)


def run_certify(options: Options) -> int:
    """Run the proofs. Return 0 if all claims hold, otherwise 1. Raises CallError if there is no zoo."""
    katas, parts = choose(options.katas), choose_parts(options)
    if not course().solutions():
        raise CallError("this course has no zoo; run certify in the instructor's checkout")
    for path in find_missing_solutions(katas) if parts != ["files"] else ():
        raise CourseError(f"{path} is missing; certify needs the reference solution")
    if options.messages is not None:
        return write_messages(options.messages, katas, options, create_console(), create_console(stderr=True))
    seeds = 1 if options.quick else options.seeds
    todo = list(make_claims(katas, seeds, quick=options.quick)) if "zoo" in parts else []
    corpus = list(load_attacks(katas)) if "attacks" in parts else []
    slow, fast = (list(load_slow(katas).values()), list(load_cheats(katas))) if "cheats" in parts else ([], [])
    out, err = create_console(), create_console(stderr=True)
    without = {"attacks": not (corpus or options.only), "cheats": not course().workloads}
    for part in (part for part in parts if without.get(part)):
        out.print(f"{part}: nothing to prove, {NOTHING[part]}", soft_wrap=True)
        if options.only:
            return 0
    if not (todo or corpus or slow or "files" in parts):
        raise CallError(f"there are no {options.only} in {', '.join(options.katas)}")
    proofs = [prove_files(katas, options)] if "files" in parts else []
    proofs += [prove_zoo(todo, katas, options, out, err)] if todo else []
    proofs += [prove_attacks(corpus, options, out, err)] if corpus else []
    if slow:
        from grader.proof.cheat_run import prove_cheats  # imports torch

        proofs.append(prove_cheats(slow, fast, options, out, err))
    tables = [table for proof in proofs for table in proof.tables]
    for table in tables:
        out.print(table)
    for proof in proofs:
        for note in proof.notes:
            out.print(note, markup=False, soft_wrap=True)
        for problem in proof.failed:
            out.print(f"FAILED  {problem}", style="red", markup=False, soft_wrap=True)
    if options.markdown is not None:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        command = "grader certify --quick" if options.quick else "grader certify"
        write_whole(options.markdown, format_markdown(tables, command).encode())
    total, failed = sum(proof.claims for proof in proofs), sum(len(proof.failed) for proof in proofs)
    inconclusive = sum(proof.inconclusive for proof in proofs)
    certified = not failed and all(proof.inconclusive <= MAX_INCONCLUSIVE * proof.claims for proof in proofs)
    left_open = f", {inconclusive} inconclusive (noisy machine)" if inconclusive else ""
    skipped = sum(proof.skipped for proof in proofs)
    before = f", {skipped} of them from stored proofs (--force repeats them)" if skipped else ""
    verdict = f"{'certified' if certified else 'not certified'}{' by the quick proof' if options.quick else ''}"
    out.print(f"{verdict}: {total - failed - inconclusive} of {total} claims hold{before}{left_open}", soft_wrap=True)
    if options.quick:
        out.print(LEFT_OUT, soft_wrap=True)
    return 0 if certified else 1


def choose_parts(options: Options) -> list[str]:
    """Return the parts of the course to prove. Raises CallError if `--quick` does not include the selected part."""
    if options.quick and options.only == "cheats":
        raise CallError("--quick does not include the cheats on speed, which need time and an otherwise idle machine")
    everything = ["files", "zoo", "attacks"] if options.quick else ["files", "zoo", "attacks", "cheats"]
    return [options.only] if options.only else everything


def prove_files(katas: Sequence[Kata], options: Options) -> Proof:
    """Prove that each kata has all required files and texts. Each complete kata and each missing item is a claim."""
    missing = find_missing(katas, quick=options.quick)
    lines = [line for name in missing for line in missing[name]]
    whole = sum(not missing[kata.name] for kata in katas)
    return Proof([], whole + len(lines), lines, [])


def prove_zoo(todo: Sequence[Claim], katas: Sequence[Kata], options: Options, out: Console, err: Console) -> Proof:
    """Prove that the tests accept the correct entries in the zoo and reject the wrong ones."""
    outcome, warn = ZooOutcome(), partial(print_warning, err)
    for kata in katas:
        digest_grading(kata.name)  # cache the digest before the files are imported

    def use(tests: Tests, sandbox: Sandbox) -> None:
        proven = ProofCache(cache_dir() / "proven", options.examples, sandbox.isolation, warn)
        fresh = todo if options.force else [claim for claim in todo if not outcome.add_known(claim, proven.find(claim))]
        by_job = {id(claim.job): claim for claim in fresh}
        jobs = [claim.job for claim in fresh]
        for claim in todo:
            if claim.job.expect_failure:  # only one test runs
                outcome.add_share(claim, proven.find(claim.with_all_tests()))
        try:
            for graded in grade_all([(jobs, options.jobs)], tests, sandbox, out, "certifying", "claims"):
                claim = by_job[id(graded.job)]
                if outcome.add(claim, graded.katas):
                    proven.keep(claim, graded.katas)
            if options.write_caught_by:
                update_caught_by(outcome, tests, sandbox, options.jobs, proven.keep)
        finally:
            proven.store()

    run_with_tests(options.isolation, options.examples, warn, use, profile="prove", katas=katas)
    diagnoses = outcome.diagnoses
    entries = {kata.name: [each.entry.name for each in todo if each.kata == kata.name and each.entry] for kata in katas}
    counts = {kata: len(names) for kata, names in entries.items()}
    tables = [tabulate_katas(outcome, katas), diagnoses.tabulate(katas), tabulate_shares(outcome.shares, katas, counts)]
    tables += [] if options.quick else [tabulate_catches(outcome, katas), tabulate_slowest(outcome)]
    failed = [*outcome.list_failed(), *diagnoses.find_failed(katas)]
    failed += [
        line for kata, names in entries.items() for line in find_unfair(kata, outcome.shares.get(kata, {}), names)
    ]
    unknown = [claim for claim in todo if claim.entry and not claim.entry.caught_by]
    notes = [] if options.write_caught_by or not unknown else [NO_TEST_KNOWN.format(len(unknown))]
    return Proof(tables, len(todo) + 1, failed, [*diagnoses.unforeseen, *notes], skipped=outcome.known)
