"""Tests of hostile archives and folders: each is rejected, or read without its irrelevant files.

Pipes and links to another student's submission are tested in test_submission.py, long padding in test_walk.py.
"""

import io
import stat
import tarfile
import tracemalloc
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from grader.pipeline import trees
from grader.pipeline.archives import MAX_ARCHIVE
from grader.pipeline.reading import read_submission
from grader.pipeline.trees import SubmissionError
from torchkata.course import course

MIB = 2**20
MOST_MIB = 256  # maximum memory for reading an archive
FEW = 100  # replaces MAX_ENTRIES, because writing that many entries is slow
Build: TypeAlias = Callable[[Path], Path]  # writes into a folder and returns the submission
Entry: TypeAlias = tuple[str | zipfile.ZipInfo, bytes]
Member: TypeAlias = tuple[tarfile.TarInfo, bytes]

FORGED = b"import os\nos._exit(0)\n"
KATA = "linear.py"
REST = {"sgd.py": b"# sgd\n", "train.py": b"# train\n"}
FILES = {KATA: b"# linear\n" * 300, **REST}
IN_ASSIGNMENT = {f"assignment/{name}": content for name, content in FILES.items()}
ANSWER = str(course().solution("linear"))
SHADOWS = [
    *("torch", "numpy", "msgspec", "torchkata", "grader", "tests", "pytest", "hypothesis", "os", "typing", "reference")
]


def write_zip(folder: Path, entries: Iterable[Entry]) -> Path:
    path = folder / "handed_in.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries:
            archive.writestr(name, content, zipfile.ZIP_DEFLATED, 1)
    return path


def write_tar(folder: Path, members: Iterable[Member]) -> Path:
    path = folder / "handed_in.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return path


def make_member(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size, info.devmajor, info.devminor = kind, link, len(content), 1, 5
    return info, content


def add_headers(member: Member, headers: dict[str, str]) -> Member:
    member[0].pax_headers = headers
    return member


def make_members(files: Mapping[str, bytes], folder: str = "") -> list[Member]:
    return [make_member(f"{folder}{name}", content) for name, content in files.items()]


def build_zip(*entries: Entry, files: Mapping[str, bytes] = FILES) -> Build:
    """Return a function that builds a zip of the files followed by the given entries."""
    return lambda folder: write_zip(folder, [*files.items(), *entries])


def build_tar(*extra: Member, files: Mapping[str, bytes] = FILES) -> Build:
    """Return a function that builds a tar of the files followed by the given members."""
    return lambda folder: write_tar(folder, [*make_members(files), *extra])


def zip_with_link(folder: Path) -> Path:
    link = zipfile.ZipInfo(KATA)
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return write_zip(folder, [*REST.items(), (link, ANSWER.encode())])


def write_through_link(folder: Path) -> Path:
    """Write a tar with a link to an outside folder, followed by files in that folder."""
    link = make_member("assignment", kind=tarfile.SYMTYPE, link=str(folder.parent))
    return write_tar(folder, [link, *make_members(FILES, "assignment/")])


def write_crowd(folder: Path) -> Path:
    for name in (KATA, *(f"h{number}.py" for number in range(FEW))):
        (folder / name).touch()
    return folder


def build_and_edit(build: Build, edit: Callable[[bytearray], None]) -> Build:
    def write(folder: Path) -> Path:
        path = build(folder)
        content = bytearray(path.read_bytes())
        edit(content)
        path.write_bytes(content)
        return path

    return write


def find_signature(signature: bytes, content: bytearray) -> list[int]:
    return [place for place in range(len(content)) if content.startswith(signature, place)]


def mark_as_encrypted(content: bytearray) -> None:
    """Mark each file in a zip as encrypted."""
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for place in find_signature(signature, content):
            content[place + flags] |= 1


def lie_about_sizes(content: bytearray) -> None:
    """Set the size of every file in a zip's directory to one byte."""
    for place in find_signature(b"PK\x01\x02", content):
        content[place + 24 : place + 28] = (1).to_bytes(4, "little")


def corrupt(content: bytearray) -> None:
    content[45:55] = b"\xff" * 10


def truncate(content: bytearray) -> None:
    del content[1500:]


HIDDEN_NAME = add_headers(make_member("harmless.py", FORGED), {"path": "../../escaped.py"})
SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(2**40)}
SPARSE_FILE = add_headers(make_member(KATA, b"0\n"), SPARSE)
DEVICES = zip((KATA, *REST), (tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.BLKTYPE), strict=True)
TWINS = [(unicodedata.normalize(form, "h\u00e9lper.py"), FORGED) for form in ("NFC", "NFD")]
RUN_BY_PYTHON = ("sitecustomize.py", "usercustomize.py")  # Python runs them from its path; here they are just helpers
SMUGGLED = [
    *("conftest.py", "assignment/conftest.py", "assignment/__init__.py", "assignment/forged.pth"),
    *("assignment/torch.so", "sitecustomize.py", "pytest.ini", "pyproject.toml"),
    *(f"assignment/{name}" for name in RUN_BY_PYTHON),
]
LONG_NAMES = ("a/" * 20_000 + KATA, f"\x1b[2J{KATA}", f"{KATA}\n{KATA}")
LITTER = [
    *("homework/README.md", "homework/.DS_Store", "homework/assignment/__pycache__/linear.cpython-311.pyc"),
    *("__MACOSX/homework/assignment/._linear.py", "homework/.git/linear.py", "homework/notes \u00fc.txt"),
]
HOMEWORK = {f"homework/{name}": content for name, content in IN_ASSIGNMENT.items()}
FOLDER = make_member("./homework", kind=tarfile.DIRTYPE)
HOMEWORK_LINK = make_member("./homework/latest.py", kind=tarfile.SYMTYPE, link=KATA)
SOFT_LINK, HARD_LINK = (make_member(KATA, kind=kind, link=ANSWER) for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE))
ELSEWHERE = "contains an entry with an unsafe path"

CASES: dict[str, tuple[Build, str | Mapping[str, bytes]]] = {  # the archive, and the refusal or the files read
    "climbs_out": (build_zip(("../../escaped.py", FORGED)), ELSEWHERE),
    "climbs_out_backwards": (build_zip(("..\\..\\escaped.py", FORGED)), ELSEWHERE),
    "starts_at_a_drive": (build_zip(("C:escaped.py", FORGED)), ELSEWHERE),
    "starts_at_the_root": (lambda folder: build_zip((str(folder.parent / "escaped.py"), FORGED))(folder), ELSEWHERE),
    "climbs_out_of_a_tar": (build_tar(HIDDEN_NAME), ELSEWHERE + " ('../../escaped.py')"),
    "links_to_the_solution": (zip_with_link, REST),
    "links_to_the_solution_in_a_tar": (build_tar(SOFT_LINK, files=REST), REST),
    "hard_link_to_the_solution": (build_tar(HARD_LINK, files=REST), REST),
    "writes_through_a_link": (write_through_link, FILES),
    "devices": (build_tar(*(make_member(name, kind=kind) for name, kind in DEVICES), files={}), "contains no kata"),
    "one_that_blows_up": (build_zip((KATA, bytes(256 * MIB)), files=REST), "contains a file larger than 1 MiB"),
    "many_that_blow_up": (
        build_zip(*((f"f{number}/{KATA}", bytes(MIB)) for number in range(40))),
        "its Python files are larger than 16 MiB in total",
    ),
    "sparse": (build_tar(SPARSE_FILE, files=REST), "contains a file larger than 1 MiB"),
    "endless_list": (build_zip(*((f"h{number}.py", b"") for number in range(FEW))), f"more than {FEW} entries"),
    "equal_names": (build_zip(*FILES.items(), files={KATA: b"# first of two"}), FILES),
    "twin_names": (build_zip(*TWINS), {**FILES, TWINS[0][0]: FORGED}),
    "smuggles": (
        build_zip(*((name, FORGED) for name in SMUGGLED), files=IN_ASSIGNMENT),
        {**FILES, **dict.fromkeys(RUN_BY_PYTHON, FORGED)},
    ),
    "shadows": (
        build_zip(
            *((f"{folder}{name}.py", FORGED) for folder in ("", "assignment/") for name in SHADOWS),
            *((f"{folder}tests/probes/{KATA}", FORGED) for folder in ("", "assignment/")),
            files=IN_ASSIGNMENT,
        ),
        {**FILES, **{f"{name}.py": FORGED for name in SHADOWS}},
    ),
    "locked": (build_and_edit(build_zip(), mark_as_encrypted), "is encrypted"),
    "lies_about_sizes": (build_and_edit(build_zip(), lie_about_sizes), "can't be read"),
    "damaged": (build_and_edit(build_zip(), corrupt), "can't be read ("),
    "cut_short": (build_and_edit(build_tar(), truncate), "can't be read"),
    "bottomless": (build_zip(*((name, FORGED) for name in LONG_NAMES)), FILES),
    "crowd": (write_crowd, f"more than {FEW} entries"),
    "honest_zip_of_a_file_manager": (build_zip(*((name, b"\xff\x00") for name in LITTER), files=HOMEWORK), FILES),
    "honest_tar_with_a_link": (build_tar(FOLDER, HOMEWORK_LINK, *make_members(FILES, "./homework/"), files={}), FILES),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", CASES)
def test_archive_is_read_within_size_limits(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build, expected = CASES[name]
    if name in ("endless_list", "crowd"):
        monkeypatch.setattr(trees, "MAX_ENTRIES", FEW)
    folder = tmp_path / "class/of/2026"
    folder.mkdir(parents=True)
    path = build(folder)
    before = set(tmp_path.rglob("*"))
    found: str | Mapping[str, bytes]
    tracemalloc.start()
    try:
        found = read_submission(path).files
    except SubmissionError as error:
        found = str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert set(tmp_path.rglob("*")) == before, "reading the submission wrote a file"
    assert peak < MOST_MIB * MIB
    if isinstance(expected, str):
        assert isinstance(found, str)
        assert expected in found
    else:
        assert found == expected


def test_oversized_archive_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "ada.zip"
    path.write_bytes(bytes(MAX_ARCHIVE + 1))
    with pytest.raises(SubmissionError, match=f"larger than {MAX_ARCHIVE // MIB} MiB"):
        read_submission(path)
