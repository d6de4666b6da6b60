"""Archives and folders that try something with the grader's reader, and two archives that are odd but honest.

corpus/archives.toml names them. Each is made of a kata file and the package around it.
"""

import gzip
import os
import stat
import tarfile
import unicodedata
import warnings
import zipfile
from pathlib import Path

from grader.proof.archive import MIB, Archive, Builder, member

FORGED = b"import os\nos._exit(0)\n"
SMUGGLED = (
    *(
        "conftest.py",
        "assignment/conftest.py",
        "assignment/__init__.py",
        "assignment/forged.pth",
        "assignment/torch.so",
    ),
    *("sitecustomize.py", "assignment/sitecustomize.py", "assignment/usercustomize.py", "pytest.ini", "pyproject.toml"),
)
SHADOWS = (
    "torch",
    "numpy",
    "msgspec",
    "torchkata",
    "grader",
    "tests",
    "pytest",
    "hypothesis",
    "os",
    "typing",
    "reference",
)


def climbs_out(archive: Archive) -> Path:
    """A zip with names that lead up."""
    return archive.zipped([*archive.files.items(), ("../../escaped.py", FORGED)])


def climbs_out_backwards(archive: Archive) -> Path:
    """The same with the other slash."""
    return archive.zipped([*archive.files.items(), ("..\\..\\escaped.py", FORGED)])


def starts_at_the_root(archive: Archive) -> Path:
    """A zip with an absolute name."""
    return archive.zipped([*archive.files.items(), (str(archive.folder.parent / "escaped.py"), FORGED)])


def climbs_out_of_a_tar(archive: Archive) -> Path:
    """A tar whose extended header has another name than the plain one."""
    info, content = member("harmless.py", FORGED)
    info.pax_headers = {"path": "../../escaped.py"}
    return archive.tarred([*(member(*entry) for entry in archive.files.items()), (info, content)])


def links_to_the_solution(archive: Archive) -> Path:
    """A zip with a link in the kata's place."""
    link = zipfile.ZipInfo(archive.file)
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return archive.zipped([*archive.rest(), (link, archive.answer.encode())])


def links_to_the_solution_in_a_tar(archive: Archive) -> Path:
    """The same in a tar."""
    rest = [member(*entry) for entry in archive.rest()]
    return archive.tarred([*rest, member(archive.file, kind=tarfile.SYMTYPE, link=archive.answer)])


def hard_link_to_the_solution(archive: Archive) -> Path:
    """A hard link to a file that is not in the archive."""
    rest = [member(*entry) for entry in archive.rest()]
    return archive.tarred([*rest, member(archive.file, kind=tarfile.LNKTYPE, link=archive.answer)])


def writes_through_a_link(archive: Archive) -> Path:
    """A link to a folder outside, then a file in that folder."""
    link = member("assignment", kind=tarfile.SYMTYPE, link=str(archive.folder.parent))
    return archive.tarred([link, *(member(f"assignment/{name}", content) for name, content in archive.files.items())])


def devices(archive: Archive) -> Path:
    """Devices and a pipe in the katas' places: to read one takes for ever."""
    names = [archive.file, *(name for name, _ in archive.rest())]
    kinds = dict(zip(names, (tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.BLKTYPE), strict=False))
    whole = [member(*entry) for entry in archive.files.items() if entry[0] not in kinds]
    members = [*whole, *(member(name, kind=kind) for name, kind in kinds.items())]
    for info, _ in members:
        info.devmajor, info.devminor = 1, 5
    return archive.tarred(members)


def one_that_blows_up(archive: Archive) -> Path:
    """A kata of 256 MiB that packs into 256 KiB."""
    return archive.zipped([*archive.rest(), (archive.file, bytes(256 * MIB))])


def many_that_blow_up(archive: Archive) -> Path:
    """Hundreds of folders, in each a file that is just small enough."""
    return archive.zipped([*archive.files.items(), *((f"f{i}/{archive.file}", bytes(MIB)) for i in range(500))])


def much_to_skip(archive: Archive) -> Path:
    """A small .tar.gz that unpacks to gigabytes before its last member."""
    head = tarfile.TarInfo("notes.bin")
    head.size = 3 * 2**30
    end = archive.tarred([member(*entry) for entry in archive.files.items()])
    zeros = gzip.compress(bytes(64 * MIB))
    path = archive.folder / "handed_in.tar.gz"
    with path.open("wb") as out:
        out.write(gzip.compress(head.tobuf()))
        for _ in range(head.size // (64 * MIB)):
            out.write(zeros)
        out.write(gzip.compress(end.read_bytes()))
    end.unlink()
    return path


def sparse(archive: Archive) -> Path:
    """A member that says it is a terabyte of holes."""
    info, content = member(archive.file, b"0\n")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(2**40)}
    return archive.tarred([*(member(*entry) for entry in archive.rest()), (info, content)])


def endless_list(archive: Archive) -> Path:
    """A zip with seventy thousand names."""
    return archive.zipped([*archive.files.items(), *((f"{i}.py", b"") for i in range(70_000))])


def says_it_twice(archive: Archive) -> Path:
    """The same name again: one file for a reader's eyes, another for the grader."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile knows that this is odd
        return archive.zipped([(archive.file, b"# nothing to see here\n"), *archive.files.items()])


def twin_names(archive: Archive) -> Path:
    """Two names that are one after normalising."""
    name = "h\u00e9lper.py"
    controls = [(unicodedata.normalize(form, name), FORGED) for form in ("NFC", "NFD")]
    return archive.zipped([*archive.files.items(), *controls])


def smuggles(archive: Archive) -> Path:
    """Files that Python or pytest would run by themselves."""
    katas = [(f"assignment/{name}", content) for name, content in archive.files.items()]
    return archive.zipped([*katas, *((name, FORGED) for name in SMUGGLED)])


def shadows(archive: Archive) -> Path:
    """Modules with the names of those that the grader imports, beside the katas and around them."""
    forged = [(f"{prefix}{name}.py", FORGED) for prefix in ("", "assignment/") for name in SHADOWS]
    probes = [(f"{prefix}tests/probes/{archive.file}", FORGED) for prefix in ("", "assignment/")]
    return archive.zipped(
        [*((f"assignment/{name}", content) for name, content in archive.files.items()), *forged, *probes]
    )


def archive_in_an_archive(archive: Archive) -> Path:
    """The submission is in a zip in the zip."""
    inner = archive.zipped(archive.files.items()).read_bytes()
    return archive.zipped([("assignment/inner.zip", inner)])


def locked(archive: Archive) -> Path:
    """A zip that says it is encrypted."""
    path = archive.zipped(archive.files.items())
    content = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.find(signature)
        while place >= 0:
            content[place + flags] |= 1
            place = content.find(signature, place + 4)
    path.write_bytes(content)
    return path


def lies_about_sizes(archive: Archive) -> Path:
    """A zip whose list says that every file has one byte."""
    path = archive.zipped(archive.files.items())
    content = bytearray(path.read_bytes())
    place = content.find(b"PK\x01\x02")
    while place >= 0:
        content[place + 24 : place + 28] = (1).to_bytes(4, "little")
        place = content.find(b"PK\x01\x02", place + 4)
    path.write_bytes(content)
    return path


def cut_short(archive: Archive) -> Path:
    """A tar that ends within a member."""
    path = archive.tarred([member(*entry) for entry in archive.files.items()])
    path.write_bytes(path.read_bytes()[:1500])
    return path


def bottomless(archive: Archive) -> Path:
    """A name with thousands of folders, and one with control characters."""
    names = ["a/" * 20_000 + archive.file, f"\x1b[2J{archive.file}", f"{archive.file}\n{archive.file}"]
    return archive.zipped([*archive.files.items(), *((name, FORGED) for name in names)])


def anothers(archive: Archive) -> Path:
    """What a student has handed in who solved the kata."""
    path = archive.zipped([*archive.rest(), (archive.file, Path(archive.answer).read_bytes())])
    return path.rename(archive.folder / "another.zip")


def link_to_anothers(archive: Archive) -> Path:
    """A link to another student's hand-in."""
    path = archive.folder / "handed_in.zip"
    path.symlink_to(anothers(archive))
    return path


def hard_link_to_anothers(archive: Archive) -> Path:
    """A second name of another student's hand-in."""
    path = archive.folder / "handed_in.zip"
    path.hardlink_to(anothers(archive))
    return path


def hard_link_in_a_folder(archive: Archive) -> Path:
    """A folder in which the kata is a second name of another student's file."""
    path, another = archive.folder / "handed_in", archive.folder / "another.py"
    path.mkdir()
    for name, content in archive.rest():
        (path / name).write_bytes(content)
    another.write_bytes(Path(archive.answer).read_bytes())
    (path / archive.file).hardlink_to(another)
    return path


def pipe(archive: Archive) -> Path:
    """A pipe that nobody writes into: to open it takes for ever."""
    path = archive.folder / "handed_in.zip"
    os.mkfifo(path)
    return path


def crowd(archive: Archive) -> Path:
    """A folder of more files than anybody lists."""
    path = archive.folder / "handed_in"
    path.mkdir()
    for name in (*archive.files, *(f"h{number}.py" for number in range(11_000))):
        (path / name).write_bytes(archive.files.get(name, b""))
    return path


def odd_zip(archive: Archive) -> Path:
    """What a file manager packs: a archive.folder around it, notes, caches, its own litter."""
    kata = archive.file.removesuffix(".py")
    litter = ["README.md", ".DS_Store", "assignment/.DS_Store", f"assignment/__pycache__/{kata}.cpython-311.pyc"]
    litter += [f"__MACOSX/homework/assignment/._{kata}.py", "plots/loss curve.png", "notes \u00fc.txt"]
    katas = [(f"homework/assignment/{name}", content) for name, content in archive.files.items()]
    return archive.zipped([*((f"homework/{name}", b"\x00\x01 anything") for name in litter), *katas])


def odd_tar(archive: Archive) -> Path:
    """What `tar` packs: `./` before every name, folders, a link of the student's own beside the katas."""
    extras = [member("./homework", kind=tarfile.DIRTYPE), member("./homework/README.md", b"# mine\n")]
    extras += [member("./homework/latest.py", kind=tarfile.SYMTYPE, link=archive.file)]
    return archive.tarred(
        [*extras, *(member(f"./homework/{name}", content) for name, content in archive.files.items())]
    )


BUILDERS: dict[str, Builder] = {
    builder.__name__: builder
    for builder in (
        *(climbs_out, climbs_out_backwards, starts_at_the_root, climbs_out_of_a_tar, links_to_the_solution),
        *(links_to_the_solution_in_a_tar, hard_link_to_the_solution, writes_through_a_link, devices),
        *(one_that_blows_up, many_that_blow_up, much_to_skip, sparse, endless_list, says_it_twice, twin_names),
        *(smuggles, shadows, archive_in_an_archive, locked, lies_about_sizes, cut_short, bottomless, link_to_anothers),
        *(hard_link_to_anothers, hard_link_in_a_folder, pipe, crowd, odd_zip, odd_tar),
    )
}
