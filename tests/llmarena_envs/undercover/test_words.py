import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.core.options import OptionError
from llmarena_envs.undercover.words import (
    WordPair,
    contains_word,
    essence,
    load_pairs,
    one_line,
    read_pairs,
    shipped_pairs,
)


@pytest.mark.parametrize(("language", "pairs", "words", "categories"), [("en", 381, 759, 26), ("zh", 177, 354, 15)])
def test_shipped_lists(language, pairs, words, categories):
    shipped = shipped_pairs(language)
    assert len(shipped) == len({frozenset(pair[1:]) for pair in shipped}) == pairs
    assert len({word for pair in shipped for word in pair[1:]}) == words
    assert len({pair.category for pair in shipped}) == categories
    for _, a, b in shipped:
        assert not contains_word(a, b)
        assert not contains_word(b, a)


def test_table_and_lines_are_read_alike():
    table = ["category,a,b", "", "sweets, ice cream ,'yogurt'", "drink,茶,咖啡"]
    lines = ["ice cream - 'yogurt'", "", "茶 – 咖啡  "]
    assert [pair[1:] for pair in read_pairs(table, "x")] == [pair[1:] for pair in read_pairs(lines, "x")]
    assert read_pairs(lines, "x")[1] == WordPair("", "茶", "咖啡")
    assert read_pairs(["yo-yo - kite"], "x") == (WordPair("", "yo-yo", "kite"),)
    assert read_pairs([" Category , A , B ", 'toy,"top, spinning",kite'], "x") == (
        WordPair("toy", "top, spinning", "kite"),
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "at least one pair"),
        (["category,a,b"], "at least one pair"),
        (["category,a,b", "fruit,plum"], "line 2: expected the fields category,a,b"),
        (["category,a,b", "", "fruit,plum,cherry,pear"], "line 3: expected the fields"),
        (["category,a,b", "fruit,plum, "], "line 2: expected a word"),
        (["category,a,b", "fruit,plum,..."], "line 2: expected a word"),
        (["category,a,b", "fruit,plum,Plum!"], "line 2: expected two different words"),
        (["category,a,b", "fruit,plum,cherry", "x,Cherry,plum"], "line 3: the pair 'Cherry', 'plum' occurs twice"),
        (["a - b", "c-d"], "line 2: expected 'A - B'"),
        (["fruit,plum,cherry"], "line 1: expected 'A - B'"),
        (["a - b", f"a - {'x' * 101}"], "line 2: expected a word of 1 to 100"),
        (["category,a,b", "x" * 200_000 + ",a,b"], "line 2: field larger"),
        (["category,a,b", 'fruit,"plum,cherry'], "line 2"),
    ],
)
def test_errors_name_the_line(lines, message):
    with pytest.raises(OptionError, match="word_pairs: my list") as error:
        read_pairs(lines, "my list")
    assert message in str(error.value)


def test_files(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes("\ufeffcategory,a,b\r\nfruit,plum,cherry\r\n".encode())
    assert load_pairs(path) == load_pairs(str(path)) == (WordPair("fruit", "plum", "cherry"),)
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(OptionError, match="cannot read"):
        load_pairs(path)
    with pytest.raises(OptionError, match="cannot read"):
        load_pairs(tmp_path / "absent")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("an APPLE a day", "apple"),
        ("apple", "Apple"),
        ("ａｐｐｌｅ", "apple"),
        ("_apple_!", "apple"),
        ("ap\u200bple", "apple"),
        ("像apple一样", "apple"),
        ("a hot-air  balloon.", "hot air balloon"),
        ("hotairballoon", "hot air balloon"),
        ("my yo yo", "yo-yo"),
        ("C++ code", "c++"),
        ("a-p-p-l-e", "apple"),
        ("like 🍎🍎", "🍎"),
        ("我喜欢苹果汁", "苹果"),
        ("苹 果", "苹果"),
        ("苹，果", "苹果"),
    ],
)
def test_a_text_contains_a_word(text, word):
    assert contains_word(text, word)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("pineapple", "apple"),
        ("apples", "apple"),
        ("nice", "ice"),
        ("果苹", "苹果"),
        ("hot balloon", "hot air balloon"),
        ("hot air balloonist", "hot air balloon"),
        ("", "a"),
    ],
)
def test_a_text_does_not_contain_a_word(text, word):
    assert not contains_word(text, word)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("It is red.", "it is RED"),
        ("红的，圆的", "红的 圆的！"),
        ("ＲＥＤ", "red"),
        ("🍎 !", "🍎"),
        ("...", ""),
        ("—", " "),
    ],
)
def test_same_essence(first, second):
    assert essence(first) == essence(second)


def test_other_essence():
    assert len({essence(text) for text in ("red", "rd", "🍎", "🍐", "", "红")}) == 6


@given(st.text())
def test_one_line_is_stable_and_printable(text):
    line = one_line(text)
    assert one_line(line) == line
    assert len(line.splitlines()) <= 1
    line.encode()
