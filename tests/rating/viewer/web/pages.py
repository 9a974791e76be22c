"""Pages of a directory for tests, without a server."""

import re
from html import unescape
from html.parser import HTMLParser

from starlette.testclient import TestClient

from rating.viewer.web.app import make_app
from rating.viewer.web.links import Links

HOME = "/board/secret"


def pages_of(directory):
    app = make_app(directory, Links("secret", {}), {"testserver"})
    return TestClient(app, follow_redirects=False, raise_server_exceptions=True)


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


def check_inert(html):
    """Checks that a page has no scripts, styles or sources of its own, as its security policy demands."""
    reader = _Reader()
    reader.feed(html)
    for tag, attributes in reader.tags:
        assert tag not in ("img", "iframe", "style", "object", "embed", "base", "i", "b"), tag
        assert not [name for name in attributes if name.startswith("on") or name == "style"], attributes
        assert tag != "script" or "src" in attributes, attributes
        for name in ("src", "href"):
            assert attributes.get(name, "/").startswith(("/", "#")) or attributes["href"] == "data:,", attributes


def tables_in(html):
    """Returns the texts of the cells of every table by row, starting with the header."""
    return [
        [
            [unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
            for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
        ]
        for table in re.findall(r"<table.*?</table>", html, re.DOTALL)
    ]
