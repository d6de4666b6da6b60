"""Writes a class of thirty submissions in four layouts, and the folder with which its marks are computed.

Every student has one of the ways in which people hand in: the wrong name, the wrong folder, the wrong format, too late.
"""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from grader.options import Layout
from grader.tests.support.submissions import PRIMES, SIEVE
from grader.tests.unit.test_walk import pack_zip, write_tree

FACTORISE = (PRIMES / "reference/factorise/solution.py").read_text("utf-8")
STUB = (PRIMES / "assignment/factorise.py").read_bytes()
RIGHT = {"sieve.py": SIEVE.encode(), "factorise.py": FACTORISE.encode()}
HALF = RIGHT | {"factorise.py": STUB}
STUBS = {name: (PRIMES / "assignment" / name).read_bytes() for name in RIGHT}
RENAMED = RIGHT | {"sieve.py": SIEVE.replace("remains", "is_prime").replace("number", "k").encode()}
NEGATIVE = RIGHT | {"sieve.py": SIEVE.replace("[number for", "[-number for").encode()}
TABS = {name: code.replace(b"    ", b"\t") for name, code in RIGHT.items()}
WINDOWS = {name: b"\xef\xbb\xbf" + code.replace(b"\n", b"\r\n") for name, code in RIGHT.items()}
LATIN = RIGHT | {"sieve.py": SIEVE.encode() + "# Ératosthène\n".encode("latin-1")}
CUT = RIGHT | {"sieve.py": SIEVE.encode() + b"print(\n"}
ENVIRONMENT = {"venv/pyvenv.cfg": b"", "venv/lib/sieve.py": b"", "venv/lib/factorise.py": STUB}
NAMELESS = {"Sieve.py": RIGHT["sieve.py"], "factorise (1).py": RIGHT["factorise.py"]}
BROKEN = ('student.call("factorise", 1), oracle.factors(1)', 'student.call("factorise", 1), [1]')  # a wrong test


def put(folder: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files in a folder."""
    return {f"{folder}/{name}": content for name, content in files.items()}


def hand_in_at_canvas(student: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files under the names that Canvas gives them."""
    return {f"{student}_{9000 + number}_{name}": content for number, (name, content) in enumerate(files.items())}


def pack_bomb() -> bytes:
    """Return a zip of 200 bytes that contains 64 MiB, compressed by a method that few archivers use."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("sieve.py", bytes(2**26))
    return buffer.getvalue()


MOODLE = "_assignsubmission_file"
BOMB = "canvas/galoisevariste_107_9000_hw.zip"  # packed when it is needed, because this takes long
CLASS: dict[Layout, dict[str, bytes]] = {
    "canvas": {
        **hand_in_at_canvas("abelniels_101", {"sieve.py": RIGHT["sieve.py"], "factorise-1.py": RIGHT["factorise.py"]}),
        **hand_in_at_canvas("boolegeorge_LATE_102", RIGHT),
        **hand_in_at_canvas("cantorgeorg_LATE_103", {"hw.zip": pack_zip(RIGHT)}),
        **hand_in_at_canvas("diracpaul_104", NAMELESS),
        **hand_in_at_canvas("eulerleonhard_105", {"essay.docx": b"PK"}),
        **hand_in_at_canvas("fermatpierre_106", {"hw.rar": b"Rar!"}),
        **hand_in_at_canvas("hilbertdavid_108", {"hw-1.zip": pack_zip(RENAMED, separator="\\")}),
    },
    "moodle": {
        **put(f"Ida Noddack_201{MOODLE}", RIGHT),
        **put(f"Jan Oort_202{MOODLE}/hw-main/hw-main/assignment", HALF),
        **put(f"Kurt Gödel_203{MOODLE}/draft", HALF),
        **put(f"Kurt Gödel_203{MOODLE}/final", RIGHT),
        **put(f"Lise Meitner_204{MOODLE}", TABS),
        **put(f"Max Born_205{MOODLE}", WINDOWS),
        **put(f"Nina Bari_206{MOODLE}", LATIN),
        **put(f"Otto Hahn_207{MOODLE}", {"hw.zip": pack_zip(put("assignment", RIGHT))}),
        **put(f"Paul Erdős_208{MOODLE}/draft", RIGHT),
        **put(f"Paul Erdős_208{MOODLE}/final", RIGHT),
    },
    "gradescope": {
        "submission_metadata.yml": b"",
        **put("submission_1", RIGHT),
        **put("submission_2", NEGATIVE),
        **put("submission_3", {"sieve.ipynb": b"{}"}),
        **put("submission_4", RIGHT | ENVIRONMENT),
        **put("submission_5", RIGHT),
        **put("submission_6", {"Sieve.py": RIGHT["sieve.py"], "factorise.py": RIGHT["factorise.py"]}),
        **put("submission_7", {"hw.zip": pack_zip(put("hw/assignment", HALF))}),
    },
    "github": {
        **{f"hw1-{name}/.git/HEAD": b"" for name in ["ada", "bea", "cem", "dan", "eva", "fay", "gil"]},
        **put("hw1-ada/assignment", RIGHT),
        **put("hw1-ada/tests", {"sieve.py": b""}),
        **put("hw1-bea/assignment", STUBS),
        **put("hw1-cem/alice", RIGHT),
        **put("hw1-cem/bob", HALF),
        **put(f"hw1-dan/Ida Noddack_201{MOODLE}", HALF),
        **put("hw1-eva/assignment", CUT),
        **put("hw1-fay/src/assignment", RENAMED),
        **put("hw1-gil", RIGHT),
    },
}
GRADESCOPE_PEOPLE = ("rosa", "sam", "tim", "uma", "vera", "will", "xia yan")
METADATA = "".join(
    f"submission_{number}:\n  :submitters:\n"
    + "".join(f"  - :name: {name}\n    :email: {name}@x.edu\n" for name in names.split())
    + f"  :created_at: 2026-10-0{3 if names == 'vera' else 1} 12:00:00 Z\n"
    for number, names in enumerate(GRADESCOPE_PEOPLE, start=1)
)
MOODLE_PEOPLE = {
    "Ida Noddack": "1. Oktober 2026, 20:00",
    "Jan Oort": "1. Oktober 2026, 20:00",
    "Kurt Gödel": "1. Oktober 2026, 20:00",
    "Lise Meitner": "1. Oktober 2026, 23:59",
    "Max Born": "1. Oktober 2026, 20:00",
    "Nina Bari": "1. Oktober 2026, 20:00",
    "Otto Hahn": "2. Oktober 2026, 20:00",
    "Paul Erdős": "1. Oktober 2026, 20:00",
    "Rita Levi": "-",
}
CANVAS_PEOPLE = ["Abel", "Boole", "Cantor", "Dirac", "Euler", "Fermat", "Galois", "Hilbert"]
FOLDER = {
    "class.csv": "id,name,email,lms_id\n"
    + "".join(f"{name.lower()},{name},,{101 + number}\n" for number, name in enumerate(CANVAS_PEOPLE))
    + "".join(f"{name.split()[0].lower()},{name},{name.split()[0].lower()}@m.edu,\n" for name in MOODLE_PEOPLE)
    + "".join(f"{name},,{name}@x.edu,\n" for name in " ".join(GRADESCOPE_PEOPLE).split())
    + "".join(f"{name},,,\n" for name in ["ada", "bea", "cem", "dan", "eva", "fay"]),  # gil is not in the class list
    "policy.toml": 'due = 2026-10-01T23:59:00\nzone = "Europe/Berlin"\npenalty_per_day = 0.1\n',
    "waive.toml": '"sieve.test_upper_bound_is_exclusive" = "full"\n',
    "times.csv": "submission,time\ncantorgeorg_LATE_103_9000_hw,2026-10-02T12:00:00+02:00\nabelniels_101_files,"
    "2026-10-01T12:00:00+02:00\n",
    "submission_metadata.yml": METADATA,
    "worksheet.csv": "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Zuletzt geändert (Abgabe)\n"
    + "".join(
        f'Teilnehmer/in{number},{name},{name.split()[0].lower()}@m.edu,Abgegeben,,"100,00","{time}"\n'
        for number, (name, time) in enumerate(MOODLE_PEOPLE.items(), start=201)
    ),
}
CANVAS_BOOK = "Student,ID,SIS User ID,SIS Login ID,Section,primes (7)\n    Points Possible,,,,,100\n" + "".join(
    f"{name},{101 + number},,,A,{'EX' * (name == 'Euler')}\n" for number, name in enumerate(CANVAS_PEOPLE)
)


def write_class(folder: Path) -> None:
    """Write a folder for each layout, and the folder `people`."""
    for layout, files in CLASS.items():
        write_tree(folder / layout, files)
    (folder / BOMB).write_bytes(pack_bomb())
    write_tree(folder / "people", {name: text.encode() for name, text in FOLDER.items()})
