from llmarena_envs.core.terminal import printable


def test_control_characters_are_spelt_out():
    assert printable("\x1b[2J\x9b1A\x07a\rb\x00") == r"\x1b[2J\x9b1A\x07a\x0db\x00"


def test_bidirectional_controls_and_line_separators_are_spelt_out():
    steering = [0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), *range(0x80, 0xA0)]
    for code in steering:
        assert printable(f"a{chr(code)}b") == (f"a\\u{code:04x}b" if code > 0xFF else f"a\\x{code:02x}b")


def test_other_texts_stay():
    text = "two\n\tlines, 中文　ｆｕｌｌ 😀 é \u200d \u2027 \u202f \u2065 \u206a שלום"
    assert printable(text) == text
