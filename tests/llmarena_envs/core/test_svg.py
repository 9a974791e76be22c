"""Pictures as SVG: texts stay texts, lengths and replies are kept, and sizes are bounded."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.drawing import TextDrawing
from llmarena_envs.core.svg import CUT, MAX_DESCRIPTION, MAX_LETTERS, Svg, cut_to_width, text_width, xml_text

SVG = "{http://www.w3.org/2000/svg}"
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)


def read(svg: object) -> ElementTree.Element:
    return ElementTree.fromstring(str(svg).encode())


@given(ANYTHING, ANYTHING, ANYTHING)
def test_any_text_stays_one_text(title: str, description: str, text: str) -> None:
    svg = Svg(100, 50, title, description)
    svg.text(1, 2, text, fill=text)
    root = read(svg)
    drawn = root.findall(f".//{SVG}text")
    assert [element.tag for element in root.iter()].count(f"{SVG}text") == len(drawn) == 1
    assert len(drawn[0]) == len(root.findall(f"{SVG}title/*")) == 0
    assert len(list(root)) == (4 if description else 3)


def test_what_cannot_be_shown_is_made_visible() -> None:
    assert xml_text("a\x1b\u202e\ud800<b>&\nc") == "a\\x1b\\u202e\ufffd&lt;b&gt;&amp; c"


@given(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30).map(lambda text: f"\"{text}\n\t'")
)
def test_replies_are_returned_unchanged(reply: str) -> None:
    svg = Svg(10, 10, "a picture")
    with svg.group(reply):
        svg.circle(1, 2, 3)
    (group,) = read(svg).findall(f"{SVG}g")
    visible = xml_text(reply)
    if "\\" not in visible:  # marks of bidirectional text are spelt out, and no game has them in replies
        assert group.get("data-reply") == reply.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


@given(st.floats(-9999, 9999))
def test_lengths_are_right_to_a_hundredth(length: float) -> None:
    svg = Svg(10, 10, "a picture")
    svg.rect(length, 0, 1, 1)
    x = float(read(svg).findall(f"{SVG}rect")[-1].get("x", ""))
    assert abs(x - length) <= 0.05


@given(ANYTHING, st.floats(12, 200), st.booleans())
def test_cut_texts_are_no_wider_than_asked(text: str, width: float, bold: bool) -> None:
    shown = cut_to_width(text, width, 12, bold)
    assert text_width(shown, 12, bold) <= max(width, text_width(CUT, 12, bold)) + 1e-6
    assert shown == text or shown.endswith(CUT)


def test_a_negative_zero_is_a_zero() -> None:
    first, second = Svg(10, 10, "a picture"), Svg(10, 10, "a picture")
    first.rect(-0.0, -0.001, 1, 1)
    second.rect(0, 0, 1, 1)
    assert str(first) == str(second)


def test_long_texts_are_cut() -> None:
    svg = Svg(10, 10, "<" * 100_000, "&" * 100_000)
    svg.text(0, 0, "\u202e" * 100_000)
    assert len(str(svg)) < 6 * (2 * MAX_LETTERS + MAX_DESCRIPTION) + 1000
    assert len(cut_to_width("i" * 100_000, 1e9)) == MAX_LETTERS + 1


class Recited(Codec[str, None]):
    """The texts of the picture are the view itself."""

    def rules(self, agent: str) -> str:
        return ""

    def observation(self, view: object) -> str:
        return str(view)

    picture = observation

    def read(self, reply: str, view: object) -> str:
        return reply

    def format(self, action: str, view: object) -> str:
        return action


def test_texts_are_drawn_line_by_line_with_their_blanks() -> None:
    root = read(TextDrawing(Recited(), "texts").seat("X|  O\n 中文"))
    assert [line.text for line in root.findall(f"{SVG}text")] == ["X|\u00a0\u00a0O", "\u00a0中文"]


def test_long_lines_are_wrapped_and_stay_within_the_picture() -> None:
    text = "\n".join([" ".join([f"word{number}" for number in range(100)]), "中文" * 100, "\x1b\u202e" * 60])
    picture = TextDrawing(Recited(), "texts").seat(text)
    root = read(picture)
    lines = [(line.text or "").replace("\u00a0", " ") for line in root.findall(f"{SVG}text")]
    assert "word99" in " ".join(lines) and "".join(lines).count("中") == 100 and "".join(lines).count("u202e") == 60
    width = float(root.attrib["width"])
    assert all(16 + 14 * sum([0.6 if letter.isascii() else 1 for letter in line]) <= width for line in lines)


def test_of_a_long_text_the_last_lines_are_drawn() -> None:
    picture = TextDrawing(Recited(), "texts").seat("\n".join(map(str, range(100_000))) + "\n" + "&" * 100_000)
    lines = [line.text or "" for line in read(picture).findall(f"{SVG}text")]
    assert (len(lines), lines[0], lines[-13], lines[-1][-2:]) == (60, CUT, "99999", "&…")
    told = read(picture).findtext(f"{SVG}desc") or ""
    assert told.startswith(f"{CUT} 999") and told.endswith("&…")
    assert len(picture) < 50_000
