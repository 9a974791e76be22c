"""Contamination: pieces and passages are found where they stand, and nowhere else."""

import json

import numpy as np
import pytest

from benchmarks.auto_arena.__main__ import PAPER
from benchmarks.auto_arena.corpus_search import (
    LONGEST_PASSAGE,
    PIECE,
    Passage,
    draw_pieces,
    find_pieces,
    find_similar,
    ngram_vectors,
    read_corpus,
)
from benchmarks.experiments.command import main
from llmarena_envs.core.options import OptionError
from llmarena_envs.debate.questions import Question

LONG = Question(
    "a", "stem", "Why does the level of a lake fall in winter, although less water evaporates from it than in summer?"
)
SHORT = Question("b", "math", "What is 12 times 12, less 44?")
TINY = Question("c", "math", "Why 2?")
CHINESE = Question("d", "stem", "为什么冬天湖水的水位会下降，虽然蒸发的水比夏天少得多？")


def embed_by_length(texts):
    return [[len(text), 1] for text in texts]


def embed_nothing(texts):
    return [[1.0]] * (len(texts) - 1)


def embed_unevenly(texts):
    return np.ones((len(texts), len(texts)))


def embed_infinity(texts):
    return [[float("nan")]] * len(texts)


def test_pieces_are_drawn_by_the_seed_from_letters_and_digits():
    pieces = draw_pieces([LONG, SHORT, TINY], 1)
    assert all(len(piece) == PIECE and piece.isalnum() for piece in pieces[0])
    assert pieces[1:] == [("whatis12times12less44",), ()]
    assert pieces == draw_pieces([LONG, SHORT, TINY], 1) != draw_pieces([LONG, SHORT, TINY], 2)


def test_a_question_is_found_in_other_writing():
    text = f"xx {LONG.text.upper().replace(' ', '  -  ')} What? {SHORT.text[:-3]} 45?"
    pieces = draw_pieces([LONG, SHORT, CHINESE], 0)
    (match,) = find_pieces(pieces, [Passage("one", "nothing"), Passage("two", text), Passage("three", text)])
    assert (match.question, match.where, match.similarity) == (0, "two", 1)
    found = find_pieces(
        pieces, [Passage("one", "。" + "".join(f"{sign} " for sign in CHINESE.text)), Passage("two", SHORT.text)]
    )
    assert [(match.question, match.where) for match in found] == [(1, "two"), (2, "one")]


def test_piece_does_not_span_two_passages():
    halves = [Passage("one", LONG.text[:40]), Passage("two", LONG.text[40:])]
    piece = draw_pieces([LONG], 0)[0]
    assert find_pieces([piece], [Passage("both", "".join(half.text for half in halves))])
    assert not find_pieces([tuple(each for each in piece if each not in LONG.text[40:])], halves[:1])


def test_the_nearest_passage_is_named():
    passages = [
        Passage("one", "Rivers freeze from above."),
        Passage("two", LONG.text.lower() + " Explain."),
        Passage("three", ""),
    ]
    (match,) = find_similar([LONG], passages, ngram_vectors)
    assert match.where == "two"
    assert 0.9 < match.similarity < 1
    (same,) = find_similar([LONG], [Passage("far", "x " * LONGEST_PASSAGE), Passage("same", LONG.text)], ngram_vectors)
    assert (same.where, same.similarity) == ("same", pytest.approx(1))
    assert find_similar([LONG], [], ngram_vectors) == []


@pytest.mark.parametrize(
    ("embed", "message"),
    [
        (embed_nothing, "expected 2 vectors of finite numbers"),
        (embed_infinity, "expected 2 vectors of finite numbers"),
        (embed_unevenly, "expected vectors of 2 numbers throughout, got 1"),
        (json.dumps, "expected a vector of numbers for each text"),
    ],
)
def test_an_embedder_that_gives_no_vectors(embed, message):
    with pytest.raises(OptionError, match=message):
        find_similar([LONG, SHORT], [Passage("one", "x")], embed)


def test_a_corpus_is_read_by_paragraphs_and_by_texts_of_json(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.jsonl").write_text(
        '{"a": ["one\\ntwo", {"b": "three"}], "n": 4}\nno json\n\n', encoding="utf-8"
    )
    (tmp_path / "a.txt").write_bytes(b"first\nline\n\n\nsecond \xff\n")
    assert [(passage.where.removeprefix(str(tmp_path)), passage.text) for passage in read_corpus(tmp_path)] == [
        ("/a.txt, line 1", "first\nline\n"),
        ("/a.txt, line 5", "second \ufffd\n"),
        ("/deep/b.jsonl, line 1", "one\ntwo"),
        ("/deep/b.jsonl, line 1", "three"),
        ("/deep/b.jsonl, line 2", "no json\n"),
    ]
    (tmp_path / "empty").mkdir()
    with pytest.raises(OptionError, match="expected files"):
        list(read_corpus(tmp_path / "empty"))


def test_the_row_finds_its_own_questions(tmp_path):
    mine = tmp_path / "mine.jsonl"
    mine.write_text(
        "\n".join(json.dumps({"domain": each.domain, "id": each.id, "question": each.text}) for each in (LONG, TINY)),
        encoding="utf-8",
    )
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(f"Something.\n\nSomebody asks: {LONG.text}\n", encoding="utf-8")
    words = ["contam", "--questions", "builtin", str(mine), "--corpus", str(corpus), "--out", str(tmp_path)]
    assert main(PAPER, words) == 0
    (table,) = json.loads((tmp_path / "contam.json").read_text(encoding="utf-8"))["tables"]
    cells = [list(row.values()) for row in table["rows"]]
    shares = [(row[1], row[2]["value"], row[2]["n"], row[3]["value"], row[3]["n"]) for row in cells]
    assert shares == [(88, 0, 88, 0, 88), (2, 100, 1, 50, 2)]
    found = [json.loads(line) for line in (tmp_path / "contam-found.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(each["id"], each["found"], each["where"]) for each in found] == [
        ("a", "piece", f"{corpus}, line 3"),
        ("a", "similar", f"{corpus}, line 3"),
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["--corpus", "missing"],
        ["--corpus", ""],
        ["--embedder", "json"],
        ["--embedder", "json:nothing"],
        ["--embedder", "no_such_module:embed"],
        ["--similarity", "1.5"],
        ["--questions", "builtin", "builtin"],
        ["--questions", "missing.jsonl"],
    ],
)
def test_bad_options_end_with_usage(words, tmp_path, capsys):
    assert main(PAPER, ["contam", "--corpus", __file__, *words, "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("llmarena: ")
    assert not list(tmp_path.iterdir())
