"""Tests of `grader release`: what a handout must and must not contain, and that it works for a student."""

import ast
import configparser
import csv
import email
import hashlib
import io
import json
import re
import shutil
import sys
import tomllib
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from grader.base.errors import CallError, GraderError
from grader.commands.package.project import list_engine_files
from grader.commands.release import command
from grader.commands.release.command import prove
from grader.commands.release.contents import build_handout
from grader.commands.release.contract import documented
from grader.commands.release.wheel import build_wheel
from grader.tests import ROOT
from grader.tests.conftest import call_grader, run_as_student, write_solution
from grader.tests.support.solution import SOLUTION, copy_course
from grader.tests.support.submissions import PRIMES
from grader.tests.support.wheel import install_handout, make_student_environment, run_installed
from torchkata.cli.command import make_parser
from torchkata.course import course, read_course
from torchkata.i18n import find_text, find_texts

KATAS = list(course().katas)
CORE = [kata.name for kata in course().choose([], ["core"])]
TOP = "AGENTS.md assignment conftest.py docs LICENSE pyproject.toml README.md reference requirements.txt tests"
HIDDEN = ".devcontainer .gitignore .vscode"


def list_files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.sample
def test_handout_contains_expected_files(tmp_path: Path) -> None:
    new_handout = tmp_path / "katas"  # the shared handout contains Python's caches once another test has run code in it
    assert call_grader("release", "--out", new_handout, "--kata", "all").code == 0
    assert {path.name for path in new_handout.iterdir()} == {*TOP.split(), *HIDDEN.split()}
    shared = {path.name for path in (ROOT / "reference").iterdir() if path.suffix in (".py", ".toml", ".po")}
    shared -= {"lint.toml"}
    ours = {*shared, *KATAS, "stubs", "workloads", "handout.sha256", f"torchkata-{build_wheel()[0]}-py3-none-any.whl"}
    assert {path.name for path in (new_handout / "reference").iterdir()} == ours
    workloads = ["workloads.toml", *(f"{name}.py" for name in [*course().workloads, "optimizers", "training"])]
    assert list_files(new_handout / "reference/workloads") == sorted(workloads)
    for kata in KATAS:
        ours = {path.name for path in course().folder(kata).iterdir() if path.suffix in (".py", ".toml", ".po")}
        known = {path.name for path in (new_handout / "reference" / kata).iterdir()}
        private = {f"{name}.toml" for name in ("right", "wrong", "caught_by", "hidden")}
        assert known == ours - private - {"solution.py", "fallback.py"}
    english = [f"{name}.md" for name in ("after", "glossary", "katas", "lecture", "students")]
    chinese = [f"zh/{name}.md" for name in ("after", "glossary", "students")]
    pictures = [f"images/katas/{path.name}" for path in (ROOT / "docs/images/katas").iterdir()]
    assert list_files(new_handout / "docs") == sorted([*english, *chinese, *pictures])
    for document in ("README.md", *(f"docs/{name}" for name in (*english, *chinese))):
        targets = re.findall(r"\]\(([^)#:]+)[)#]", (new_handout / document).read_text("utf-8"))
        assert [target for target in targets if not ((new_handout / document).parent / target).is_file()] == []
    assert (new_handout / "docs/katas.md").read_bytes() == (ROOT / "docs/katas.md").read_bytes()
    for kata in KATAS:
        stub = (ROOT / "assignment" / f"{kata}.py").read_bytes()
        for folder in ("assignment", "reference/stubs"):
            assert (new_handout / folder / f"{kata}.py").read_bytes() == stub
    assert not [name for name in list_files(new_handout) if name.endswith((".pyc", ".bak"))]
    editor = [f".vscode/{name}.json" for name in ("extensions", "settings", "tasks")]
    jsons = [name for name in list_files(new_handout) if name.endswith(".json")]
    assert jsons == [".devcontainer/devcontainer.json", *editor]


def test_course_can_override_agents_file(tmp_path: Path) -> None:
    project = copy_course(tmp_path / "project")
    own = project / "docs/AGENTS.md"
    own.parent.mkdir(exist_ok=True)
    for text in ("# Ask anybody\n", ""):
        own.write_text(text)
        out = tmp_path / f"out{len(text)}"
        assert call_grader("--course", project, "release", "--out", out, "--kata=linear").code == 0
        assert (out / "AGENTS.md").is_file() == bool(text)
        assert not text or (out / "AGENTS.md").read_text() == text
        assert "AGENTS.md" not in list_files(out / "docs")


@pytest.mark.sample
def test_handout_that_needs_private_file_is_not_written(tmp_path: Path) -> None:
    primes, out = shutil.copytree(PRIMES, tmp_path / "primes"), tmp_path / "out"
    tests = primes / "tests/test_sieve.py"
    tests.write_text(f"from reference.sieve import solution\n{tests.read_text('utf-8')}", "utf-8")
    done = call_grader("--course", primes, "release", "--out", out)
    assert (done.code, out.exists()) == (3, False)
    assert "the handout would need reference/sieve/solution.py, which is for instructors only" in done.err


def strip_docstrings(tree: ast.Module) -> dict[str, str]:
    """Remove all docstrings and return them, keyed by name. The docstring of the module has the name ""."""
    found = {}
    for name, node in [("", tree), *documented(tree, "")]:
        if (text := ast.get_docstring(node)) is not None:
            found[name] = text
            node.body[:1] = []
    return found


def test_chinese_handout_has_chinese_docstrings(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert call_grader("release", "--out", out, "--kata=all", "--language=zh").code == 0
    assert read_course(out).languages == ("zh", "en")
    for name in course().katas:
        trees = [ast.parse((folder / f"assignment/{name}.py").read_text("utf-8")) for folder in (out, ROOT)]
        chinese, english = map(strip_docstrings, trees)
        tasks, title = find_texts(name, "stub", "zh"), find_text(name, "title", "zh")
        wanted = english | tasks | {"": tasks.pop(f"{name}.py", title) or english[""]}
        assert chinese == {one: wanted[one] for one in english}
        assert ast.unparse(trees[0]) == ast.unparse(trees[1]), "only docstrings may differ"
    assert "权重" in (out / "assignment/linear.py").read_text("utf-8")
    assert (out / "reference/stubs/linear.py").read_bytes() == (out / "assignment/linear.py").read_bytes()
    assert run_as_student("pytest", "--kata=linear", "--examples=1", cwd=out).code == 1


@pytest.mark.usefixtures("primes")
def test_broken_handout_fails_its_checks() -> None:
    files, solution = build_handout(course().with_prerequisites(["sieve"])), course().solution("sieve").read_bytes()
    wrong = files["tests/test_sieve.py"].replace(b"oracle.primes(", b"[0] + oracle.primes(")
    for name, content, words in (
        ("assignment/sieve.py", solution, "untouched: sieve done; each should be not_started"),
        ("conftest.py", b"import nowhere", "the handout's tests do not run"),
        ("tests/test_sieve.py", wrong, "with the solution: sieve wrong; each should be done"),
    ):
        with pytest.raises(GraderError, match=words):
            prove({**files, name: content}, ["sieve"], examples=1)


def test_release_includes_selected_katas_and_their_prerequisites(tmp_path: Path) -> None:
    chosen, workloads = ("cruncher", "sgd"), ["cruncher_step", "linear_forward", "sgd_step"]
    katas = [kata.name for kata in course().with_prerequisites(chosen)]
    done = call_grader("release", "--out", tmp_path / "out", *(f"--kata={kata}" for kata in chosen))
    assert done.code == 0
    assert set(katas) == {*chosen}.union(*(course().prerequisites(kata) for kata in chosen))
    assert "included because others build on them" in done.out
    made = read_course(tmp_path / "out")
    assert made.katas == {kata: course().katas[kata] for kata in katas}
    assert (made.limits, made.preload, made.languages) == (course().limits, course().preload, course().languages)
    assert [*made.tracks] == [*made.graded] == ["core"]
    own = ["workloads.toml", *(f"{name}.py" for name in [*workloads, "optimizers", "training"])]
    assert (sorted(made.workloads), list_files(tmp_path / "out/reference/workloads")) == (workloads, sorted(own))
    others = {f"{kata}.py" for kata in KATAS if kata not in katas}
    for folder in ("assignment", "reference/stubs"):
        assert others.isdisjoint(path.name for path in (tmp_path / "out" / folder).glob("*.py"))
    assert {path.parent.name for path in (tmp_path / "out/reference").glob("*/kata.toml")} == {*katas}
    tests = {path.stem for path in (tmp_path / "out/tests").glob("test_*.py")}
    assert tests - {"test_speed"} == {f"test_{kata}" for kata in katas}
    out = run_as_student("torchkata", cwd=tmp_path / "out").out
    assert [line.split()[0] for line in out.splitlines() if line.startswith("  ")] == katas
    ended = run_as_student("pytest", "-m", "gpu or not gpu", "--examples=1", cwd=tmp_path / "out")
    assert ended.code == 1, ended.out + ended.err
    assert all(f"  {kata} " in ended.out for kata in katas)
    write_solution(tmp_path / "out", *katas)
    shutil.copy(ROOT / "grader/tests/support/fake_gpu.py", tmp_path / "out")
    timed = run_as_student("pytest", "-m", "gpu", "-p", "fake_gpu", cwd=tmp_path / "out")
    assert (timed.code, "3 passed" in timed.out) == (0, True), timed.out + timed.err


def test_handout_installs_in_its_own_environment(handout: Path, tmp_path: Path) -> None:
    programs = make_student_environment(tmp_path / "venv")
    install_handout(programs, handout)
    place = run_installed(programs, tmp_path, "python", "-c", "import torchkata; print(torchkata.__file__)").out
    assert place.startswith(str(programs.parent)), "not that of the checkout"
    first, started, second = (run_installed(programs, handout, "kata", *command) for command in ((), ("next",), ()))
    assert f"0 of {len(CORE)} done" in first.out
    assert "same_storage  not started    0/6" in started.out
    assert re.search("same_storage +not started +0/6", second.out), "the handout must show its own progress"
    assert (handout / ".kata/progress.json").is_file()
    write_solution(handout, "same_storage")
    assert re.search("same_storage +done +6/6", run_installed(programs, handout / "tests", "pytest").out)
    refused = run_installed(programs, tmp_path, "kata", "init", "new")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "part of an instructor's handout" in refused.err


def test_wheel_of_the_engine_is_complete_and_reproducible() -> None:
    version, content = build_wheel()
    assert (version, content) == build_wheel()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert {name: text for name, text in files.items() if name.startswith("torchkata/")} == {
        path.relative_to(ROOT).as_posix(): path.read_bytes() for path in list_engine_files("torchkata")
    }
    about = {
        name.removeprefix(f"torchkata-{version}.dist-info/"): text.decode()
        for name, text in files.items()
        if not name.startswith("torchkata/")
    }
    assert {*about} == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    assert (about["licenses/LICENSE"], "grader" in "".join(files)) == ((ROOT / "LICENSE").read_text("utf-8"), False)
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    fields = email.message_from_string(about["METADATA"])
    assert (fields["Name"], fields["Version"], fields["Requires-Python"]) == ("torchkata", version, ">=3.11")
    assert {*map(Requirement, fields.get_all("Requires-Dist", []))} == {*map(Requirement, ours["dependencies"])}
    points = configparser.ConfigParser()
    points.read_string(about["entry_points.txt"])
    assert {*points["console_scripts"]} == {"kata", "torchkata"}
    assert dict(points["pytest11"]) == ours["entry-points"]["pytest11"]
    rows = {name: (digest, size) for name, digest, size in csv.reader(about["RECORD"].splitlines())}
    assert rows.pop(f"torchkata-{version}.dist-info/RECORD") == ("", "")
    assert rows == {
        name: (f"sha256={urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip('=')}", str(len(text)))
        for name, text in files.items()
        if not name.endswith("/RECORD")
    }


def test_handout_hides_no_module_of_python() -> None:
    files = [Path(name) for name in build_handout([*course().katas.values()])]
    modules = {path.stem for path in files if path.suffix == ".py" and path.parent.name in ("", "tests", "assignment")}
    assert len(modules) > 80
    assert modules & sys.stdlib_module_names == set()


def test_handout_has_the_project_settings(new_handout: Path) -> None:
    made, ours = (tomllib.loads((root / "pyproject.toml").read_text("utf-8")) for root in (new_handout, ROOT))
    assert made["project"]["requires-python"] == ours["project"]["requires-python"]
    assert made["project"]["dependencies"] == ["torchkata"]
    students = sorted(ours["dependency-groups"]["students"])
    assert made["dependency-groups"]["students"] == students
    wheel, *packages = (new_handout / "requirements.txt").read_text("utf-8").splitlines()
    assert (packages, (new_handout / wheel).is_file()) == (students, True)
    assert made["tool"]["torchkata"]["grader_python"] == "{}.{}".format(*sys.version_info)
    made_options, options = (settings["tool"]["pytest"]["ini_options"] for settings in (made, ours))
    assert {**options, "markers": [one for one in options["markers"] if one.startswith("gpu")]} == made_options
    uv = made["tool"]["uv"]
    [index] = uv["index"]
    torch = {"index": index["name"], "marker": "sys_platform == 'linux'"}
    assert uv["sources"] == {"torch": torch, "torchkata": {"path": wheel.removeprefix("./")}}
    assert (index["url"], index["explicit"]) == ("https://download.pytorch.org/whl/cpu", True)
    assert index["url"] in (new_handout / "README.md").read_text("utf-8"), "the README must name the index for pip"


def test_readme_lists_the_katas(new_handout: Path) -> None:
    readme = (new_handout / "README.md").read_text("utf-8")
    assert all(f"| `assignment/{kata.name}.py` | {kata.title} |" in readme for kata in course().katas.values())
    assert readme.startswith(f"# {course().title}\n")
    assert "[docs/students.md](docs/students.md)" in readme
    assert not re.search(r"TITLE|TORCH|PIP|GUIDES|KATAS", readme)
    ignored = (new_handout / ".gitignore").read_text().splitlines()
    assert {"/.kata/", "/assignment.zip", ".hypothesis/"} <= set(ignored)


def test_editor_settings_name_existing_commands_and_files(new_handout: Path) -> None:
    [task] = json.loads((new_handout / ".vscode/tasks.json").read_text())["tasks"]
    assert task["args"][-1] in make_parser()[1]
    container = json.loads((new_handout / ".devcontainer/devcontainer.json").read_text("utf-8"))
    assert container["name"] == course().title
    assert all((new_handout / name).is_file() for name in container["customizations"]["codespaces"]["openFiles"])


def test_handout_of_course_without_torch_mentions_no_torch(tmp_path: Path) -> None:
    done = call_grader("--course", PRIMES, "release", "--out", tmp_path / "out", "--prove")
    assert (done.code, "proven: all stubs count as not started" in done.out) == (0, True), done.err
    files = [name for name in list_files(tmp_path / "out") if not name.endswith(".whl")]
    assert not [name for name in files if "torch.org" in (tmp_path / "out" / name).read_text("utf-8")]
    assert not re.search(r"torch\b|docs/|TITLE|TORCH|GUIDES|KATAS", (tmp_path / "out/README.md").read_text("utf-8"))


@pytest.mark.sample
def test_release_rejects_stub_with_implementation(tmp_path: Path) -> None:
    project = copy_course(tmp_path / "project")
    shutil.copy(SOLUTION / "linear.py", project / "assignment")
    done = call_grader("--course", project, "release", "--out", tmp_path / "out")
    assert done.code == 2
    assert done.err == "grader: assignment/linear.py: __init__ is already implemented; release needs stubs\n"
    assert not (tmp_path / "out").exists()


def test_release_overwrites_only_an_earlier_release(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert call_grader("release", "--out", out).code == 0
    (out / ".git").mkdir()
    (out / "assignment/linear.py").write_text("filled in")
    again = call_grader("release", "--out", out, "--kata", "same_storage")
    assert again.code == 2
    assert again.err == f"grader: {out}: is not empty; use --update to update a handout\n"
    forced = call_grader("release", "--out", out, "--kata", "same_storage", "--force")
    assert (forced.code, (out / "assignment/linear.py").read_text()) == (2, "filled in")
    assert f"{out}/assignment/linear.py: was edited, and --force would overwrite it; --update keeps it" in forced.err
    (out / "assignment/linear.py").unlink()
    released = call_grader("release", "--out", out, "--kata", "same_storage", "--force")
    assert (released.code, " 1 kata: same_storage" in released.out) == (0, True)
    assert list_files(out / "assignment") == ["__init__.py", "same_storage.py"]
    assert (out / ".git").is_dir(), "files that no release wrote must be kept"
    assert run_as_student("pytest", cwd=out).code == 1
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/tests").write_text("mine")
    for option in ("--force", "--update"):
        refused = call_grader("release", "--out", tmp_path / "thesis", option)
        assert refused.err.endswith("is neither empty nor a handout; choose another directory\n")
    assert list_files(tmp_path / "thesis") == ["tests"]
    (tmp_path / "file").write_text("")
    assert call_grader("release", "--out", tmp_path / "file", "--force").code == 2
    assert call_grader("release", "--out", tmp_path / "new", "--update").err.endswith("contains no handout to update\n")


@pytest.mark.parametrize("place", [ROOT, ROOT.parent, ROOT / "torchkata", ROOT / "tests/new", Path("/")])
def test_release_refuses_to_overwrite_this_project(place: Path) -> None:
    with pytest.raises(CallError, match="is part of this project"):
        command.check_output(place, force=True)
