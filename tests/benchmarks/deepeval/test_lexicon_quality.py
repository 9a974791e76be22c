"""Recall and false accepts of a list of idioms, on lists where both are known."""

import pytest

from benchmarks.deepeval.lexicon_quality import FALSE, GENUINE, WORDS, main, measure, read_words
from llmarena_envs.core.options import OptionError
from llmarena_envs.idiom_solitaire.characters import NO_FOLDING
from llmarena_envs.idiom_solitaire.lexicon import Lexicon
from llmarena_envs.idiom_solitaire.lexicons import shipped_lexicon


def cells(table):
    return {row[0]: row[1:] for row in table.rows}


def test_shares_by_kind_and_the_words_behind_them():
    lexicon = Lexicon({"一心一意": 1.0, "北京大学": 1.0}, NO_FOLDING, ())
    kinds = {"一心一意": "common idiom", "意气风发": "common idiom", "北京大学": "name", "今天下午": "phrase"}
    table = measure(lexicon, kinds)
    rows = cells(table)
    assert rows["common idiom"][:2] == (2, 1) and rows["idioms"][:2] == (2, 1) and rows["others"][:2] == (2, 1)
    assert rows["common idiom"][2][:3] == (50.0, None, None)
    assert rows["literary idiom"] == (0, 0, None)
    assert "common idiom, not known: 意气风发" in table.notes
    assert "name, accepted: 北京大学" in table.notes
    assert not any("今天下午" in note or "一心一意" in note for note in table.notes)


def test_shipped_list_accepts_most_idioms_and_few_other_words():
    kinds = read_words(WORDS)
    assert sum(kind in GENUINE for kind in kinds.values()) == 300
    assert sum(kind in FALSE for kind in kinds.values()) == 200
    rows = cells(measure(shipped_lexicon(), kinds))
    assert rows["idioms"][2].value >= 95
    assert rows["others"][2].value <= 6
    assert rows["invented"][1] == 0


def test_the_words_were_not_used_to_extend_the_list():
    supplement = (WORDS.parents[2] / "research" / "idioms" / "supplement.txt").read_text(encoding="utf-8")
    assert not set(supplement.split()) & set(read_words(WORDS))


def test_the_command_writes_its_table(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("一心一意\n", encoding="utf-8")
    assert main(["--idioms", str(tmp_path / "mine.txt"), "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "What a list of 1 idioms accepts" in shown and "mine.txt (1 items)" in shown
    assert (tmp_path / "out" / "lexicon_quality.md").read_text(encoding="utf-8") == shown
    assert "literary idiom,68,0,0.0,0.0" in (tmp_path / "out" / "lexicon_quality.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "line 1: expected the header word,kind"),
        ("word,kind\n一心一意,idiom\n", "line 2: expected a new word and one of common idiom"),
        ("word,kind\n一心一意,phrase\n一心一意,phrase\n", "line 3"),
        ("word,kind\n一心一意\n", "line 2"),
        ("", "line 1"),
    ],
)
def test_a_bad_table_is_named_with_its_line(tmp_path, capsys, text, message):
    path = tmp_path / "words.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=message):
        read_words(path)
    assert main(["--words", str(path)]) == 2
    assert message in capsys.readouterr().err
    assert main(["--words", str(tmp_path / "none.csv")]) == 2
