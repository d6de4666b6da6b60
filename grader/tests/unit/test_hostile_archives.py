"""Archives and folders that attack the reader of submissions: each is refused, or read without what does not count.

Links to another student's submission and pipes are in test_submission.py.
"""

import gzip
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

from grader.pipeline import archives, submission
from grader.pipeline.archives import SubmissionError
from grader.pipeline.submission import MAX_ARCHIVE, read_submission
from torchkata.course import course

MIB = 2**20
MOST_MIB = 256  # that reading an archive may take
FEW = 100  # entries, instead of MAX_ENTRIES, which take long to make
Build: TypeAlias = Callable[[Path], Path]  # writes into a folder, and returns what is handed in
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
    """Write a zip of these entries, in this order."""
    path = folder / "handed_in.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries:
            archive.writestr(name, content, zipfile.ZIP_DEFLATED, 1)
    return path


def write_tar(folder: Path, members: Iterable[Member]) -> Path:
    """Write a tar of these members, in this order."""
    path = folder / "handed_in.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return path


def member(
    name: str,
    content: bytes = b"",
    kind: bytes = tarfile.REGTYPE,
    link: str = "",
    headers: Mapping[str, str] | None = None,
) -> Member:
    """Make one member of a tar."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size, info.pax_headers = kind, link, len(content), dict(headers or {})
    info.devmajor, info.devminor = 1, 5
    return info, content


def members(files: Mapping[str, bytes], folder: str = "") -> list[Member]:
    """Make a member of each file."""
    return [member(f"{folder}{name}", content) for name, content in files.items()]


def zip_with(*entries: Entry, files: Mapping[str, bytes] = FILES) -> Build:
    """Build a zip of the files, and of these entries after them."""
    return lambda folder: write_zip(folder, [*files.items(), *entries])


def tar_with(*extra: Member, files: Mapping[str, bytes] = FILES) -> Build:
    """Build a tar of the files, and of these members after them."""
    return lambda folder: write_tar(folder, [*members(files), *extra])


def zip_with_link(folder: Path) -> Path:
    """Write a zip with a link in the kata's place."""
    link = zipfile.ZipInfo(KATA)
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return write_zip(folder, [*REST.items(), (link, ANSWER.encode())])


def write_through_link(folder: Path) -> Path:
    """Write a tar with a link to a folder outside, then a file in that folder."""
    link = member("assignment", kind=tarfile.SYMTYPE, link=str(folder.parent))
    return write_tar(folder, [link, *members(FILES, "assignment/")])


def much_to_skip(folder: Path) -> Path:
    """Write a small .tar.gz that unpacks to gigabytes before its last member."""
    head = tarfile.TarInfo("notes.bin")
    head.size = 3 * 2**30
    zeros, end = gzip.compress(bytes(64 * MIB)), write_tar(folder, members(FILES)).read_bytes()
    (folder / "handed_in.tar").unlink()
    path = folder / "handed_in.tar.gz"
    path.write_bytes(gzip.compress(head.tobuf()) + zeros * (head.size // (64 * MIB)) + gzip.compress(end))
    return path


def edited(build: Build, edit: Callable[[bytearray], None]) -> Build:
    """Build an archive, and edit its bytes."""

    def write(folder: Path) -> Path:
        path = build(folder)
        content = bytearray(path.read_bytes())
        edit(content)
        path.write_bytes(content)
        return path

    return write


def places_of(signature: bytes, content: bytearray) -> list[int]:
    """Find each place of a signature."""
    return [place for place in range(len(content)) if content.startswith(signature, place)]


def lock(content: bytearray) -> None:
    """Say that each file in a zip is encrypted."""
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for place in places_of(signature, content):
            content[place + flags] |= 1


def lie_about_sizes(content: bytearray) -> None:
    """Say in a zip's list that every file has one byte."""
    for place in places_of(b"PK\x01\x02", content):
        content[place + 24 : place + 28] = (1).to_bytes(4, "little")


def cut(content: bytearray) -> None:
    """End within a member."""
    del content[1500:]


def write_folder(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write the files into a folder of their own."""
    path = folder / "handed_in"
    path.mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


HIDDEN_NAME = member("harmless.py", FORGED, headers={"path": "../../escaped.py"})
SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(2**40)}
DEVICES = zip((KATA, *REST), (tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.BLKTYPE), strict=True)
TWINS = [(unicodedata.normalize(form, "h\u00e9lper.py"), FORGED) for form in ("NFC", "NFD")]
RUN_BY_PYTHON = ("sitecustomize.py", "usercustomize.py")  # if they were on its path: they are taken as helpers
SMUGGLED = [
    *("conftest.py", "assignment/conftest.py", "assignment/__init__.py", "assignment/forged.pth"),
    *("assignment/torch.so", "sitecustomize.py", "pytest.ini", "pyproject.toml"),
    *(f"assignment/{name}" for name in RUN_BY_PYTHON),
]
LONG_NAMES = ("a/" * 20_000 + KATA, f"\x1b[2J{KATA}", f"{KATA}\n{KATA}")
LITTER = {
    "homework/README.md": b"",
    "homework/.DS_Store": b"\x00\x01",
    "homework/assignment/__pycache__/linear.cpython-311.pyc": b"\x00",
    "__MACOSX/homework/assignment/._linear.py": b"\x00",
    "homework/.git/linear.py": b"",
    "homework/plots/loss curve.png": b"\x00",
    "homework/notes \u00fc.txt": b"\xff",
}
HOMEWORK = {f"homework/{name}": content for name, content in IN_ASSIGNMENT.items()}
ELSEWHERE = "contains an entry with an unsafe path"

CASES: dict[str, tuple[Build, str | Mapping[str, bytes]]] = {  # what is built, and the refusal or the files read
    "climbs_out": (zip_with(("../../escaped.py", FORGED)), ELSEWHERE),
    "climbs_out_backwards": (zip_with(("..\\..\\escaped.py", FORGED)), ELSEWHERE),
    "starts_at_a_drive": (zip_with(("C:escaped.py", FORGED)), ELSEWHERE),
    "starts_at_the_root": (
        lambda folder: zip_with((str(folder.parent / "escaped.py"), FORGED))(folder),
        ELSEWHERE,
    ),
    "climbs_out_of_a_tar": (tar_with(HIDDEN_NAME), ELSEWHERE + " ('../../escaped.py')"),
    "links_to_the_solution": (zip_with_link, REST),
    "links_to_the_solution_in_a_tar": (tar_with(member(KATA, kind=tarfile.SYMTYPE, link=ANSWER), files=REST), REST),
    "hard_link_to_the_solution": (tar_with(member(KATA, kind=tarfile.LNKTYPE, link=ANSWER), files=REST), REST),
    "writes_through_a_link": (write_through_link, FILES),
    "devices": (tar_with(*(member(name, kind=kind) for name, kind in DEVICES), files={}), "contains no kata"),
    "one_that_blows_up": (zip_with((KATA, bytes(256 * MIB)), files=REST), "contains a file larger than 1 MiB"),
    "many_that_blow_up": (
        zip_with(*((f"f{number}/{KATA}", bytes(MIB)) for number in range(40))),
        "its Python files are larger than 16 MiB in total",
    ),
    "much_to_skip": (much_to_skip, "unpacks to more than 64 MiB"),
    "sparse": (tar_with(member(KATA, b"0\n", headers=SPARSE), files=REST), "contains a file larger than 1 MiB"),
    "endless_list": (zip_with(*((f"h{number}.py", b"") for number in range(FEW))), f"more than {FEW} entries"),
    "twin_names": (zip_with(*TWINS), {**FILES, TWINS[0][0]: FORGED}),
    "smuggles": (
        zip_with(*((name, FORGED) for name in SMUGGLED), files=IN_ASSIGNMENT),
        {**FILES, **dict.fromkeys(RUN_BY_PYTHON, FORGED)},
    ),
    "shadows": (
        zip_with(
            *((f"{folder}{name}.py", FORGED) for folder in ("", "assignment/") for name in SHADOWS),
            *((f"{folder}tests/probes/{KATA}", FORGED) for folder in ("", "assignment/")),
            files=IN_ASSIGNMENT,
        ),
        {**FILES, **{f"{name}.py": FORGED for name in SHADOWS}},
    ),
    "archive_in_an_archive": (
        lambda folder: write_zip(folder, [("assignment/inner.zip", zip_with()(folder).read_bytes())]),
        "contains no kata",
    ),
    "locked": (edited(zip_with(), lock), "is encrypted"),
    "lies_about_sizes": (edited(zip_with(), lie_about_sizes), "can't be read"),
    "cut_short": (edited(tar_with(), cut), "can't be read"),
    "bottomless": (zip_with(*((name, FORGED) for name in LONG_NAMES)), FILES),
    "crowd": (
        lambda folder: write_folder(folder, FILES | {f"h{number}.py": b"" for number in range(FEW)}),
        f"more than {FEW} entries",
    ),
    "honest_zip_of_a_file_manager": (zip_with(*LITTER.items(), files=HOMEWORK), FILES),
    "honest_tar_with_a_link": (
        lambda folder: write_tar(
            folder,
            [
                member("./homework", kind=tarfile.DIRTYPE),
                member("./homework/latest.py", kind=tarfile.SYMTYPE, link=KATA),
                *members(FILES, "./homework/"),
            ],
        ),
        FILES,
    ),
}
OF_MANY_ENTRIES = ("endless_list", "crowd")


@pytest.mark.parametrize("name", CASES)
def test_archive_is_read_within_bounds(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build, expected = CASES[name]
    if name in OF_MANY_ENTRIES:
        for module in (archives, submission):
            monkeypatch.setattr(module, "MAX_ENTRIES", FEW)
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
    assert set(tmp_path.rglob("*")) == before, "reading it wrote something"
    assert peak < MOST_MIB * MIB
    if isinstance(expected, str):
        assert isinstance(found, str)
        assert expected in found
    else:
        assert found == expected


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_last_of_two_equal_names_is_read(tmp_path: Path) -> None:
    path = write_zip(tmp_path, [(KATA, b"# nothing to see here\n"), *FILES.items()])
    assert read_submission(path).files == FILES


def test_too_large_archive_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "ada.zip"
    path.write_bytes(bytes(MAX_ARCHIVE + 1))
    with pytest.raises(SubmissionError, match=f"larger than {MAX_ARCHIVE // MIB} MiB"):
        read_submission(path)
