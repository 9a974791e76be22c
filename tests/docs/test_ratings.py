"""The guide to ratings tabulates what ``import rating`` offers."""

import re

import rating
from tests.docs.pages import DOCS


def test_every_public_name_is_there():
    page = (DOCS / "ratings.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `rating\.(\w+)` \|", page, re.MULTILINE)) == set(rating.__all__)
