from agents.terminal import printable


def test_control_characters_are_spelt_out():
    assert printable("\x1b[2J\x9b1A\x07a\rb\x00") == r"\x1b[2J\x9b1A\x07a\x0db\x00"


def test_other_texts_stay():
    text = "two\n\tlines, 中文　ｆｕｌｌ 😀 é"
    assert printable(text) == text
