"""Pages of human players: content, accepted replies, and access."""

import asyncio
import io
import re
from contextlib import asynccontextmanager
from functools import partial

import aiohttp
import numpy as np
import pytest
from starlette.testclient import TestClient

from agents.human_queue import HumanQueue
from llmarena_envs import bid_v0, debate_v0, tictactoe_v0
from rating.viewer.web import people, server
from rating.viewer.web.app import make_app
from rating.viewer.web.links import Links, keep_links
from rating.viewer.web.server import authority, listen, serving
from tests.support.asynchronous import asynchronous

LINKS = Links("the-board", {"Ada": "secret-of-ada", "Bob": "secret-of-bob"})
NAMES = {"player_0": "Ada", "player_1": "minimax"}
HOSTILE = '</textarea></pre><script>alert(1)</script>"&\u202e\x00'


class Pages:
    """A human input queue, its pages on a server, and a client."""

    def __init__(self, queue, client, port):
        self.queue = queue
        self.client = client
        self.port = port

    def seat(self, person="Ada", match="m", env=None):
        """Seats a person in a match that has begun."""
        seat = self.queue.seat(person, match, "tictactoe_v0", NAMES)
        seat.reset("player_0", 1)
        env = env or tictactoe_v0.env()
        env.reset(seed=1)
        raw = env.unwrapped
        seat.watch({**raw.observe("player_0"), "language": "zh", "picture": raw.draw("player_0"), "over": False})
        return seat

    async def ask(self, seat, **more):
        """Asks a person; returns the task that waits for the answer."""
        told = {
            "rules": "r",
            "text": "what now?",
            "parts": (),
            "join_parts": None,
            "picture": seat.picture,
            "legal": ["X: 1", "X: 2"],
            **more,
        }
        task = asyncio.ensure_future(seat(told))
        await asyncio.sleep(0)
        return task

    async def get(self, path, **options):
        async with self.client.get(path, **options) as answer:
            return answer.status, await answer.text()

    async def post(self, path, question, reply, **options):
        data = {"question": question, "reply": reply}
        async with self.client.post(path, data=data, allow_redirects=False, **options) as answer:
            return answer.status, await answer.text()


@asynccontextmanager
async def pages(tmp_path):
    queue, listener = HumanQueue(), listen("127.0.0.1", 0)
    base = f"http://{authority(listener)}"
    async with (
        aiohttp.ClientSession(base) as client,
        serving(make_app(tmp_path, LINKS, {"localhost"}, queue), listener),  # closes first, as a server does
    ):
        yield Pages(queue, client, listener.getsockname()[1])
    listener.close()


@asynccontextmanager
async def open_question(tmp_path, **more):
    """A question that must still be open at the end."""
    async with pages(tmp_path) as web:
        waiting = await web.ask(web.seat(), **more)
        yield web
        assert not waiting.done()
        waiting.cancel()


HOME = "/play/secret-of-ada"
PAGE = f"{HOME}/m"


@asynchronous
async def test_people_reply_to_a_question_counts_once(tmp_path):
    async with pages(tmp_path) as web:
        seat = web.seat()
        status, shown = await web.get(PAGE)
        assert status == 200 and "Others are to move" in shown and 'http-equiv="refresh"' in shown
        waiting = await web.ask(seat)
        status, shown = await web.get(PAGE)
        assert "It is your move" in shown and "what now?" in shown and '<pre lang="zh">' in shown
        assert re.findall(r'<button name="reply" value="([^"]*)"', shown) == ["X: 1", "X: 2"]
        assert 'http-equiv="refresh"' not in shown
        name = seat.question.name
        statuses = await asyncio.gather(*(web.post(PAGE, name, "X: 1\r\nso there") for _ in range(2)))
        assert [status for status, _ in statuses] == [303, 303]
        assert await waiting == "X: 1\nso there"
        following = await web.ask(seat)
        status, shown = await web.post(PAGE, name, f"from an old page {HOSTILE}")
        assert status == 409 and "was not sent" in shown
        assert "from an old page &lt;/textarea&gt;" in shown and "<script>alert" not in shown
        assert not following.done()
        following.cancel()


@asynchronous
async def test_people_rejected_reply_shows_the_feedback(tmp_path):
    async with pages(tmp_path) as web:
        seat = web.seat()
        first = await web.ask(seat)

        async def ask_again():
            await first
            await web.ask(seat, attempt=1, feedback="that is <b>taken</b>")

        again = asyncio.ensure_future(ask_again())
        data = {"question": "1.0", "reply": "X: 9"}
        async with web.client.post(PAGE, data=data) as answer:
            assert "that is &lt;b&gt;taken&lt;/b&gt;" in await answer.text()
            assert answer.url.path == PAGE
        await again


@asynchronous
async def test_people_parts_of_a_reply_are_fields_joined_by_the_game(tmp_path):
    env = debate_v0.env()
    env.reset(seed=1)
    raw = env.unwrapped
    while raw.game.stage == "examine":
        env.step(raw.random_action(env.agent_selection, np.random.default_rng(1)))
    view = raw.view(env.agent_selection)
    form = {"parts": raw.codec.parts(view), "join_parts": partial(raw.codec.join_parts, view=view)}
    async with pages(tmp_path) as web:
        waiting = await web.ask(web.seat(), legal=[], **form)
        _, shown = await web.get(PAGE)
        fields = re.findall(r'<(?:textarea|input) id="(part\.[^"]+)"', shown)
        assert fields == [f"part.{name}" for name in ("think", *view.actions)]
        assert "<summary>Write the reply as a model would</summary>" in shown and 'name="reply"' in shown
        words = f"</{view.actions[0]}>\r\n{HOSTILE}"
        for expected in (303, 303):  # twice, as by a double click
            data = {"question": "1.0", "part.think": "hm", f"part.{view.actions[0]}": words, "part.unknown": "x"}
            async with web.client.post(PAGE, data=data, allow_redirects=False) as answer:
                assert answer.status == expected
        speech = raw.codec.parse(await waiting, view)
        assert [part.action for part in speech.parts] == ["think", view.actions[0]]
        assert "alert(1)" in speech.parts[1].text and "<script>" in speech.parts[1].text
        data["question"] = "0.0"
        async with web.client.post(PAGE, data=data) as answer:
            assert answer.status == 409 and "&lt;script&gt;" in await answer.text()


@asynchronous
async def test_people_many_legal_moves_are_listed_or_typed(tmp_path, monkeypatch):
    env = bid_v0.env()
    env.reset(seed=1)
    legal = [env.unwrapped.format(move, "player_0") for move in env.unwrapped.view("player_0").legal]
    assert len(legal) > people.MAX_BUTTONS
    async with open_question(tmp_path, legal=legal) as web:
        _, shown = await web.get(PAGE)
        assert shown.count("<option>") == len(legal) and '<button name="reply"' not in shown
        monkeypatch.setattr(people, "MAX_LISTED", len(legal) - 1)
        _, shown = await web.get(PAGE)
        assert "<option>" not in shown and "<textarea" in shown


@asynchronous
async def test_people_other_secrets_give_404(tmp_path):
    async with open_question(tmp_path) as web:
        for path in (
            "/play/secret-of-bob/m",
            "/play/wrong/m",
            "/play/the-board/m",
            "/board/secret-of-ada",
            "/play/",
            "/",
        ):
            assert (await web.get(path))[0] == 404
        for path in ("/play/wrong/m", "/play/the-board/m", "/play/wrong/m/events"):
            assert (await web.post(path, "1.0", "X: 1"))[0] in (404, 405)
        assert (await web.post("/play/secret-of-bob/m", "1.0", "X: 1"))[0] == 409
        assert "secret-of-ada" not in (await web.get(PAGE))[1].split("<title>")[1].split("</title>")[0]


@asynchronous
async def test_people_requests_of_other_sites_are_refused(tmp_path):
    async with open_question(tmp_path) as web:
        for host in ("evil.example", "localhost.evil.example", "[", ""):
            assert (await web.get(PAGE, headers={"host": host}))[0] == 403
        for host in ("localhost:9", "192.0.2.7:8642", "[::1]:8642"):
            assert (await web.get(PAGE, headers={"host": host}))[0] == 200
        for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
            assert (await web.post(PAGE, "1.0", "X: 1", headers=headers))[0] == 403
        for method in ("PUT", "DELETE", "PATCH"):
            async with web.client.request(method, PAGE) as answer:
                assert answer.status == 405
        async with web.client.get(PAGE) as answer:
            assert answer.headers["referrer-policy"] == "same-origin" and answer.headers["cache-control"] == "no-store"
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert "set-cookie" not in answer.headers


@pytest.mark.slow
@asynchronous
async def test_people_long_or_invalid_bodies_are_refused(tmp_path, caplog):
    async with open_question(tmp_path) as web:

        async def send(data):
            async with web.client.post(PAGE, data=data) as answer:
                return answer.status

        assert await send(io.BytesIO(b"reply=" + b"x" * people.MAX_BODY)) == 413
        assert await send(b"&".join(b"reply=1" for _ in range(20))) == 400
        assert await send(b"\xff\xfe\x00") == 409
        writer = (await asyncio.open_connection("127.0.0.1", web.port))[1]
        writer.write(f"POST {PAGE} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nreply=".encode())
        writer.close()
        await asyncio.sleep(0.1)
    assert "secret" not in caplog.text and "Traceback" not in caplog.text


@pytest.mark.slow
@asynchronous
async def test_people_events_report_changes_and_restarts(tmp_path):
    async def first(web, path=f"{PAGE}/events"):
        async with web.client.get(path) as stream:
            return await version(stream)

    async def version(stream):
        while not (line := await stream.content.readline()).startswith(b"data: "):
            assert line
        return line.decode().removeprefix("data: ").strip()

    async with pages(tmp_path) as web:
        seat, other = web.seat(), web.seat("Bob")
        async with web.client.get(f"{PAGE}/events") as stream:
            begun = await version(stream)
            assert f'data-version="{begun}"' in (await web.get(PAGE))[1]
            waiting = asyncio.ensure_future(version(stream))
            other.watch({"rules": "", "text": "", "language": "en", "picture": "", "over": False})
            await asyncio.sleep(0.05)
            assert not waiting.done()
            await web.ask(seat)
            assert await waiting != begun
    async with pages(tmp_path) as web:
        assert await first(web) not in ("", begun)
        web.seat()
        assert await first(web) != begun


@asynchronous
async def test_people_event_streams_end_with_the_server(tmp_path, caplog):
    async with pages(tmp_path) as web:
        web.seat()
        streams = [await web.client.get(f"{PAGE}/events") for _ in range(3)]
        assert [stream.status for stream in streams] == [200] * 3
    assert caplog.text == ""


@asynchronous
async def test_people_reply_to_an_absent_match_is_shown_again(tmp_path):
    async with pages(tmp_path) as web:
        status, shown = await web.get(PAGE)
        assert status == 404 and "not under way" in shown and "data-version=" in shown
        status, shown = await web.post(PAGE, "3.0", HOSTILE)
        assert status == 409 and "&lt;script&gt;" in shown and "<script>alert" not in shown
        seat = web.seat()
        assert (await web.get(PAGE))[0] == 200
        seat.leave()
        assert "The match was stopped" in (await web.get(PAGE))[1]


@asynchronous
async def test_people_home_lists_matches_or_opens_the_only_one(tmp_path):
    async with pages(tmp_path) as web:
        assert "No match has begun yet" in (await web.get(HOME))[1]
        web.seat()
        async with web.client.get(HOME) as answer:
            assert answer.url.path == PAGE
        await web.ask(web.seat(match="n"))
        _, shown = await web.get(HOME)
        assert "It is your move in 1 of 2." in shown
        assert shown.index("secret-of-ada/n") < shown.index("secret-of-ada/m")
        assert "Your move in another match" in (await web.get(PAGE))[1]
        web.queue.end()
        assert "The run has ended" in (await web.get(HOME))[1]


@asynchronous
async def test_people_long_hostile_text_is_escaped(tmp_path):
    async with open_question(tmp_path, text="<img src=x onerror=alert(1)>" * 40_000) as web:
        _, shown = await web.get(PAGE)
        assert len(shown) > 1_000_000 and "<img" not in shown


def test_links_in_a_read_only_directory_are_temporary(tmp_path):
    (tmp_path / "web.json.new").mkdir()  # as root one may write anywhere
    first, second = keep_links(tmp_path, []), keep_links(tmp_path, [])
    assert len(first.board) > 20 and first.board != second.board


def test_links_are_stable_and_private(tmp_path):
    links = keep_links(tmp_path, ["Ada"])
    assert keep_links(tmp_path, ["Ada", "Bob"]).people["Ada"] == links.people["Ada"]
    assert keep_links(tmp_path, []).board == links.board
    assert (tmp_path / "web.json").stat().st_mode & 0o077 == 0
    assert (
        links.person(links.people["Ada"]) == "Ada" and links.person(links.board) is None and links.person("é") is None
    )
    (tmp_path / "web.json").write_text('["damaged"]')
    assert keep_links(tmp_path, ["Ada"]).people["Ada"] != links.people["Ada"]


def test_authority_of_all_interfaces_is_the_host_name():
    listener = listen("0.0.0.0", 0)
    name = authority(listener)
    listener.close()
    assert not name.startswith("0.0.0.0")


@asynchronous
async def test_people_long_reply_gives_413_with_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(people, "MAX_BODY", 100_000)
    async with open_question(tmp_path) as web:
        status, shown = await web.post(PAGE, "1.0", "a" * 900_000)
        assert status == 413 and "at most 100,000 bytes" in shown and "nothing at this address" not in shown


@asynchronous
async def test_server_above_the_connection_limit_gives_503(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 3)
    async with pages(tmp_path) as web:
        held = [await asyncio.open_connection("127.0.0.1", web.port) for _ in range(2)]
        assert (await web.get(HOME))[0] == 503
        for _, writer in held:
            writer.close()
            await writer.wait_closed()
        assert (await web.get(HOME))[0] == 200


def test_server_error_page_reveals_nothing(tmp_path, monkeypatch):
    queue = HumanQueue()
    monkeypatch.setattr(queue, "seats", lambda person: 1 // 0)
    client = TestClient(make_app(tmp_path, LINKS, {"testserver"}, queue), raise_server_exceptions=False)
    answer = client.get(HOME)
    assert answer.status_code == 500
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "ZeroDivisionError" not in answer.text and "seats" not in answer.text
