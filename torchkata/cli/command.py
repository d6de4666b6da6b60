"""The `kata` command: parses the command line and runs the command.

Exit codes: 0 success; 1 a test failed or the student's code raised an exception; 2 wrong usage; 3 a problem with the
machine; 130 Ctrl-C.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from torchkata.course import CourseError, Kata, NoCourseError, course, handout, nearest
from torchkata.i18n import _, translate
from torchkata.i18n.katas import texts_of_command
from torchkata.inside.source.text import VERSION
from torchkata.pytest_plugin.history import load_state
from torchkata.pytest_plugin.packages import demand_packages, find_versions
from torchkata.streams import prepare_streams

from . import about, export, hint, overview, plugins, predict, reset, runs, self_study
from .parser import Parser
from .terminal import UsageError, print_wrapped, say

ALIASES = {"run": "next", "test": "next"}  # not listed in the help


def make_parser() -> tuple[Parser, dict[str, Any]]:
    """Return the parser of the command line, and the parser of each command by name, including those of katas."""
    more = _("`kata COMMAND --help` shows the arguments of a command.")
    parser = Parser("kata", _("Show your progress and the next kata."), _("commands"), more)
    parser.add_argument("--version", action="store_true", help=_("show the versions of torchkata and Python"))
    commands = parser.add_subparsers(metavar=_("COMMAND"))

    def add(name: str, run: Callable[[Namespace], int | None], text: str) -> Parser:
        shown: Any = {} if name in ALIASES else {"help": text}
        command = commands.add_parser(name, description=text, **shown)
        command.set_defaults(run=run)
        return command

    def take_kata(command: Parser, text: str, **options: Any) -> None:
        command.add_argument("kata", metavar="KATA", type=find_kata, help=text, **options)

    one, next_one = _("name of a kata"), _("name of a kata (default: the next one to do)")
    add("list", show_overview, _("show your progress and the next kata, as `kata` does"))
    for name in ("next", *ALIASES):
        command = add(name, run_tests, _("run the tests of a kata; `kata NAME` and `kata test NAME` do the same"))
        take_kata(command, next_one, nargs="?")
    add("watch", watch, _("run the tests of a kata whenever you save its file"))
    take_kata(add("about", explain, _("explain a kata and the katas that it builds on")), next_one, nargs="?")
    take_kata(add("hint", show_hint, _("show one more hint, from gentle to explicit")), next_one, nargs="?")
    text = _("predict three numbers before you compute or measure them, and compare")
    take_kata(add("predict", ask_predictions, text), one)
    command = add("check", check, _("run the tests with as many inputs as the grader, and show your points"))
    take_kata(command, _("names of katas (default: all graded katas)"), nargs="*")
    command = add(
        "export", lambda given: export.export(given.zip), _("write the zip file to hand in, and list its problems")
    )
    text = _("name of the zip file (default: assignment.zip next to assignment/)")
    command.add_argument("zip", metavar="ZIP", nargs="?", type=Path, help=text)
    text = _("restore the original stub; your file is kept as a backup")
    command = add("reset", lambda given: reset.reset(given.kata, confirmed=given.yes), text)
    take_kata(command, one)
    command.add_argument("--yes", action="store_true", help=_("do not ask for confirmation"))
    text = _("write the course for self-learners into a new folder")
    command = add("init", lambda given: self_study.init(Path(given.folder)), text)
    text = _("name of the new folder (default: torchkata-course)")
    command.add_argument("folder", metavar="DIR", nargs="?", default=self_study.FOLDER, help=text)
    command = add("update", update, _("install a newer handout; assignment/ is not changed"))
    text = _("the newer handout: a folder, a zip or tar file, or a URL (not needed after `kata init`)")
    command.add_argument("handout", metavar="HANDOUT", nargs="?", default="", help=text)
    text = _("show the reference solution of a kata that is done (after `kata init`)")
    command = add("solution", lambda given: self_study.show_solution(given.kata, others=given.others), text)
    take_kata(command, one)
    command.add_argument("--others", action="store_true", help=_("also show correct solutions that do it differently"))
    for name, kata in plugins.find_commands().items():
        commands.add_parser(name, help=texts_of_command(kata)["help"])
    return parser, dict(commands.choices)


def run(arguments: Sequence[str]) -> int:
    """Run a command and return the exit code. `kata NAME` is short for `kata next NAME`.

    Raises UsageError if the command can't be executed, OSError if a file can't be read or written, or SystemExit after
    the help.
    """
    parser, commands = make_parser()
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    first, added = next(iter(arguments), ""), plugins.find_commands()
    if first in added:
        demand_packages()
        return plugins.run(added[first], arguments[1:])
    if first and first not in commands and not first.startswith("-"):
        arguments = ["next", find_kata(first, *commands).name, *arguments[1:]]
    options = parser.parse_args(arguments)
    if options.version:
        print(version())
        return 0
    return getattr(options, "run", show_overview)(options) or 0


def find_kata(name: str, *commands: str) -> Kata:
    """Return the kata with this name. Raises UsageError, which suggests a similar name, if it does not exist."""
    if name not in course().katas:
        if near := nearest(name, [*commands, *course().katas]):
            raise UsageError(_("there is no kata {kata}; did you mean {near}?", kata=repr(name), near=near))
        raise UsageError(_("there is no kata {kata}; run `kata` to list them all", kata=repr(name)))
    return course().katas[name]


def version() -> str:
    """Return the versions of torchkata and Python."""
    return f"torchkata {handout.find_version()}, Python {sys.version.split()[0]}"


def show_overview(_: Namespace) -> None:
    """Run `kata` and `kata list`."""
    overview.show(load_state())


def run_tests(options: Namespace) -> int:
    """Run `kata next`."""
    demand_packages()
    return test([kata]) if (kata := choose_kata(options)) else 0


def explain(options: Namespace) -> None:
    """Run `kata about`."""
    if kata := choose_kata(options):
        about.show(kata)


def show_hint(options: Namespace) -> None:
    """Run `kata hint`."""
    if kata := choose_kata(options):
        hint.show(kata)


def choose_kata(options: Namespace) -> Kata | None:
    """Return the named kata, or else the next kata to do. If all katas are done, say so and return None."""
    kata: Kata | None = options.kata or load_state().next()
    if kata is None:
        overview.show_next(load_state())
    return kata


def watch(_: Namespace) -> int:
    """Run `kata watch`."""
    demand_packages()
    from .watch import watch  # imports torch

    return watch()


def ask_predictions(options: Namespace) -> None:
    """Run `kata predict`."""
    demand_packages()
    predict.predict(options.kata)


def check(options: Namespace) -> int:
    """Run `kata check`: the tests with the grader's number of inputs, then what is different when graded."""
    demand_packages()
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        if os.environ.pop(name, None):
            print(_("{variable} is set; `kata check` ignores it, as the grader does", variable=name), file=sys.stderr)
    katas = options.kata or course().choose([], course().graded)
    if runs.can_isolate():
        os.environ.update(runs.ONE_THREAD)
    code = test(katas, "--hypothesis-profile=grade", *(runs.ISOLATED if runs.can_isolate() else ()))
    if code in (0, 1):  # pytest has run the tests
        print()
        limits = course().limits
        versions = [f"{name} {version}" for name in course().packages for version in find_versions(name)]
        values: dict[str, object] = {"yours": ", ".join([f"Python {VERSION}", *versions]), "memory": limits.memory_mib}
        values |= {"test": f"{limits.test_seconds:g}", "kata": f"{limits.kata_seconds:g}"}
        text = _(
            "The number of inputs and the time limit of a call are those of the grader.\nThe grader differs:\n  - It "
            "draws other inputs, and it runs on another machine, perhaps with other versions than yours ({yours}).\n"
            "  - It tests only the files that `kata export` puts into the zip file.\n  - Its sandbox refuses "
            "processes, the network and the course's files.\n  - It also limits the CPU time of all calls of a test "
            "({test} s) and of a kata ({kata} s).\n  - It replaces an unfinished kata with working code for the katas "
            "that build on it, so these may get more points.",
            **values,
        )
        print_wrapped(text, 4)
        if not runs.can_isolate():
            text = _(
                "  - It limits memory ({memory} MiB) and runs each test in a new process. Here, your code can change "
                "what other katas use, and it ends this run if it exits Python or can't be interrupted.",
                **values,
            )
            print_wrapped(text, 4)
        export.check_files([kata.name for kata in katas])
    return code


def update(options: Namespace) -> None:
    """Run `kata update`."""
    from .update import update  # imports urllib

    update(options.handout)


def test(katas: Sequence[Kata], *options: str) -> int:
    """Run the tests of these katas in this process and return the exit code of pytest."""
    import pytest

    names = ",".join(kata.name for kata in katas)
    tests = os.path.relpath(course().tests)  # pytest does not accept a path with [
    code = pytest.main([*runs.list_options(), *options, f"--kata={names}", tests])
    if code == pytest.ExitCode.USAGE_ERROR and (added := os.environ.get("PYTEST_ADDOPTS")):
        print(_("kata: {text}", text=_("the variable PYTEST_ADDOPTS adds these options: {options}", options=added)))
    return code


def main() -> NoReturn:
    """Run the command line."""
    prepare_streams()
    try:
        try:
            code = run(sys.argv[1:])
        finally:
            sys.stdout.flush()
        sys.exit(code)
    except NoCourseError:
        text = _(
            "there is no course here: change to the folder that contains its pyproject.toml, or write a new course "
            "with `kata init`"
        )
        print(_("kata: {text}", text=text), file=sys.stderr)
        sys.exit(2)
    except (UsageError, CourseError) as error:
        print(_("kata: {text}", text=translate(error)), file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the program that reads the output (such as `head`) has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        print(_("kata: {text}", text=error), file=sys.stderr)
        sys.exit(3)
    except KeyboardInterrupt:
        say("kata: stopped")
        sys.exit(130)
