"""The cache of replies: what is kept, under which key, and what a file that is none is told."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from agents.errors import ProviderError
from agents.models import LLMPolicy, ModelService
from agents.models import cache as module
from agents.models.cache import FILE, ReplyCache, cache_key
from agents.models.calls import CallStatus
from agents.models.server.endpoint import Endpoint
from agents.policy import Reply
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError
from tests.agents.llm_calls import OBSERVATION, SECRET
from tests.support.hostile_server import completion, hostile_server, json_answer, say

HERE = Endpoint("http://localhost:1/v1", "KEY")


@pytest.fixture
def cache(tmp_path):
    with closing(ReplyCache(tmp_path / "cache")) as made:
        yield made


def ask(url, cache, *seeds, offline=False, together=False, **options):
    """Asks once for each seed and returns the replies and the calls."""
    calls = []
    service = ModelService(calls.append, cache, offline=offline)

    async def one(seed):
        policy = LLMPolicy("mock", base_url=url, service=service, **options)
        policy.reset("player_0", seed)
        return await policy(OBSERVATION)

    async def run():
        try:
            if together:
                return await asyncio.gather(*map(one, seeds))
            return [await one(seed) for seed in seeds]
        finally:
            await service.close()

    return asyncio.run(run()), calls


def test_what_was_asked_once_is_not_asked_again(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with hostile_server(say("first"), say("second"), say("third"), say("fourth")) as server:
        replies, _ = ask(server.url, cache, 1, 2, 1)
        assert [reply.text for reply in replies] == ["first", "second", "first"]
        assert [reply.calls for reply in replies] == [1, 1, 0]
        (again,), calls = ask(server.url, cache, 1)
        assert [(call.status, call.prompt_tokens, call.completion_tokens) for call in calls] == [
            (CallStatus.CACHED, 0, 0)
        ]
        assert (again.prompt_tokens, again.completion_tokens, again.detail) == (11, 5, replies[0].detail)
        (other,), _ = ask(server.url, cache, 1, temperature=1.0)
        assert other.text == "third"
        (other,), _ = ask(server.url + "/", cache, 1, temperature=1.0)
        assert other.text == "third"
        assert len(server.requests) == 3
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in (tmp_path / "cache").iterdir())


def test_two_who_ask_the_same_at_once_share_one_request(cache):
    with hostile_server(say("first", together=2), say("second", together=2), say("third")) as server:
        replies, calls = ask(server.url, cache, 1, 1, 1, 2, together=True)
        assert len(server.requests) == 2
    assert len({reply.text for reply in replies[:3]}) == 1
    assert [call.status for call in calls].count(CallStatus.CACHED) == 2


@pytest.mark.parametrize(
    "bad",
    [
        say("", "stop"),
        say(" \n", "length"),
        say("no", "content_filter"),
        json_answer(completion({"content": None, "refusal": "I will not"})),
    ],
    ids=["empty", "cut before any text", "filtered", "refused"],
)
def test_what_is_no_answer_is_not_kept(cache, bad):
    with hostile_server(bad, say("X: 3")) as server:
        replies, _ = ask(server.url, cache, 1, 1, 1)
        assert len(server.requests) == 2
    assert [reply.text for reply in replies[1:]] == ["X: 3"] * 2


def test_a_failure_of_the_server_is_not_kept(cache):
    with hostile_server() as server:
        for _ in range(2):
            with pytest.raises(ProviderError):
                ask(server.url, cache, 1)
        assert len(server.requests) == 2


def test_offline_nothing_is_sent_and_no_key_is_needed(cache, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with hostile_server(say("first")) as server:
        ask(server.url, cache, 1)
        assert ask(server.url, cache, 1, offline=True)[0][0].text == "first"
        with pytest.raises(ProviderError, match=r"mock: the reply is not in the cache.*--offline") as raised:
            ask(server.url, cache, 2, offline=True)
        assert raised.value.final
        assert not raised.value.fatal
        assert len(server.requests) == 1
    with pytest.raises(ProviderError, match="not in the cache"):
        ask(None, cache, 1, offline=True)
    with pytest.raises(OptionError, match="no key"):
        ask(None, cache, 1)


def test_everything_that_is_asked_counts_for_the_key():
    keys = [
        cache_key(HERE, "m", {"messages": [1], "seed": 1}, "1:0"),
        cache_key(Endpoint("http://localhost:2/v1", "KEY"), "m", {"messages": [1], "seed": 1}, "1:0"),
        cache_key(Endpoint("http://localhost:1/v1?api-version=2", "KEY"), "m", {"messages": [1], "seed": 1}, "1:0"),
        cache_key(HERE, "n", {"messages": [1], "seed": 1}, "1:0"),
        cache_key(HERE, "m", {"messages": [1], "seed": 2}, "1:0"),
        cache_key(HERE, "m", {"messages": [1, 1], "seed": 1}, "1:0"),
        cache_key(HERE, "m", {"messages": [1], "seed": 1}, "1:1"),
    ]
    assert len(set(keys)) == len(keys)
    other_order = cache_key(Endpoint("http://localhost:1/v1", "OTHER_KEY"), "m", {"seed": 1, "messages": [1]}, "1:0")
    assert other_order == keys[0]


@pytest.mark.parametrize(
    "reply",
    [
        Reply("X: 3"),
        Reply("落子" * 5000, Failure.TRUNCATED, None, None, {"finish_reason": "length"}, None, 7, "thought", 2, 0.5),
    ],
)
def test_a_reply_comes_back_as_it_was(cache, reply):
    kept = cache.keep("key", "m", reply)
    assert kept == reply
    found = cache.find("key")
    assert (found.calls, found.waited) == (0, 0.0)
    assert found == Reply(**{**vars(reply), "calls": 0, "waited": 0.0})


def test_who_comes_second_gets_what_was_stored_first(cache, tmp_path):
    with closing(ReplyCache(tmp_path / "cache")) as other:
        other.keep("key", "m", Reply("first"))
    assert cache.keep("key", "m", Reply("second", calls=3)) == Reply("first", calls=3)


def test_a_reply_too_large_to_be_unpacked_again_is_not_kept(cache, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LARGEST", 5000)
    large = Reply("x" * 5000)
    assert cache.keep("abc", "m", large) == large
    assert cache.find("abc") is None
    cache.keep("abc", "m", Reply("x" * 4000))
    monkeypatch.setattr(module, "_LARGEST", 3000)
    with pytest.raises(ProviderError, match="unpacks to more than"):
        cache.find("abc")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        "text",
        None,
        b"x\x9c",
        b'{"kind":"OK"}',
        b"[" * 100_000,
        b'{"kind":"EMPTY","text":"","prompt_tokens":0,"completion_tokens":0,"cached_tokens":0,"reasoning_tokens":0,'
        b'"reasoning":"","detail":null}',
        b'{"kind":"OK","text":7,"prompt_tokens":0,"completion_tokens":0,"cached_tokens":0,"reasoning_tokens":0,'
        b'"reasoning":"","detail":null}',
        b'{"kind":"OK","text":"x","prompt_tokens":"0","completion_tokens":0,"cached_tokens":0,"reasoning_tokens":0,'
        b'"reasoning":"","detail":null}',
    ],
)
def test_a_damaged_entry_is_named(cache, tmp_path, data):
    cache.keep("abc", "m", Reply("X: 3"))
    with closing(sqlite3.connect(tmp_path / "cache" / FILE, isolation_level=None)) as db:
        try:
            db.execute("UPDATE reply SET reply = ?", (data,))
        except sqlite3.IntegrityError:
            db.execute("UPDATE reply SET reply = 7")
    with pytest.raises(ProviderError, match=f"{FILE} is damaged.*abc") as raised:
        cache.find("abc")
    assert raised.value.final


def foreign(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE reply (key TEXT PRIMARY KEY, model TEXT NOT NULL, reply BLOB NOT NULL)")
        db.commit()


def newer(path):
    ReplyCache(path.parent).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_bytes(b"no database" * 1000), "SQLite says"),
        (foreign, "not written by llmarena"),
        (newer, "newer version"),
        (lambda path: path.mkdir(), "cannot be|SQLite says"),
    ],
    ids=["garbage", "foreign", "newer", "directory"],
)
def test_another_file_is_left_as_it_is(tmp_path, make, message):
    path = tmp_path / FILE
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(OptionError, match=message):
        ReplyCache(tmp_path)
    assert before is None or path.read_bytes() == before


def test_a_cache_that_must_be_there_is_not_made(tmp_path):
    with pytest.raises(OptionError, match="none"):
        ReplyCache(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()


WRITER = """
import sys
from pathlib import Path
from agents.models.cache import ReplyCache
from agents.policy import Reply
cache = ReplyCache(Path(sys.argv[1]))
kept = [cache.keep(f"{number}", "m", Reply(f"{sys.argv[2]} {number}")).text for number in range(200)]
print("\\n".join(kept))
"""


@pytest.mark.slow
def test_several_processes_agree_on_what_was_said(tmp_path):
    command = [sys.executable, "-c", WRITER, str(tmp_path / "cache")]
    writers = [
        subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for number in range(4)
    ]
    said = [writer.communicate(timeout=120) for writer in writers]
    assert [errors for _, errors in said] == [""] * 4
    assert len({kept for kept, _ in said}) == 1
