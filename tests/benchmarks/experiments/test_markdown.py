"""Foreign texts in Markdown."""

import pytest

from benchmarks.experiments.markdown import block, inline


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "```text\nplain\n```"),
        ("a\n```\n# heading", "````text\na\n```\n# heading\n````"),
        ("`````", "``````text\n`````\n``````"),
        ("<b>\x1b[31m\u202e", "```text\n<b>\\x1b[31m\\u202e\n```"),
    ],
)
def test_a_block_ends_where_its_text_does(text, expected):
    assert block(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "`plain`"),
        ("a\n\n# b", "`a # b`"),
        ("`", "`` ` ``"),
        ("a``b`c", "``` a``b`c ```"),
        ("", "` `"),
    ],
)
def test_code_in_a_line_stays_in_it(text, expected):
    assert inline(text) == expected
