"""Keys in messages of servers and policies."""

import base64
import html
import json
import string
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agents.calling import provider_errors
from agents.errors import ProviderError
from agents.secret import Secret, hide_keys

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
def test_key_is_hidden_in_any_spelling(written):
    secret = Secret(KEY)
    text = f"no such key: {written}, {written}!"
    hidden = secret.hide(text)
    assert hidden.replace('"', "").replace("'", "").replace("=", "") == "no such key: ***, ***!"
    assert secret.hide(text.encode()) == hidden.encode()


def test_secret_leaves_ordinary_text_unchanged():
    assert Secret("no-key").hide("no-key is needed") == "no-key is needed"
    assert Secret("").hide("text") == "text"
    assert Secret("a" * 20).hide("a" * 19) == "a" * 19
    assert Secret("no-key").hide_parts("no-key is needed") == "no-key is needed"


LETTERS = string.ascii_letters + string.digits + "_-"
BEGINNINGS = st.sampled_from(["", "sk-", "sk-proj-", "sk-ant-api03-", "gsk_", "AIza", "hf_"])
KEYS = st.tuples(BEGINNINGS, st.text(LETTERS, min_size=16, max_size=60)).map("".join)
FILLINGS = st.one_of(
    st.builds(str.__mul__, st.sampled_from("*.•●…xX#_-?"), st.integers(0, 40)),
    st.sampled_from(["[redacted]", "<hidden>", " ... ", " and ends in ", '", "suffix": "', "%2A%2A", "\\u2026", "\n"]),
)
PLACES = [
    "Incorrect API key provided: {}. You can find your API key at https://platform.openai.com/account/api-keys.",
    "{}",
    "x{}y",
    "(key {})",
    "Authorization: Bearer {}",
    "x-api-key: {}",
    '{{"error": {{"api_key": "{}"}}}}',
    "GET https://host/v1?key={}&alt=sse",
    "API密钥{}无效",
]


@given(
    KEYS,
    st.integers(4, 9),
    st.integers(4, 9),
    st.sampled_from(["both", "beginning", "end"]),
    FILLINGS,
    st.sampled_from(PLACES),
)
def test_masked_key_keeps_no_end(key, head, tail, shown, filling, place):
    begin, end = key[:head], key[-tail:]
    masked = {"both": begin + filling + end, "beginning": begin + filling, "end": filling + end}[shown]
    hidden = Secret(key).hide_parts(place.format(masked))
    assert key[:4] not in hidden
    assert key[-4:] not in hidden


@given(KEYS, st.integers(0, 60), st.sampled_from(PLACES))
def test_no_eight_characters_of_the_key_stay(key, begin, place):
    part = key[begin : begin + 8]
    assume(len(part) == 8)
    assert part not in Secret(key).hide_parts(place.format(part))


ORDINARY = [
    "Rate limit reached for gpt-4o-mini in organization org-abc123XYZ on tokens per min (TPM): Limit 200000, Used 199512."
    " Please try again in 33ms. Visit https://platform.openai.com/account/rate-limits to learn more.",
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    "max_tokens: Field required; messages.0.content: Input should be a valid string",
    "The model `meta-llama/Llama-3.3-70B-Instruct-Turbo` does not exist or you do not have access to it.",
    "upstream connect error or disconnect/reset before headers. reset reason: connection timeout",
    "The key has expired... please wait...then try again in 20s",
    "token limit: 8192, token count: 131072, max_tokens=512, prompt_tokens=12345",
    "Unexpected token < in JSON at position 0; invalid token: unexpected end of input",
    "Basic Authentication required; Bearer authentication required",
    "You exceeded your current quota. request id: req_4f6f6a0f9d2b1e4f6f6a0f9d2b1e0123",
    "connection refused: no server listens at http://127.0.0.1:8000/v1",
    "KeyError: 'choices'; key 'frequency_penalty2' is not supported; sk-learn is missing",
    "expected a chat completion: Extra data: line 1 column 5 (char 4): '{} **x**'",
    "API key not valid. Please pass a valid API key. api_key_env: OPENAI_API_KEY is not set",
    "API 密钥无效，请检查。模型 qwen2.5-72b-instruct 不存在，剩余 1024 个 token。",
]


@given(KEYS, st.sampled_from(ORDINARY))
def test_an_ordinary_error_survives(key, text):
    assume(not any(part in text for part in (key[:4], key[-4:])))
    assert hide_keys(Secret(key).hide_parts(text)) == text


OTHERS = {
    "Incorrect API key provided: abcd****************wxyz. You can": "Incorrect API key provided: ***. You can",
    "Incorrect API key provided: sk-abc***wxyz.": "Incorrect API key provided: ***.",
    "invalid key abcd...wxyz": "invalid key ***",
    "invalid key …wxyz9": "invalid key ***",
    "the key ending in wxyz is disabled": "the key ending in *** is disabled",
    "the key that ends with 'wxyz'": "the key that ends with '***'",
    "API key XXXXXXXXXXXXwxyz is expired": "API key *** is expired",
    "sk-proj-••••••••wxyz": "***",
    "密钥sk-abc1234567890无效": "密钥***无效",
    "密钥：abcd****wxyz": "密钥：***",
    "api key: wxyzABCD12345678": "api key: ***",
    "authentication failed for key [abc1234567890]": "authentication failed for key [***]",
    "x-api-key: Abc123Abc123Zz": "x-api-key: ***",
    '{"api_key": "abcdef1234567"}': '{"api_key": "***"}',
    "https://host/v1?key=abcdefgh&alt=sse": "https://host/v1?key=***&alt=sse",
    "https://user:pass@host/v1": "https://***@host/v1",
    "Authorization: Bearer abcDEF123456": "Authorization: Bearer ***",
    "Authorization: Basic dXNlcjpwYXNzd29yZA==": "Authorization: Basic ***",
    "client = OpenAI(api_key='abcdefgh')": "client = OpenAI(api_key='***')",
    "AIzaSyA1234567890abcdef": "***",
}


@pytest.mark.parametrize("text", OTHERS)
def test_what_looks_like_a_key_is_hidden(text):
    assert hide_keys(text) == OTHERS[text]


def test_a_policy_that_raises_a_key_records_none():
    with pytest.raises(ProviderError) as raised, provider_errors("the policy"):
        raise ValueError("Incorrect API key provided: sk-abcd****wxyz")
    assert "wxyz" not in str(raised.value) and "Incorrect API key provided: ***" in str(raised.value)
