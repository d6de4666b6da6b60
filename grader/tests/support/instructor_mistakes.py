"""A small course, and mistakes that an instructor could make in its files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

Change: TypeAlias = "tuple[str, str] | str | bytes | None"


def make_function(name: str, returned: str) -> str:
    """Return the source of a function of `n`."""
    return f'def {name}(n: int) -> int:\n    """Compute it."""\n    return {returned}\n'


STUB_CODE = 'def {}(n: int) -> int:\n    """Double or quadruple n."""\n    raise NotImplementedError\n'
COURSE = {
    "pyproject.toml": """\
[tool.torchkata]
title = "Doubles"
preload = []

[tool.torchkata.tracks]
numbers = "Numbers"

[tool.torchkata.limits]
call_seconds = 1.0
test_seconds = 0.5
memory_mib = 256

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]
addopts = ["-q", "--no-header", "--strict-markers", "--strict-config", "--import-mode=importlib"]
""",
    "conftest.py": 'pytest_plugins = ("torchkata.pytest_plugin.plugin",)\n',
    **dict.fromkeys((f"{name}/__init__.py" for name in ("assignment", "reference", "tests", "tests/probes")), ""),
    "assignment/double.py": STUB_CODE.format("double"),
    "assignment/quadruple.py": STUB_CODE.format("quadruple"),
    "reference/double/kata.toml": """\
title = "Double a number"
track = "numbers"
place = 1
hints = ["What is n + n?"]

[tests]
central = ["test_any_number_is_doubled"]
essential = ["test_zero_stays"]
""",
    "reference/double/oracle.py": make_function("double", "n + n"),
    "reference/double/mistakes.py": f"""\
from reference.double import oracle
from torchkata import instead_of


@instead_of(oracle.double, "it is squared")
{make_function("squared", "n * n")}""",
    "reference/double/solution.py": make_function("double", "n << 1"),
    "reference/double/fallback.py": make_function("double", "2 * n"),
    "reference/double/wrong.toml": """\
[squares]
breaks = "twice, not squared"
looks_like = "squared"
replace = [["n << 1", "n * n"]]
""",
    "reference/double/right/added.py": make_function("double", "n + n"),
    "reference/quadruple/kata.toml": """\
title = "Quadruple a number"
track = "numbers"
place = 2
builds_on = ["double"]
numeric = false

[tests]
central = ["test_any_number_is_quadrupled"]
""",
    "reference/quadruple/oracle.py": make_function("quadruple", "4 * n"),
    "reference/quadruple/solution.py": f"from .double import double\n{make_function('quadruple', 'double(double(n))')}",
    "reference/quadruple/wrong.toml": """\
[once]
breaks = "four times"
replace = [["double(double(n))", "double(n)"]]
""",
    "tests/probes/double.py": """\
from typing import Any

from torchkata import typed


@typed("double(n)")
def doubled(assignment: Any, n: int) -> int:
    return assignment.double.double(n)
""",
    "tests/strategies.py": """\
from hypothesis import strategies as st


def numbers() -> st.SearchStrategy[int]:
    return st.integers(-100, 100)
""",
    "tests/test_double.py": '''\
from hypothesis import given

from reference.double import oracle
from tests.probes.double import doubled
from tests.strategies import numbers
from torchkata import Student, assert_equal


@given(n=numbers())
def test_any_number_is_doubled(student: Student, n: int) -> None:
    """double(n) is n + n."""
    assert_equal(student.call(doubled, n), oracle.double(n))


def test_zero_stays(student: Student) -> None:
    """double(0) is 0."""
    assert_equal(student.call(doubled, 0), oracle.double(0))
''',
    "tests/test_quadruple.py": '''\
from hypothesis import given
from hypothesis import strategies as st

from reference.quadruple import oracle
from torchkata import Student, assert_equal


@given(n=st.integers(-100, 100))
def test_any_number_is_quadrupled(student: Student, n: int) -> None:
    """quadruple(n) is 4n."""
    assert_equal(student.call("quadruple", n), oracle.quadruple(n))
''',
}

TEST, PROBE, STRATEGIES = "tests/test_double.py", "tests/probes/double.py", "tests/strategies.py"
ORACLE, MISTAKES, SOLUTION = (f"reference/double/{name}.py" for name in ("oracle", "mistakes", "solution"))
KATA, STUB = "reference/double/kata.toml", "assignment/double.py"
PROJECT, CONFTEST = "pyproject.toml", "conftest.py"
FLAKY = "import secrets\n    assert n == 0 or secrets.randbelow(2)\n    return"  # 0 alone might pass by chance
LACKS = "oracle.py does not define double, which tests/test_double.py uses"
COMPARED = "assert_equal(student.call(doubled, n), oracle.double(n))"


@dataclass(frozen=True)
class Mistake:
    """A mistake of an instructor.

    `changes` maps a file to its new content, to a pair (old, new) of text, or to None if it is missing. `messages`
    maps a command to the text that it must print. No command may print a traceback or blame a student.
    """

    name: str
    changes: Mapping[str, Change]
    messages: Mapping[str, str] = field(default_factory=dict)
    ends_pytest: bool = False  # whether pytest exits before it loads the plugin


def expect_in_all(text: str) -> dict[str, str]:
    """Return the `messages` of a mistake for which every command must print this text."""
    return dict.fromkeys(("pytest", "kata", "certify", "grade", "release"), text)


def break_file(file: str, old: str, new: str, message: str = "") -> tuple[dict[str, Change], dict[str, str]]:
    """Return the `changes` and `messages` of a mistake that makes a test of `double` fail."""
    return {file: (old, new)}, dict.fromkeys(("pytest", "grade"), message or file)


MISTAKE_CASES = [
    # pyproject.toml
    Mistake("no pyproject.toml", {PROJECT: None}, {"grade": "there is no course here", "kata": "no course here"}),
    Mistake("pyproject.toml is not valid TOML", {PROJECT: "[tool.torchkata"}, expect_in_all(PROJECT)),
    Mistake("pyproject.toml is not UTF-8", {PROJECT: b'title = "\xe4"\n'}, expect_in_all(PROJECT), ends_pytest=True),
    Mistake("a preloaded package is missing", {PROJECT: ("[]", '["nonesuch"]')}, {"grade": "nonesuch"}),
    # kata.toml
    Mistake("no kata.toml", {KATA: None}, expect_in_all("double")),
    # the oracle
    Mistake("no oracle", {ORACLE: None}, {"pytest": "oracle", "grade": "oracle", "certify": "oracle"}),
    Mistake("the oracle lacks a function", {ORACLE: ("def double", "def doubled")}, {"pytest": LACKS, "grade": LACKS}),
    Mistake("a syntax error in the oracle", {ORACLE: ("def double(", "def double((")}, {"grade": ORACLE}),
    Mistake("the oracle raises for some inputs", *break_file(ORACLE, "return", "1 / n\n    return")),
    Mistake("the oracle is wrong", {ORACLE: ("n + n", "n + n + 1")}, {"grade": TEST}),
    Mistake("the oracle never ends", *break_file(ORACLE, "return", "while True:\n        pass\n    return")),
    Mistake("the oracle exits", *break_file(ORACLE, "return", "raise SystemExit\n    return")),
    Mistake("the oracle prints", {ORACLE: ("return", "print('twice')\n    return")}),
    Mistake("the oracle is slow", {ORACLE: ("return", "sum(range(10**5))\n    return")}),
    Mistake("the oracle is flaky", {ORACLE: ("return", FLAKY)}, {"grade": ORACLE}),
    # mistakes and solution
    Mistake("the mistakes raise when they are imported", {MISTAKES: "1 / 0\n"}, {"certify": MISTAKES}),
    Mistake(
        "a mistake replaces no function of the oracle",
        {MISTAKES: ("oracle.double,", "oracle.twice,")},
        {"certify": MISTAKES},
    ),
    Mistake(
        "a mistake lacks a parameter",
        {MISTAKES: ("(n: int)", "()")},
        {"certify": "no test gives its diagnosis; the variant for “it is squared” raised TypeError: squared() takes 0"},
    ),
    Mistake("no solution", {SOLUTION: None}, {"certify": SOLUTION, "grade": SOLUTION, "release": SOLUTION}),
    Mistake("a syntax error in the solution", {SOLUTION: "def double(n:\n"}, {"certify": "solution"}),
    Mistake("the solution is wrong", {SOLUTION: ("n << 1", "n << 2")}, {"certify": "n << 1"}),
    # the tests
    Mistake("no tests", {TEST: None}, expect_in_all("tests/test_double.py")),
    Mistake(
        "a syntax error in a test", {TEST: ("stays(", "stays((")}, {"pytest": TEST, "grade": TEST, "certify": TEST}
    ),
    Mistake("a test imports a missing module", *break_file(TEST, "import numbers", "import figures", "figures")),
    Mistake("a test raises after the call", *break_file(TEST, COMPARED, f"{COMPARED}\n    1 / 0")),
    Mistake("a test never ends", *break_file(TEST, COMPARED, f"while True:\n        n += 1\n    {COMPARED}")),
    Mistake("a test compares nothing", {TEST: (COMPARED, "student.call(doubled, n)")}, {"grade": TEST}),
    Mistake("a test passes a set", *break_file(TEST, "doubled, n)", "doubled, {n})", "call: n contains (set)")),
    Mistake("a test expects a set", *break_file(TEST, COMPARED, f"{COMPARED[:-1]} and {{n}})", "value contains (set)")),
    Mistake("a test misspells a fixture", {TEST: ("stays(student", "stays(studnet")}, {"grade": "studnet"}),
    Mistake("a test without a docstring", {TEST: ('    """double(0) is 0."""\n', "")}),
    # strategies and probes
    Mistake("a strategy raises", *break_file(STRATEGIES, "100)", "100).map(lambda n: 1 // 0)")),
    Mistake("a strategy draws nothing", *break_file(STRATEGIES, "100)", "100).filter(lambda n: False)", TEST)),
    Mistake("a strategy draws unsupported inputs", {STRATEGIES: ("integers(-100, 100)", "text()")}, {"grade": TEST}),
    Mistake("no probes", {PROBE: None}, {"pytest": "probes", "grade": "probes"}),
    Mistake("a probe raises", {PROBE: ("return", "1 / 0\n    return")}, {"grade": TEST}),
    Mistake("a probe never ends", {PROBE: ("return", "while True:\n        pass\n    return")}, {"grade": TEST}),
    # stub and conftest
    Mistake("no stub", {STUB: None}, dict.fromkeys(("release", "certify"), "; write it, or delete ")),
    Mistake("a syntax error in the stub", {STUB: "def double(n:\n"}, {"release": STUB}),
    Mistake("no conftest", {CONFTEST: None}),
    Mistake("the conftest raises", {CONFTEST: "1 / 0\n"}, {"pytest": CONFTEST, "grade": CONFTEST}),
]

NEEDS_SOLUTION = (  # in a handout, which has no solution, these mistakes look like a wrong answer
    "a probe raises",
    "a probe never ends",
    "the oracle is wrong",
    "a strategy draws unsupported inputs",
)
ARITHMETIC_ON_ANSWER: dict[str, Change] = {
    TEST: (COMPARED, "assert_equal(student.call(doubled, n) + 0, oracle.double(n))")
}
RETURNS_NONE = "def double(n: int) -> int:\n    n << 1\n"
RETURNS_TEXT = "def double(n: int) -> str:\n    return str(2 * n)\n"


def write_course(folder: Path, changes: Mapping[str, Change] = MappingProxyType({})) -> Path:
    """Write the course with the given changes and return its folder."""
    for name, text in COURSE.items():
        change = changes.get(name, text)
        if isinstance(change, tuple):
            assert text.count(change[0]) >= 1, (name, change)
            change = text.replace(change[0], change[1], 1)
        if change is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(change.encode() if isinstance(change, str) else change)
    return folder


def write_right_submission(folder: Path) -> Path:
    """Write the solutions of the original course and return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for kata in ("double", "quadruple"):
        (folder / f"{kata}.py").write_text(COURSE[f"reference/{kata}/solution.py"], "utf-8")
    return folder
