"""A key in what servers send."""

import base64
import html
import json
from urllib.parse import quote

import pytest

from agents.models.server.secret import Secret

KEY = 'sk-Zq7/pl+us="q\\b%41&<x>Hh3Kk9Mm2Nn8'
WRITTEN = [
    KEY,
    json.dumps(KEY),
    repr(KEY),
    html.escape(KEY),
    quote(KEY),
    quote(KEY, safe=""),
    base64.b64encode(KEY.encode()).decode(),
    base64.urlsafe_b64encode(KEY.encode()).decode(),
]


@pytest.mark.parametrize("written", WRITTEN)
def test_a_key_is_hidden_however_it_is_written(written):
    secret = Secret(KEY)
    text = f"no such key: {written}, {written}!"
    hidden = secret.hide(text)
    assert hidden.replace('"', "").replace("'", "").replace("=", "") == "no such key: ***, ***!"
    assert secret.hide(text.encode()) == hidden.encode()


def test_what_is_no_secret_is_left_alone():
    assert Secret("no-key").hide("no-key is needed") == "no-key is needed"
    assert Secret("").hide("text") == "text"
    assert Secret("a" * 20).hide("a" * 19) == "a" * 19
