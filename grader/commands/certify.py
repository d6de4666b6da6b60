"""`grader certify`: runs the proofs and prints the results."""

from collections.abc import Sequence
from functools import partial

from rich.console import Console

from grader.base.cachedir import cache_dir
from grader.base.errors import CallError
from grader.base.files import write_whole
from grader.base.terminal import create_console, print_warning
from grader.commands.requirements import find_missing, find_missing_fallbacks
from grader.options import CertifyOptions
from grader.pipeline.collect import Tests
from grader.pipeline.proven_sandbox import run_with_tests
from grader.pipeline.reference import find_missing_solutions
from grader.pipeline.selection import choose
from grader.proof.cache import ProofCache
from grader.proof.caught_by import update_caught_by
from grader.proof.claims import make_claims
from grader.proof.messages import write_messages
from grader.proof.proof import Proof, format_markdown, grade_all
from grader.proof.shares import find_unfair, tabulate_shares
from grader.proof.zoo_proof import ZooOutcome, tabulate_catches, tabulate_katas, tabulate_slowest
from grader.results.dependencies import digest_kata
from grader.sandbox.launch import Sandbox
from torchkata.course import CourseError, Kata, course
from torchkata.inside.hypothesis_internals import FEW_EXAMPLES

LEFT_OUT = (
    "Not included in --quick: for a wrong entry, all tests except the one in caught_by.toml; for a correct variant, "
    f"all but {FEW_EXAMPLES} inputs per test, and the katas that build on it; fallbacks; other seeds; mypy."
)

SEARCH_AGAIN = (
    "If caught_by.toml names a test that should no longer catch an entry, delete it there, and certify searches for "
    "another."
)


def run_certify(options: CertifyOptions) -> int:
    """Run the proofs. Return 0 if all claims hold, otherwise 1. Raises CallError if there is no zoo."""
    katas = choose(options.katas)
    if not course().solutions():
        raise CallError("this course has no zoo; run certify in the instructor's checkout")
    for kata in katas if options.only != "files" else ():
        if not (stub := course().stub(kata.name)).is_file():
            raise CourseError(f"{stub} is missing; write it, or delete {course().folder(kata.name)}")
    for path in find_missing_solutions(katas) if options.only != "files" else ():
        raise CourseError(f"{path} is missing; certify needs the reference solution")
    for _, line in find_missing_fallbacks(katas) if options.only != "files" else ():
        raise CourseError(line)
    out, err = create_console(), create_console(stderr=True)
    if options.only == "messages":
        if options.out is None:
            raise CallError("--only messages needs --out")
        return write_messages(options.out, katas, options, out, err)
    zoo = [prove_zoo(katas, options, out, err)] if options.only != "files" else []  # first: it writes caught_by.toml
    proofs = [*([prove_files(katas, options)] if options.only != "zoo" else []), *zoo]
    tables = [table for proof in proofs for table in proof.tables]
    for table in tables:
        out.print(table)
    for proof in proofs:
        for note in proof.notes:
            out.print(note)
        for problem in proof.failed:
            out.print(f"FAILED  {problem}", style="red")
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        command = "grader certify --quick" if options.quick else "grader certify"
        write_whole(options.out, format_markdown(tables, command).encode())
    total, failed = sum(proof.claims for proof in proofs), sum(len(proof.failed) for proof in proofs)
    skipped = sum(proof.skipped for proof in proofs)
    before = f", {skipped} of them from stored proofs (--again repeats them)" if skipped else ""
    verdict = f"{'not certified' if failed else 'certified'}{' by the quick proof' if options.quick else ''}"
    out.print(f"{verdict}: {total - failed} of {total} claims hold{before}")
    if options.quick:
        out.print(LEFT_OUT)
    return 1 if failed else 0


def prove_files(katas: Sequence[Kata], options: CertifyOptions) -> Proof:
    """Prove that each kata has all required files and texts. Each complete kata and each missing item is a claim."""
    missing = find_missing(katas, quick=options.quick)
    lines = [line for name in missing for line in missing[name]]
    whole = sum(not missing[kata.name] for kata in katas)
    return Proof([], whole + len(lines), lines, [])


def prove_zoo(katas: Sequence[Kata], options: CertifyOptions, out: Console, err: Console) -> Proof:
    """Prove that the tests accept the correct entries in the zoo and reject the wrong ones. Update `caught_by.toml`."""
    todo = list(make_claims(katas, 1 if options.quick else options.seeds, quick=options.quick))
    outcome, warn, changes = ZooOutcome(), partial(print_warning, err), list[str]()
    for kata in katas:
        digest_kata(kata.name)  # cache the digest before the files are imported

    def use(tests: Tests, sandbox: Sandbox) -> None:
        proven = ProofCache(cache_dir() / "proven", options.examples, sandbox.isolation, warn)
        fresh = todo if options.again else [claim for claim in todo if not outcome.add_known(claim, proven.find(claim))]
        by_job = {id(claim.job): claim for claim in fresh}
        jobs = [claim.job for claim in fresh]
        for claim in todo:
            if claim.job.expect_failure:  # only one test runs
                outcome.add_failed(claim, proven.find(claim.with_all_tests()))
        try:
            for graded in grade_all(jobs, options.jobs, tests, sandbox, out, "certifying", "claims"):
                claim = by_job[id(graded.job)]
                if outcome.add(claim, graded.katas):
                    proven.keep(claim, graded.katas)
            changes.extend(update_caught_by(outcome, katas, tests, sandbox, options.jobs))
        finally:
            proven.store()

    run_with_tests(options.isolation, options.examples, warn, use, profile="prove", katas=katas)
    diagnoses = outcome.diagnoses
    entries = {kata.name: [each.entry for each in todo if each.kata == kata.name and each.entry] for kata in katas}
    shares = tabulate_shares(outcome.failed, katas, entries)
    tables = [tabulate_katas(outcome, katas), diagnoses.tabulate(katas), shares]
    tables += [] if options.quick else [tabulate_catches(outcome, katas), tabulate_slowest(outcome)]
    failed = outcome.list_failed()
    for kata in katas:
        failed += find_unfair(kata, outcome.failed.get(kata.name, {}), entries[kata.name])
    if any(each.problem and each.claim.entry and each.claim.entry.caught_by for each in outcome.judged):
        changes.append(SEARCH_AGAIN)
    return Proof(tables, len(todo), failed, [*diagnoses.unforeseen, *changes], skipped=outcome.known)
