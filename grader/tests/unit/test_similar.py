"""Similar hand-ins: copies come first however they are disguised, and the same class gives the same list."""

import csv
import os
import random
from pathlib import Path

import pytest

from grader.pipeline.similarity.grams import grams_of
from grader.pipeline.similarity.pairs import Comparison, compare, compared
from grader.tests.conftest import ask, python
from grader.tests.made_sources import MadeClass, disguised, hand_in, made_class, pairs_of
from torchkata.course import course

COPIES = 3
TRACK = "core"
ONE = b"""import torch


def root(x):
    total = x.square().sum()
    return torch.sqrt(total) if total > 0 else total
"""
SAME = b"""from torch import sqrt as wurzel
def root(value):  # mine
  s = (value.square()
  .sum())
  return (wurzel(s) if s > 0 else s)
"""
OTHER = ONE.replace(b"sqrt", b"exp")


@pytest.fixture(scope="module")
def made() -> MadeClass:
    """A small class with some copies in it."""
    return made_class(course().choose([], [TRACK]), 30, COPIES)


@pytest.fixture(scope="module")
def folder(made: MadeClass, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class as it was handed in, `class`, and compared, `out`."""
    folder = tmp_path_factory.mktemp("similar")
    hand_in(made, folder / "class")
    done = ask("similar", folder / "class", "--out", folder / "out", "--pairs", 12, "--folders", folder / "to")
    assert (done.code, done.err) == (0, "")
    (folder / "said").write_text(done.out)
    return folder


def sources(count: int, source: bytes) -> dict[str, bytes]:
    """The same from so many."""
    return {f"student{number:02}": source for number in range(count)}


def class_of(handed_in: dict[str, bytes], stub: bytes = b"") -> Comparison:
    """A class with a single kata."""
    return compare([compared("root", stub, handed_in)], list(handed_in), 10)


def test_code_is_the_same_under_other_names_imports_comments_and_layout() -> None:
    assert grams_of(ONE).keys() == grams_of(SAME).keys() != grams_of(OTHER).keys()


def test_every_disguise_of_a_solution_leaves_the_same_runs() -> None:
    chance = random.Random(3)
    for name, source in course().solutions().items():
        assert grams_of(disguised(source.decode(), chance)).keys() == grams_of(source).keys(), name


def test_a_run_knows_the_lines_it_is_on() -> None:
    lines = set().union(*grams_of(ONE).values())
    assert lines == {4, 5, 6}


def test_what_the_stub_has_makes_nobody_alike() -> None:
    assert class_of({"ada": ONE, "ben": ONE}, stub=SAME).pairs == []
    (pair,) = class_of({"ada": ONE, "ben": SAME}).pairs
    assert (pair.first, pair.second, pair.katas[0].share) == ("ada", "ben", 1.0)


def test_the_same_code_weighs_little_where_many_have_it() -> None:
    many = class_of(sources(20, ONE) | {"zoe": OTHER, "yan": OTHER})
    heaviest = many.pairs[0]
    assert {heaviest.first, heaviest.second} == {"zoe", "yan"}
    assert many.pairs[1].bits < 1 < 7 < heaviest.bits


def test_a_kata_is_too_short_to_tell_where_many_write_the_same() -> None:
    assert class_of(sources(3, ONE) | {f"other{n:02}": b"x = %d" % n for n in range(8)}).katas[0].too_short
    assert not class_of(sources(2, ONE) | {f"other{n:02}": b"x = %d" % n for n in range(8)}).katas[0].too_short
    assert not class_of(sources(5, ONE)).katas[0].too_short, "so few can't say what is common"


def test_what_is_no_python_is_named_and_the_others_are_compared() -> None:
    found = class_of({"ada": ONE, "ben": b"def (", "cleo": ONE, "dan": b"\xff\xfe\x00", "eve": b"(" * 5000})
    assert found.katas[0].unparsed == ["ben", "dan", "eve"]
    assert [(pair.first, pair.second) for pair in found.pairs] == [("ada", "cleo")]


def test_disguised_copies_are_the_first_pairs(made: MadeClass, folder: Path) -> None:
    found = pairs_of(folder / "out/similar.csv")
    assert set(found[:COPIES]) == set(made.copies)
    said = (folder / "said").read_text()
    assert all(one in said and other in said for one, other in made.copies)


def test_the_list_is_the_same_whatever_the_seed_of_hashes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2")
    arguments = ("similar", str(folder / "class"), "--out", str(folder / "again"), "--pairs", "12")
    done = python("-m", "grader", *arguments)
    assert (done.code, done.err) == (0, "")
    for name in ("similar.csv", "similar.html"):
        assert (folder / "again" / name).read_bytes() == (folder / "out" / name).read_bytes()


def test_a_pair_is_shown_side_by_side_with_what_both_have_marked(folder: Path) -> None:
    page = (folder / "out/similar.html").read_text("utf-8")
    first, second = pairs_of(folder / "out/similar.csv")[0]
    section = page.partition('aria-labelledby="pair-1"')[2].partition("</section>")[0]
    assert section.count(f"<bdi>{first}</bdi>") == section.count(f"<bdi>{second}</bdi>") > 1
    assert '<mark class="line rare">' in section
    assert section.count("<figure>") % 2 == 0
    assert "No points depend on this" in page


def test_words_of_a_student_are_text_on_the_page(tmp_path: Path) -> None:
    source = "def same_storage(x, y):\n    return x is y  # <script>alert(1)</script> \u202e\n"
    for name in ("ada", "<b>ben"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "same_storage.py").write_text(source, "utf-8")
    done = ask("similar", *sorted((tmp_path / "class").iterdir()), "--out", tmp_path / "out", "--kata", "same_storage")
    assert done.code == 0
    page = (tmp_path / "out/similar.html").read_text("utf-8")
    assert page.count("<script>") == 1
    assert "<b>ben" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &lt;U+202E&gt;" in page


def test_the_class_page_leads_to_who_hands_in_the_same(tmp_path: Path) -> None:
    from grader.results import result as stored
    from grader.tests.made import result

    stored.write(result("why"), tmp_path)
    assert ask("report", tmp_path).code == 0
    assert "similar.html" not in (tmp_path / "report.html").read_text("utf-8")
    (tmp_path / "similar.html").write_text("")
    assert ask("report", tmp_path).code == 0
    assert '<a href="similar.html">' in (tmp_path / "report.html").read_text("utf-8")


def test_folders_are_laid_out_for_jplag_and_dolos(made: MadeClass, folder: Path) -> None:
    name, files = next(iter(made.files.items()))
    jplag = folder / "to/jplag"
    assert {path.name for path in jplag.iterdir()} == {*made.files}
    assert (jplag / name / "sgd.py").read_bytes() == files["sgd.py"]
    assert (folder / "to/stubs/sgd.py").read_bytes() == course().stub("sgd").read_bytes()
    with (folder / "to/dolos/sgd/info.csv").open() as file:
        listed = [row["filename"] for row in csv.DictReader(file)]
    assert listed == [f"{one}.py" for one in made.files]
    assert all((folder / "to/dolos/sgd" / one).is_file() for one in listed)
    assert f"-bc {folder}/to/stubs {jplag}\n" in (folder / "said").read_text()
    again = ask("similar", folder / "class", "--out", folder / "out", "--folders", folder / "to")
    assert (again.code, again.err) == (2, f"grader: --folders {folder}/to: there is something in it already\n")


def test_pseudonyms_stand_for_names_on_the_page_and_in_the_table(made: MadeClass, folder: Path, tmp_path: Path) -> None:
    few = [folder / "class" / name for name in list(made.files)[:3]]
    options = ("--out", tmp_path / "out", "--kata", "sgd", "--pseudonyms", tmp_path / "key.json")
    done = ask("similar", *few, *options)
    assert done.code == 0
    written = [path.read_text("utf-8") for path in (tmp_path / "out").iterdir()]
    assert not [name for name in made.files for text in (*written, done.out) if name in text]


def test_similar_takes_two_hand_ins_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada/sgd.py").write_text("x = 1\n")
    (tmp_path / "ben").mkdir()
    done = ask("similar", tmp_path / "ada", tmp_path / "ben", "--out", tmp_path / "out")
    assert done.code == 2
    assert done.err.splitlines()[-1] == "grader: there are not two hand-ins to compare"
    assert "no kata in it" in done.err
    assert not (tmp_path / "out").exists()
