"""An instructor grades, waives, marks and exports a class of thirty: every row, mark and printed line is asserted."""

import csv
import shutil
from pathlib import Path

import pytest

from grader.tests.conftest import Run, run
from grader.tests.support.class_of_thirty import BROKEN, CANVAS_BOOK, CLASS, FOLDER, write_class
from grader.tests.support.submissions import PRIMES

BROKEN_TEST = "factorise.test_one_has_no_factors"
FIRST_LINES = """\
grader: tests/test_factorise.py: test_one_has_no_factors fails with the reference solution, so everybody gets its points
  factorise · factorise(1) is the empty list, because 1 is the product of no primes
    input     n = 1; factorise(n)
    expected  [1]
    yours     []
    again: pytest course/tests/test_factorise.py::test_one_has_no_factors \
--hypothesis-profile grade --examples 5 --seed 0
"""
LAST_LINES = """\
isolation: none
results:   results/<submission>/result.json
gradebook: results/gradebook.csv
page:      grader report results
"""
PRINTED = {
    "canvas": """\
canvas: 8 submissions
  skipped: eulerleonhard_105_9000_essay.docx
submission     score sieve factorise
────────────────────────────────────
abelniels    100/100    50        50
boolegeorge  100/100    50        50
cantorgeorg  100/100    50        50
hilbertdavid 100/100    50        50
? inconclusive   … timed out   !
crashed   ✗ wrong   – not started
factorise.test_one_has_no_factors is waived: 4 submissions get its full points
""",
    "moodle": """\
moodle: 8 submissions
submission     score sieve factorise
────────────────────────────────────
Ida Noddack  100/100    50        50
Jan Oort      55/100    50       5 –
Lise Meitner 100/100    50        50
Max Born     100/100    50        50
Nina Bari    100/100    50        50
Otto Hahn    100/100    50        50
Paul Erdős   100/100    50        50
? inconclusive   … timed out   !
crashed   ✗ wrong   – not started
factorise.test_one_has_no_factors is waived: 7 submissions get its full points
""",
    "gradescope": """\
gradescope: 7 submissions
submission      score sieve factorise
─────────────────────────────────────
submission_1  100/100    50        50
submission_2 55.5/100 5.5 ✗        50
submission_4  100/100    50        50
submission_5  100/100    50        50
submission_6   50/100   0 –        50
submission_7   55/100    50       5 –
? inconclusive   … timed out   !
crashed   ✗ wrong   – not started
factorise.test_one_has_no_factors is waived: 6 submissions get its full points
files that were left aside, but may be katas:
  submission_6  sieve.py is missing or not started; there is Sieve.py: is it this one?
""",
    "github": """\
github: 7 submissions
submission   score sieve factorise
──────────────────────────────────
hw1-ada    100/100    50        50
hw1-bea      5/100   0 –       5 –
hw1-eva     50/100   0 !        50
hw1-fay    100/100    50        50
hw1-gil    100/100    50        50
? inconclusive   … timed out   !
crashed   ✗ wrong   – not started
factorise.test_one_has_no_factors is waived: 5 submissions get its full points
findings in the sources (shown only to you; they do not affect points):
  hw1-eva  sieve.py, line 15: SyntaxError: could not be parsed
""",
}
DIFFER = "and they differ: hand in one"
UNREADABLE = {  # path, and why it can't be read
    "canvas/fermatpierre_106_9000_hw.rar": "contains no kata; fermatpierre_106_9000_hw.rar: a .rar archive can't be "
    "read; hand in a .zip",
    "canvas/galoisevariste_107_9000_hw.zip": "is compressed with an unusual method; use another program to make the "
    ".zip",
    "canvas/diracpaul_104_files": "contains no kata; there is Sieve.py: is it sieve.py?; there is factorise (1).py: is "
    "it factorise.py?",
    "canvas/eulerleonhard_105_files": "contains no kata; it has essay.docx",
    "moodle/Kurt Gödel_203_assignsubmission_file": f"factorise.py is in draft and final, {DIFFER}",
    "gradescope/submission_3": "contains no kata; there is sieve.ipynb: is it sieve.py?",
    "github/hw1-cem": f"factorise.py is in alice and bob, {DIFFER}",
    "github/hw1-dan": "looks like a class from Moodle, not like a single submission",
}
DONE, HALF = "50.0 done 50.0 done", "50.0 done 5.0 not_started"
GRADED = {  # points and status of sieve and factorise
    "Ida Noddack_201_assignsubmission_file": DONE,
    "Jan Oort_202_assignsubmission_file": HALF,
    "Lise Meitner_204_assignsubmission_file": DONE,
    "Max Born_205_assignsubmission_file": DONE,
    "Nina Bari_206_assignsubmission_file": DONE,
    "Otto Hahn_207_assignsubmission_file": DONE,
    "Paul Erdős_208_assignsubmission_file": DONE,
    "abelniels_101_files": DONE,
    "boolegeorge_102_files": DONE,
    "cantorgeorg_LATE_103_9000_hw": DONE,
    "hilbertdavid_108_9000_hw-1": DONE,
    "hw1-ada": DONE,
    "hw1-bea": "0.0 not_started 5.0 not_started",
    "hw1-eva": "0.0 crashed 50.0 done",
    "hw1-fay": DONE,
    "hw1-gil": DONE,
    "submission_1": DONE,
    "submission_2": "5.5 wrong 50.0 done",
    "submission_4": DONE,
    "submission_5": DONE,
    "submission_6": "0.0 not_started 50.0 done",
    "submission_7": HALF,
}
WAIVED = f"waived, with full points: sieve.test_upper_bound_is_exclusive, {BROKEN_TEST}"
UNREAD = "not graded, because the submission can't be read: "  # continued in UNREADABLE
LATE = "late; there is no mark until the time of submission is known"
MARKS = {  # submission, raw points, mark, and reasons. A waived test is worth 5 points, the other 10
    "abel": ("abelniels_101_files", "100.0", "100.0", WAIVED),
    "boole": ("boolegeorge_102_files", "100.0", "", f"{WAIVED}; {LATE}"),
    "cantor": ("cantorgeorg_LATE_103_9000_hw", "100.0", "90.0", f"1 day late; {WAIVED}"),
    "dirac": ("diracpaul_104_files", "0.0", "0.0", UNREAD),
    "euler": ("eulerleonhard_105_files", "0.0", "0.0", UNREAD),
    "fermat": ("fermatpierre_106_9000_hw", "0.0", "0.0", UNREAD),
    "galois": ("galoisevariste_107_9000_hw", "0.0", "0.0", UNREAD),
    "hilbert": ("hilbertdavid_108_9000_hw-1", "100.0", "100.0", WAIVED),
    "ida": ("Ida Noddack_201_assignsubmission_file", "100.0", "100.0", WAIVED),
    "jan": ("Jan Oort_202_assignsubmission_file", "55.0", "55.0", WAIVED),
    "kurt": ("Kurt Gödel_203_assignsubmission_file", "0.0", "0.0", UNREAD),
    "lise": ("Lise Meitner_204_assignsubmission_file", "100.0", "100.0", WAIVED),
    "max": ("Max Born_205_assignsubmission_file", "100.0", "100.0", WAIVED),
    "nina": ("Nina Bari_206_assignsubmission_file", "100.0", "100.0", WAIVED),
    "otto": ("Otto Hahn_207_assignsubmission_file", "100.0", "90.0", f"1 day late; {WAIVED}"),
    "paul": ("Paul Erdős_208_assignsubmission_file", "100.0", "100.0", WAIVED),
    "rita": ("", "", "", ""),
    "rosa": ("submission_1", "100.0", "100.0", WAIVED),
    "sam": ("submission_2", "61.25", "61.25", WAIVED),
    "tim": ("submission_3", "0.0", "0.0", UNREAD),
    "uma": ("submission_4", "100.0", "100.0", WAIVED),
    "vera": ("submission_5", "100.0", "80.0", f"2 days late; {WAIVED}"),
    "will": ("submission_6", "55.75", "55.75", WAIVED),
    "xia": ("submission_7", "55.0", "55.0", WAIVED),
    "yan": ("submission_7", "55.0", "55.0", WAIVED),
    "ada": ("hw1-ada", "100.0", "100.0", WAIVED),
    "bea": ("hw1-bea", "10.75", "10.75", WAIVED),
    "cem": ("hw1-cem", "0.0", "0.0", UNREAD),
    "dan": ("hw1-dan", "0.0", "0.0", UNREAD),
    "eva": ("hw1-eva", "55.75", "55.75", WAIVED),
    "fay": ("hw1-fay", "100.0", "100.0", WAIVED),
}
PEOPLE = "marks:     people/marks.csv\npeople:    31; 30 submitted, 4 of them late\nmissing:   rita\n"
PEOPLE += "export:    grader export results --format PLATFORM --class people --gradebook FILE --out FILE\n"
WAIVERS = f"""\
sieve.test_upper_bound_is_exclusive is waived: 22 submissions get its full points
{BROKEN_TEST} is waived: 22 submissions get its full points
"""
PROBLEMS = """\
grader: diracpaul_104_files, eulerleonhard_105_files, fermatpierre_106_9000_hw, galoisevariste_107_9000_hw, \
hilbertdavid_108_9000_hw-1, hw1-ada, hw1-bea, hw1-cem, hw1-dan, hw1-eva and 1 more (11 in all): submission time \
unknown, counted as on time; add it to times.csv
grader: hw1-gil: no owner in the class list; enter it in the owner's `submission` column
grader: boolegeorge_102_files: late by Canvas, so there is no mark yet; enter the time in times.csv
grader: diracpaul_104_files, eulerleonhard_105_files, fermatpierre_106_9000_hw, galoisevariste_107_9000_hw, \
Kurt Gödel_203_assignsubmission_file, submission_3, hw1-cem, hw1-dan (8 in all): could not be read when it was graded
"""
EXPORTED = {
    "canvas": """\
wrote 6 rows; 23 people are not in this gradebook: ida, jan, kurt, lise, max, nina, otto, paul, rita, rosa and 13 more
kept 1 cell with another value (--force replaces them): euler: EX
""",
    "moodle": """\
wrote 8 rows; 22 people are not in this gradebook: abel, boole, cantor, dirac, euler, fermat, galois, hilbert, rosa, \
sam and 12 more
""",
}


def call(folder: Path, *command: str) -> Run:
    """Run `grader …` in the folder of the instructor. Return its output without spaces at the ends of lines."""
    done = run("grader", "--course", "course", *command, cwd=folder)
    out, err = ("".join(f"{line.rstrip()}\n" for line in text.splitlines()) for text in (done.out, done.err))
    return Run(done.code, out, err)


def read_rows(path: Path, key: str) -> dict[str, dict[str, str]]:
    return {row[key]: row for row in csv.DictReader(path.read_text("utf-8").splitlines())}


def fill(book: str, column: str) -> str:
    """Return a gradebook in which the empty cells of a column contain the marks, written as numbers."""
    first, *lines = book.splitlines()
    place = first.split(",").index(column)
    for number, line in enumerate(lines):
        cells = line.split(",")
        person = cells[1 if column == "Bewertung" else 0].split()[0].lower()
        if person in MARKS and not cells[place]:
            mark = MARKS[person][2]
            cells[place] = f"{float(mark):g}" if mark else ""
        lines[number] = ",".join(cells)
    return "\n".join([first, *lines, ""])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the class, and a course of which one test fails for everybody."""
    write_class(tmp_path)
    shutil.copytree(PRIMES, tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    test = tmp_path / "course/tests/test_factorise.py"
    assert test.read_text("utf-8").count(BROKEN[0]) == 1
    test.write_text(test.read_text("utf-8").replace(*BROKEN), "utf-8")
    (tmp_path / "canvas.csv").write_text(CANVAS_BOOK, "utf-8")
    return tmp_path


def test_class_of_thirty_is_graded_marked_and_exported(folder: Path) -> None:
    options = ("--out", "results", "--examples", "5", "--isolation", "none", "--seed", "0", "--jobs", "2")
    for layout in CLASS:
        done = call(folder, "grade", layout, "--layout", layout, *options)
        refused = [f"grader: {path}: {why}\n" for path, why in UNREADABLE.items() if path.startswith(layout)]
        warning, _, problems = done.err.partition("\n")
        assert warning.startswith("warning: Students' code is confined by resource limits only")
        assert (done.out, problems) == (PRINTED[layout] + LAST_LINES, "".join(refused) + FIRST_LINES)
        assert done.code == 3, "a test is broken"

    rows = read_rows(folder / "results/gradebook.csv", "submission")
    reasons = {Path(path.removesuffix(".rar").removesuffix(".zip")).name: why for path, why in UNREADABLE.items()}
    katas = ("sieve", "sieve_status", "factorise", "factorise_status")
    readable = {name: row for name, row in rows.items() if not row["unreadable"]}
    assert {name: " ".join(row[column] for column in katas) for name, row in readable.items()} == GRADED
    assert {row["waived"] for row in readable.values()} == {BROKEN_TEST}
    assert {name: row["unreadable"] for name, row in rows.items() if name not in readable} == reasons
    assert {rows[name]["score"] for name in reasons} == {"0.0"}
    assert len(rows) == 30

    done = call(folder, "marks", "results", "people")
    assert (done.code, done.out, done.err) == (2, PEOPLE + WAIVERS, PROBLEMS)
    marks = read_rows(folder / "people/marks.csv", "id")
    columns = ("submission", "raw", "final", "reasons")
    expected = {id: (*row[:3], row[3] + reasons.get(row[0], "")) for id, row in MARKS.items()}
    assert {id: tuple(row[column] for column in columns) for id, row in marks.items()} == expected

    books = {"canvas": ("canvas.csv", "primes (7)", CANVAS_BOOK)}
    books["moodle"] = ("people/worksheet.csv", "Bewertung", FOLDER["worksheet.csv"])
    for format, (book, column, text) in books.items():
        to = folder / f"filled-{format}.csv"
        names = ("--class", "people", "--gradebook", book, "--column", column, "--out", str(to))
        done = call(folder, "export", "results", "--format", format, *names)
        assert (done.code, done.out, done.err) == (2, EXPORTED[format] + WAIVERS, PROBLEMS)
        assert to.read_text("utf-8") == fill(text, column)
