"""Tests of pytest's output for students, with stubs, solutions and many kinds of failures."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from grader.tests import ROOT
from grader.tests.conftest import Run, find_row, get_student_environment, run, run_program, run_python
from grader.tests.support.pseudo_terminal import Terminal
from grader.tests.support.solution import SOLUTION
from grader.tests.support.submissions import edit_solution, write_assignment
from grader.tests.support.warm_process import Fork
from torchkata.course import Limits, course
from torchkata.seam.failures import TimedOut
from torchkata.seam.student import InProcess


def run_pytest(folder: Path, *options: str) -> Run:
    """Run pytest on a submission."""
    return run("pytest", f"--impl={folder}", "--seed", "7", *options)


@pytest.mark.sample
def test_untouched_stubs_count_as_not_started(tmp_path: Path) -> None:
    done, core = run("pytest", "--track=core", f"--junitxml={tmp_path / 'junit.xml'}"), course().choose([], ["core"])
    assert done.code == 1
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()[0]
    assert [suite.get(count) for count in ("errors", "failures")] == ["0", "0"], "an editor must show no failed test"
    assert suite.get("skipped") == suite.get("tests") == str(sum(len(kata.points) for kata in core))
    reasons = {one.get("message") for one in suite.iter("skipped")}
    assert any(reason and reason.startswith("linear.py, line ") for reason in reasons)
    for kata in core:
        assert "not started" in find_row(done.out, kata.name)
        assert f"0/{len(kata.points)}" in find_row(done.out, kata.name)
    assert "next: Tell views from copies — assignment/same_storage.py" in done.out
    assert "Traceback" not in done.out
    assert " · " not in done.out, "a stub is not explained as a failure"


@pytest.mark.sample
def test_failure_shows_input_expected_and_actual_value(tmp_path: Path) -> None:
    folder = write_assignment(tmp_path, linear=edit_solution("linear", "x @ self.weight", "x @ self.weight + 1"))
    done = run_pytest(folder, "--kata", "linear")
    assert done.code == 1
    _, *block = done.out[done.out.index("linear · Linear(x) equals x @ weight") :].split("\n\n")[0].splitlines()
    assert block[0] == "    floating-point dtype", "the rest of the first line"
    assert block[1] == "  looks like: yours = expected + 1"
    assert block[2].startswith("  input     weight = torch.tensor([[")
    asked = ["layer = Linear(3, 2)", "layer.load_state_dict({'weight': weight})", "layer(x)"]
    assert [line.strip() for line in block[4:7]] == asked
    assert [line.split()[0] for line in block[7:11]] == ["expected", "yours", "note", "again:"]
    command = block[10].removeprefix("  again: ")
    assert command.startswith("pytest tests/test_linear.py::test_forward_returns_x_at_weight")
    again = run(*command.split())
    assert again.code == 1
    assert block[3] in again.out, "the printed command must reproduce the input"
    assert [words for words in ("Traceback", "hypothesis/", "seam/student.py", "Falsifying") if words in done.out] == []


def test_failures_show_source_lines_and_printed_text(tmp_path: Path) -> None:
    typo = edit_solution(
        "linear", "return x @ self.weight", "print('shape', tuple(x.shape), 500 * 'x')\n        return x @ self.wieght"
    )
    folder = write_assignment(tmp_path, linear=typo, same_storage="import sys\nsys.exit(0)\n", sgd=None)
    katas = ("--kata", "same_storage", "--kata", "linear", "--kata", "sgd")
    out = run("pytest", "--impl", str(folder), *katas).out  # pytest could mistake the value for a folder
    assert "crashed   AttributeError: 'Linear' object has no attribute 'wieght'" in out
    assert "at        linear.py, line 18:  return x @ self.wieght" in out
    assert "  printed   shape (3,) xxx" in out
    assert max(len(line) for line in out.splitlines() if not line.startswith(("  again: ", "… "))) < 100
    assert "crashed   SystemExit: 0" in out
    assert "0/6" in find_row(out, "same_storage")
    assert "not started" in find_row(out, "sgd")


def test_syntax_error_fails_only_its_own_kata(tmp_path: Path) -> None:
    folder = write_assignment(tmp_path, same_storage="def same_storage(x, y)\n    return True\n")
    done = run_pytest(folder, "--track", "core", "--examples", "1")
    assert "crashed" in find_row(done.out, "same_storage")
    core = [kata.name for kata in course().choose([], ["core"])]
    assert done.out.rpartition("[100%]")[2].count("SyntaxError") == 1, "the error must be shown once"
    assert "same_storage · all 6 tests fail in the same way" in done.out
    assert "same_storage.py, line 1:  def same_storage(x, y)" in done.out
    assert all(" done " in find_row(done.out, kata) for kata in core if kata != "same_storage")
    assert done.out.count(" done ") == len(core) - 1, "no kata of another track may run"


def test_failure_shows_line_that_raises_not_implemented_error(tmp_path: Path) -> None:
    half = edit_solution("linear", "return x @ self.weight", "raise NotImplementedError")
    out = run_pytest(write_assignment(tmp_path, linear=half), "--kata", "linear").out
    assert "linear.py, line 17, still raises NotImplementedError" in out
    assert "wrong" in find_row(out, "linear")


def test_timeout_message_shows_line_of_endless_loop(tmp_path: Path) -> None:
    endless = "import time\n\ndef same_storage(x, y):\n    while True:\n        time.sleep(0.1)\n"
    out = run_pytest(write_assignment(tmp_path, same_storage=endless), "--kata", "same_storage", "-k", "bool").out
    assert "… same_storage · test_result_is_a_bool has been running for 16 seconds" in out, "it waits"
    assert "timed out your code took more than 20 seconds, mostly waiting at same_storage.py, line " in " ".join(
        out.split()
    )


@pytest.mark.parametrize("is_terminal", [True, False])
def test_terminal_shows_a_failure_only_once(tmp_path: Path, is_terminal: bool) -> None:
    wrong = edit_solution("linear", "x @ self.weight", "x @ self.weight * 2")
    wrong = wrong.replace("super().__init__()", "super().__init__()\n        __import__('time').sleep(0.02)")
    arguments = ["--impl", str(write_assignment(tmp_path, linear=wrong)), "--kata", "linear", "-k", "forward or seed"]
    if is_terminal:
        with Terminal(["pytest", *arguments], ROOT, {**get_student_environment(), "NO_COLOR": "1"}, Fork) as terminal:
            assert terminal.wait() == 1
        out = terminal.all
    else:
        out = run("pytest", *arguments).out
    assert out.count("  looks like: yours = 2 * expected") == 1
    assert ("any floating-point dtype (see above)" in " ".join(out.split())) == is_terminal


def test_kata_waits_for_unfinished_prerequisite(tmp_path: Path) -> None:
    wrong = edit_solution("linear", "x @ self.weight", "x @ self.weight + 1")
    for linear in (wrong, (ROOT / "assignment/linear.py").read_text()):
        folder = write_assignment(tmp_path, linear=linear)
        out = run_pytest(folder, "--kata", "linear", "--kata", "cruncher", "--examples", "2").out
        row = " ".join(find_row(out, "cruncher").split())
        assert row.endswith(" 0/7 0/10 points (builds on linear: do that first)")
        assert row.startswith("cruncher not run ")
        assert "cruncher · " not in out
    alone = run_pytest(write_assignment(tmp_path, linear=wrong), "--kata", "cruncher", "--examples", "2").out
    assert "wrong" in find_row(alone, "cruncher")


def test_wrong_layer_structure_is_reported_once(tmp_path: Path) -> None:
    listed = edit_solution("cruncher", "nn.ModuleList([Linear(dim, dim) for _ in range(num_layers)])", "[]")
    out = run_pytest(write_assignment(tmp_path, cruncher=listed), "--kata", "cruncher").out
    assert "load_state_dict" not in out
    _, others = out.split("cruncher · skipped until the failure above is fixed: ")
    assert "test_gradients_reach_every_layer" in others
    assert re.search(r"^\d+ passed, \d+ wrong, 5 waiting in ", others, re.MULTILINE)


def test_nondeterministic_answers_are_reported_as_wrong(tmp_path: Path) -> None:
    moody = "import time\n\ndef same_storage(x, y):\n    return time.perf_counter_ns() // 1000 % 2 == 0\n"
    done = run_pytest(write_assignment(tmp_path, same_storage=moody), "--kata", "same_storage")
    assert done.code == 1
    assert "wrong" in find_row(done.out, "same_storage")
    assert "Flaky" not in done.out


def test_deprecation_warning_does_not_fail_a_test(tmp_path: Path) -> None:
    old = edit_solution("same_storage", "x.untyped_storage().data_ptr()", "x.storage().data_ptr()")
    done = run_pytest(write_assignment(tmp_path, same_storage=old), "--kata", "same_storage")
    assert done.code == 0, done.out


def test_global_torch_settings_do_not_leak_between_tests(tmp_path: Path) -> None:
    rude = (SOLUTION / "same_storage.py").read_text() + "\nimport torch\ntorch.set_default_dtype(torch.float64)\n"
    katas = ("--kata", "linear", "--kata", "same_storage", "--kata", "sgd")
    rude += "torch.set_grad_enabled(False)\ntorch.set_default_device('meta')\n"
    done = run_pytest(write_assignment(tmp_path, same_storage=rude), *katas, "--examples", "2")
    assert " done " in find_row(done.out, "linear")
    assert " done " in find_row(done.out, "sgd")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--kata", "lineal"], "there is no kata or track 'lineal'; did you mean linear?"),
        (["--kata", "nothing_like_it"], "there is no kata or track 'nothing_like_it'; the katas are same_storage, "),
        (["--impl", "nowhere"], "--impl nowhere: no kata files found"),
        (["--examples", "0"], "--examples must be at least 1"),
    ],
)
def test_pytest_reports_bad_options_in_one_line(options: list[str], words: str) -> None:
    done = run("pytest", *options)
    assert done.code == 4
    assert words in done.err + done.out
    assert len((done.err + done.out).strip().splitlines()) == 1


def test_hypothesis_profile_is_selected_by_name() -> None:
    linear = ("pytest", "--kata", "linear", "--impl", "solution", "--hypothesis-show-statistics")
    assert run(*linear, "--hypothesis-profile", "grade").out.count("100 passing") == 4
    assert run(*linear).out.count("25 passing") >= 2


OPTIMIZERS = """
import sys, torch
from reference.sgd.solution import SGD
from torchkata.inside.torch_internals import skip_dynamo_import
if sys.argv[1] == "skip":
    skip_dynamo_import()
for kind in (SGD, *(getattr(torch.optim, name) for name in "SGD Adam AdamW Adagrad RMSprop Adadelta".split())):
    p = torch.tensor([1.0, -2.0], requires_grad=True)
    optimizer = kind([p], lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        p.square().sum().backward()
        optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    print(p.tolist(), optimizer.step(lambda: p.grad.is_leaf))
print("torch._dynamo" in sys.modules)
"""


def test_optimizers_do_not_import_torch_compiler() -> None:
    skipped, plain = (run_python("-c", OPTIMIZERS, how) for how in ("skip", "plain"))
    assert skipped.out.endswith("\nFalse\n"), skipped.err
    assert skipped.out.removesuffix("False\n") == plain.out.removesuffix("True\n")


LISTS_MODULES = """
import sys, pytest
code = pytest.main(["-q", *sys.argv[1:]])
print("\\n", int(code), "torch._dynamo" in sys.modules)
"""


@pytest.mark.parametrize(("code", "options"), [(1, []), (0, ["--impl", "solution", "--examples", "1"])])
def test_tests_do_not_import_torch_compiler(code: int, options: list[str]) -> None:
    needed = ("activation_checkpointing", "language_model")  # torch.utils.checkpoint and the meta device import it
    katas = [f"--kata={kata}" for kata in course().katas if kata not in needed]
    done = run_python("-c", LISTS_MODULES, *katas, *options)
    assert done.out.splitlines()[-1] == f" {code} False", done.out


def test_slow_library_import_does_not_time_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lib").mkdir()
    slow = "import time\nuntil = time.process_time() + 0.3\nwhile time.process_time() < until:\n    pass\nvalue = 7\n"
    (tmp_path / "lib" / "slow_library.py").write_text(slow)
    monkeypatch.syspath_prepend(tmp_path / "lib")
    own = tmp_path / "assignment"
    own.mkdir()
    (own / "patient.py").write_text("from slow_library import value\n")
    (own / "endless.py").write_text("while True:\n    pass\n")
    runner = InProcess(own, Limits(call_seconds=0.1, wall_factor=1000.0))
    assert runner.run_probe(lambda assignment: assignment.patient.value, []).value == 7
    with pytest.raises(TimedOut):
        runner.run_probe(lambda assignment: assignment.endless, [])


def test_grader_without_its_packages_names_them() -> None:
    done = run_python("-c", "import sys\nsys.modules['typer'] = None\nfrom grader.__main__ import main\nmain()")
    line = 'grader: typer is not installed; run: pip install "torchkata[grader]"\n'
    assert (done.code, done.out, done.err) == (2, "", line)


def test_pytest_runs_without_grader_packages() -> None:
    code = "import sys\nsys.modules |= dict.fromkeys(('typer', 'rich', 'msgspec'))\nimport pytest\n"
    code += "raise SystemExit(pytest.main(['--impl', 'solution', '--kata', 'linear', '--examples', '5']))"
    done = run_program(sys.executable, "-c", code, environment=get_student_environment())
    assert done.code == 0, done.out + done.err


def test_printed_text_belongs_to_the_shown_input(tmp_path: Path) -> None:
    """Logging keeps the stream that it was given at import, and the search for mistakes calls the code with others."""
    header = "import logging\n\nlogging.basicConfig(level=logging.INFO)\n"
    body = "print('shape', x.dim()); logging.info('info %s', x.dim()); return x @ self.weight + (x.dim() == 3)"
    folder = write_assignment(tmp_path, linear=header + edit_solution("linear", "return x @ self.weight", body))
    for options in ("--seed=7", "--seed=8", "--seed=580232"):
        out = run("pytest", f"--impl={folder}", "--kata", "linear", options).out
        printed = [line.strip() for line in out.splitlines() if line.startswith("  printed ")]
        assert printed == ["printed   shape 3", "printed   INFO:root:info 3"], out
