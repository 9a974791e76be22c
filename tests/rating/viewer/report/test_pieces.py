"""Pieces of texts: put together again, and stored once."""

from rating.viewer.report.pieces import ELEMENTS, LINES, Pieces
from tests.rating.viewer.report.test_report import restored

TEXTS = ["", "\n", "a\nb\nc", "a\nb\nc\nd", "\n\na\n", "a\x00\u2028b\r\nc", "1\n2\na\nb\nc"]


def test_pieces_put_every_text_together_again():
    pieces = Pieces()
    turns = [{"read": pieces.runs(text, LINES)} for text in TEXTS]
    drawings = ["<svg><g/><g/></svg>", "<svg><g/></svg>", "plain", ""]
    pictures = [pieces.runs(svg, ELEMENTS) for svg in drawings]
    match = restored({"turns": turns, "pictures": pictures}, pieces.table())
    assert [turn["read"] for turn in match["turns"]] == TEXTS and match["pictures"] == drawings


def test_pieces_of_growing_texts_are_stored_once():
    pieces, lines = Pieces(), [f"move {number}" for number in range(100)]
    runs = [pieces.runs("\n".join(lines[:length]), LINES) for length in range(1, 101)]
    assert runs[:2] == [[0, 1], [0, 2]] and all(len(one) == 2 for one in runs)
    assert pieces.table() == lines and pieces.size == sum(map(len, lines))
    assert pieces.runs("move 98\nnew\nmove 0\nmove 1", LINES) == [98, 1, 100, 1, 0, 2]
