"""Tests of marks that follow Canvas, Moodle and GitHub: times, gradebooks in other languages, and class lists."""

import json
from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from grader.marks.platform_tables import parse_time
from grader.marks.tables import find_header
from grader.output.names import shorten_names
from grader.results.result import Finding, read, write
from grader.tests.conftest import call_grader
from grader.tests.unit.test_class_marks import read_marks, store_results, strip_tags, write_class
from grader.tests.unit.test_report_command import store

NO_RULES = {"times_csv": "submission,time\n", "policy_toml": "", "overrides_csv": "id,points,reason,who\n"}
MOODLE = {
    "english": ("Email address,Grade,Maximum Grade,Last modified (submission)", "Friday, 2 October 2026, 10:00 PM"),
    "german": ("E-Mail-Adresse,Bewertung,Bestwertung,Zuletzt geändert (Abgabe)", "Freitag, 2. Oktober 2026, 22:00"),
    "french": ("Adresse de courriel,Note,Note maximale,Dernière modification", "vendredi 2 octobre 2026, 22:00"),
    "spanish": ("Dirección de correo,Calificación,Calificación máxima,Cambio", "viernes, 2 de octubre de 2026, 22:00"),
    "chinese": ("电子邮件地址,成绩,最高分,最后修改", "2026年10月2日 星期五 22:00"),
    "unknown": ("Post,Betyg,Max,Tid", "Friday, October 2, 2026, 10:00 PM"),
}


def write_worksheet(path: Path, language: str, most: str = "2,00") -> Path:
    head, time = MOODLE[language]
    row = f'Ada L,ada@x.edu,,"{most}","{time}"\nBen,ben@x.edu,,"{most}",-\n'
    path.write_text(f"\ufeffName,{head}\n{row}", "utf-8")
    return path


@pytest.mark.parametrize("language", MOODLE)
def test_moodle_worksheet_in_any_language_is_filled(tmp_path: Path, language: str) -> None:
    results, folder = store_results(tmp_path / "results"), write_class(tmp_path / "class", **NO_RULES)
    book, to = write_worksheet(tmp_path / "book.csv", language), tmp_path / "to.csv"
    call = ("export", results, "--format", "moodle", "--class", folder, "--gradebook", book, "--out", to)
    column = ("--column", "Betyg") if language == "unknown" else ()
    done = call_grader(*call, *column)
    told = ["wrote 2 rows; 1 person is not in this gradebook: eve"]
    if language == "unknown":
        told.append("the maximum points were not compared, because the gradebook does not contain them")
    assert (done.code, done.err, done.out.splitlines()) == (0, "", told)
    filled = book.read_text("utf-8").replace("ada@x.edu,", "ada@x.edu,1").replace("ben@x.edu,", "ben@x.edu,2")
    assert to.read_text("utf-8") == filled
    write_worksheet(book, language, "100,00")
    told_wrong = call_grader(*call, *column).err
    assert ("add out_of = 100 to policy.toml" in told_wrong) == (language != "unknown")


@pytest.mark.parametrize("language", MOODLE)
def test_moodle_worksheet_gives_submission_times(tmp_path: Path, language: str) -> None:
    results, folder = store_results(tmp_path / "results"), write_class(tmp_path / "class", **NO_RULES)
    write_worksheet(folder / "worksheet.csv", language)
    policy = "due = 2026-10-01T23:59:00\npenalty_per_day = 0.5\n"
    (folder / "policy.toml").write_text(f'{policy}zone = "Europe/Berlin"\n')
    done = call_grader("marks", results, folder)
    unknown = "grader: ben: submission time unknown, counted as on time; add it to times.csv\n"
    assert (done.code, done.err) == (0, unknown)
    assert read_marks(folder, "id", "days_late", "final")[:2] == [("ada", "1", "0.5"), ("ben", "0", "2.0")]
    (folder / "policy.toml").write_text(policy.replace("00\n", "00+02:00\n"))
    assert "Moodle writes times without a time zone" in call_grader("marks", results, folder).err


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("Monday, 1 June 2026, 12:05 AM", datetime(2026, 6, 1, 0, 5)),
        ("Dienstag, 3. März 2026, 09:30", datetime(2026, 3, 3, 9, 30)),
        ("mardi 4 août 2026, 09:30", datetime(2026, 8, 4, 9, 30)),
        ("2026年12月31日 星期四 下午 1:05", datetime(2026, 12, 31, 13, 5)),
        *(("-", None), ("", None), ("31 foo 2026, 10:00", None), ("31 February 2026, 10:00", None), ("10:00", None)),
    ],
)
def test_moodle_times_are_parsed(text: str, time: datetime | None) -> None:
    assert parse_time(text) == time


@pytest.mark.parametrize("name", ["lovelaceada_LATE_4711_99_hw.py", "lovelaceada_4711_files"])
def test_late_by_canvas_is_never_on_time(tmp_path: Path, name: str) -> None:
    results = tmp_path / "results"
    store(results, name, "done", "passed", "passed")
    write(msgspec.structs.replace(read(results / name / "result.json"), late_by_platform="files" in name), results)
    rules = {**NO_RULES, "policy_toml": "due = 2026-10-01T23:59:00Z\npenalty_per_day = 0.25\n"}
    folder = write_class(tmp_path / "class", **rules, class_csv="id,lms_id\nada,4711\n")
    done = call_grader("marks", results, folder)
    why = f"grader: {name}: late by Canvas, so there is no mark yet; enter the time in times.csv\n"
    assert (done.code, done.err) == (2, why)
    assert read_marks(folder, "raw", "final", "reasons") == [
        ("2.0", "", "late; there is no mark until the time of submission is known")
    ]
    (folder / "times.csv").write_text(f"submission,time\n{name},2026-10-02T12:00:00Z\n")
    assert call_grader("marks", results, folder).err == ""
    assert read_marks(folder, "final") == [("1.5",)]


def test_excused_student_and_other_marks_are_kept(tmp_path: Path) -> None:
    results, folder = store_results(tmp_path / "results"), write_class(tmp_path / "class", **NO_RULES)
    book, to = tmp_path / "book.csv", tmp_path / "to.csv"
    book.write_text("sep=;\n\nID;mark\nada;EX\nben;2.00\neve;\n")
    names = ("--class", folder, "--gradebook", book, "--column", "mark", "--out", to)
    call = ("export", results, "--format", "csv", *names)
    done = call_grader(*call)
    assert (done.code, done.err) == (0, "")
    assert done.out == "wrote 1 row\nkept 1 cell with another value (--force replaces them): ada: EX\n"
    assert to.read_text() == book.read_text().replace("2.00", "2")
    assert call_grader(*call, "--force").out == "wrote 2 rows\n"
    assert to.read_text() == book.read_text().replace("EX", "1").replace("2.00", "2")


def test_policy_scales_marks_and_drops_unfinished_katas(tmp_path: Path) -> None:
    results, folder = store_results(tmp_path / "results"), write_class(tmp_path / "class", **NO_RULES)
    (folder / "policy.toml").write_text("out_of = 10\nonly_done = true\n")
    (folder / "overrides.csv").write_text("id,points,reason,who\neve,7,oral exam,ta\n")
    done = call_grader("marks", results, folder)
    assert (done.code, done.err) == (0, "")
    assert read_marks(folder, "id", "raw", "max_score", "final", "reasons") == [
        ("ada", "0.0", "2.0", "0.0", "without points, because it is not done: linear; 0 of 2 points, scaled to 10"),
        ("ben", "2.0", "2.0", "10.0", "2 of 2 points, scaled to 10"),
        ("eve", "", "", "7.0", "mark 7: oral exam (ta)"),
    ]
    (folder / "overrides.csv").write_text("id,points,reason,who\nben,7,oral exam,ta\n")
    assert call_grader("marks", results, folder).err == ""
    assert read_marks(folder, "final")[1] == ("7.0",), "a mark that is set by hand is not scaled"


CLASS_LISTS = {
    "canvas": (
        "Student,ID,SIS User ID,SIS Login ID,Section,hw (1)\n    Points Possible,,,,,2\n"
        '"Lovelace, Ada",4711,ada,ada@x.edu,Sec 1,\n',
        ("ada", "Ada Lovelace", "ada@x.edu", "4711", "Sec 1"),
        "lovelaceada_4711_99_hw.zip",
    ),
    "moodle": (
        "Identifier,Full name,Email address,Grade\nParticipant 7,Ada Lovelace,ada@x.edu,\n",
        ("ada@x.edu", "Ada Lovelace", "ada@x.edu", "", ""),
        "Ada Lovelace_7_assignsubmission_file",
    ),
    "german": (
        "ID,Vollständiger Name,E-Mail-Adresse,ID-Nummer,Bewertung\nTeilnehmer/in7,Ada Lovelace,ada@x.edu,s7,\n",
        ("s7", "Ada Lovelace", "ada@x.edu", "", ""),
        "Ada Lovelace_7_assignsubmission_file",
    ),
    "github": (
        '"identifier","github_username","github_id","name"\n"s7","adal","1","Ada Lovelace"\n"s8","","",""\n',
        ("s7", "Ada Lovelace", "", "adal", ""),
        "hw1-adal",
    ),
}


@pytest.mark.parametrize("source", CLASS_LISTS)
def test_class_list_is_made_from_platform_table(tmp_path: Path, source: str) -> None:
    text, person, submission = CLASS_LISTS[source]
    store(tmp_path / "results", submission, "done", "passed", "passed")
    (tmp_path / "table.csv").write_text(text, "utf-8")
    call = ("marks", tmp_path / "results", tmp_path / "class", "--from", tmp_path / "table.csv")
    done = call_grader(*call)
    assert (done.code, done.err) == (0, "")
    columns = ("id", "name", "email", "lms_id", "section", "submission")
    assert read_marks(tmp_path / "class", *columns)[0] == (*person, submission)
    again = call_grader(*call)
    told = f"grader: {tmp_path / 'class/class.csv'}: exists already; remove it, or leave out --from\n"
    assert (again.code, again.err) == (2, told)


def test_worksheet_with_times_is_kept_for_marks(tmp_path: Path) -> None:
    store(tmp_path / "results", "ada@x.edu", "done", "passed")
    book = write_worksheet(tmp_path / "book.csv", "german")
    assert call_grader("marks", tmp_path / "results", tmp_path / "class", "--from", book).code == 0
    assert (tmp_path / "class/worksheet.csv").read_bytes() == book.read_bytes()


@pytest.mark.parametrize("above", ["", "\ufeff", "sep=;\n", "\ufeffsep=;\r\n\r\n", "\n", ";;\n", " \n\n"])
def test_lines_above_header_are_skipped(above: str, tmp_path: Path) -> None:
    assert find_header(f"{above}id;name\n") == (len(above), ";")
    results, folder = store_results(tmp_path / "results"), write_class(tmp_path / "class", **NO_RULES)
    (folder / "class.csv").write_text(f"{above}ID;Name\nada;Ada\nben;Ben\n", "utf-8")
    assert call_grader("marks", results, folder).err == ""


def test_names_of_platforms_are_shortened() -> None:
    names = ["Bjarne S_31005_assignsubmission_file", "hopper_LATE_5002_9020_a.zip", "hopper_5003_files", "ada"]
    assert [*shorten_names(names, {"ada": "Ada L"}).values()] == ["Bjarne S", names[1], names[2], "Ada L"]


def test_class_page_shows_names_marks_and_missing_people(tmp_path: Path) -> None:
    results, ada, ben = tmp_path / "results", "Ada L_31005_assignsubmission_file", "Ben B_31006_assignsubmission_file"
    store(results, ada, "done", "passed", "passed")
    store(results, ben, "wrong", "passed", "failed")
    rules = {
        "policy_toml": "due = 2026-10-01T23:59:00Z\npenalty_per_day = 0.25\n",
        "overrides_csv": NO_RULES["overrides_csv"],
    }
    times = f"submission,time\n{ada},2026-10-02T20:00:00Z\n{ben},2026-10-01T20:00:00Z\n"
    people = "id,name\nada,Ada L\nben,Ben B\neve,Eve E\n"
    folder = write_class(tmp_path / "class", **{**rules, "times_csv": times, "class_csv": people})
    done = call_grader("report", results, "--class", folder, "--out", tmp_path / "pages")
    assert (done.code, done.err) == (0, "")
    assert ("Ada L" in done.out, "31005" in done.out) == (True, False), "the table has short names"
    page = (results / "report.html").read_text("utf-8")
    text = strip_tags(page)
    assert "Late and missing Ada L 1 day late Eve E no submission" in text
    assert "submission points linear mark days late Ada L 2 2 1.5 1 Ben B 1 1 1" in text
    assert f'title="{ada}"><bdi>Ada L</bdi>' in page
    assert "<h1><bdi>Ada L</bdi>" in (tmp_path / "pages" / ada / "feedback.html").read_text("utf-8")


def test_gradescope_shows_findings_to_instructors_only(tmp_path: Path) -> None:
    finding = Finding("linear", 7, "torch.nn.Linear")
    store(tmp_path / "results", "ada", "done", "passed", findings=[finding])
    call_grader("export", tmp_path / "results", "--format", "gradescope", "--out", tmp_path / "to.json")
    report = json.loads((tmp_path / "to.json").read_text())
    assert report.pop("extra_data")["findings"] == ["linear.py, line 7: torch.nn.Linear"]
    assert "torch.nn.Linear" not in json.dumps(report)
