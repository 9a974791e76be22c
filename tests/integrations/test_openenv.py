"""Matches behind a real OpenEnv server on loopback, played by its client."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
import requests
import uvicorn
from openenv import GenericEnvClient
from websockets.sync.client import connect

from agents.integrations.openenv import MatchClient, MatchEnvironment, ReplyAction, make_app
from agents.training import Deal
from llmarena_envs.core.options import OptionError
from tests.docs.pages import code_blocks
from tests.integrations.opponents import Patient
from tests.integrations.tapes import GAMES, Tape, all_but_one, record

pytestmark = [
    pytest.mark.filterwarnings("default::DeprecationWarning"),  # the server's and the client's own
    pytest.mark.filterwarnings("default::ResourceWarning"),
]


@contextmanager
def _running(app: Any) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


def _server(environment: str, opponents: Any, **settings: Any) -> AbstractContextManager[str]:
    return _running(make_app(environment, opponents, **settings))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with _server("tictactoe_v0", {"player_1": "random"}, max_sessions=6) as url:
        yield url


async def _play(client: Any, tape: Tape) -> tuple[float, Any, list[str]]:
    """Gives the replies of a tape, and returns the sum of rewards, the last result and how the replies ended."""
    result = await client.reset(seed=tape.deal.seed, episode_id="mine")
    total, kinds = result.reward, []
    for reply in tape.replies:
        assert not result.done
        assert result.observation.messages[-1]["role"] == "user"
        result = await client.step(ReplyAction(text=reply))
        total += result.reward
        kinds.append(result.observation.failure)
    assert result.done
    return total, result, kinds


@pytest.mark.parametrize("environment", GAMES)
def test_the_same_replies_play_the_same_match(environment: str) -> None:
    tape = record(environment, all_but_one(environment))
    (learner,) = tape.deal.learners
    said = [attempt.kind for turn in tape.episode.turns if turn.agent == learner for attempt in turn.attempts]  # type: ignore[union-attr]

    async def through() -> None:
        async with MatchClient(url) as client:
            total, result, kinds = await _play(client, tape)
            state = await client.state()
        assert total == pytest.approx(tape.rewards[learner]) == state.reward
        assert state.digest == tape.digest
        assert kinds == [kind.name.lower() for kind in said]
        assert (state.agent, state.seed, state.group) == (learner, 3, tape.deal.group)
        assert (state.episode_id, state.step_count) == ("mine", len(tape.replies))
        assert len(result.observation.messages) == 1

    with _server(environment, tape.deal.opponents) as url:
        asyncio.run(through())


@pytest.mark.parametrize("history", ["updates", "full", "single_turn"])
def test_the_messages_make_the_conversation(history: str) -> None:
    env = MatchEnvironment("connect_four_v0", {"player_0": "random"}, history=history)
    match = Deal("connect_four_v0", 5, {"player_0": "random"}).match(history=history)
    question, observation, chat = match.start_sync(), env.reset(seed=5), []
    while question is not None:
        chat = [*(chat if observation.continues else []), *observation.messages]
        assert chat == list(question.messages)
        assert observation.legal == list(question.legal)
        reply = question.legal[0] if question.attempt else "no idea"
        chat.append({"role": "assistant", "content": reply})
        question, observation = match.reply_sync(reply), env.step(ReplyAction(text=reply))
    assert observation.done
    assert observation.messages == [{"role": "user", "content": match.endings["player_1"]}]
    env.close()


def test_six_sessions_at_once(url: str) -> None:
    tapes = [record("tictactoe_v0", {"player_1": "random"}, seed) for seed in range(6)]

    async def one(tape: Tape) -> str:
        async with MatchClient(url) as client:
            await _play(client, tape)
            await _play(client, tape)  # reset in the same session
            return (await client.state()).digest

    async def through() -> list[str]:
        return await asyncio.gather(*map(one, tapes))

    assert asyncio.run(through()) == [tape.digest for tape in tapes]


def test_a_seventh_session_is_turned_away(url: str) -> None:
    async def through() -> None:
        clients = [MatchClient(url) for _ in range(7)]
        for client in clients[:6]:
            await client.connect()
            await client.reset(seed=1)
        with pytest.raises(Exception, match=r"(?i)capacity|sessions"):
            await clients[6].reset(seed=1)
        for client in clients:
            await client.close()

    asyncio.run(through())


HOSTILE = [
    ("not json", "INVALID_JSON"),
    ('{"type": "explode"}', "UNKNOWN_TYPE"),
    ('{"type": "step", "data": {"text": "X"}}', "EXECUTION_ERROR"),  # before a reset
    ('{"type": "reset", "data": {"seed": -1}}', "EXECUTION_ERROR"),
    ('{"type": "reset", "data": {"seed": "1; drop"}}', "EXECUTION_ERROR"),
    ('{"type": "reset", "data": {"seed": 1e400}}', "EXECUTION_ERROR"),
    ('{"type": "reset", "data": {"seed": true}}', "EXECUTION_ERROR"),
    ('{"type": "reset", "data": {"seed": 1, "episode_id": {"a": 1}}}', "VALIDATION_ERROR"),
    ('{"type": "reset", "data": {"seed": 1, "environment": "os.path", "opponents": {"player_1": "os:getcwd"}}}', ""),
    ('{"type": "reset", "data": []}', "VALIDATION_ERROR"),
    ('{"type": "step", "data": {"text": 7}}', "VALIDATION_ERROR"),
    ('{"type": "step", "data": {"text": null}}', "VALIDATION_ERROR"),
    ('{"type": "step", "data": {"text": "X", "seed": 3}}', "VALIDATION_ERROR"),
    ('{"type": "step", "data": {}}', "VALIDATION_ERROR"),
    (json.dumps({"type": "step", "data": {"text": "x" * 1_000_001}}), "VALIDATION_ERROR"),
    (json.dumps({"type": "step", "data": {"text": "(" * 1_000_000}}), ""),
    ('{"type": "step", "data": {"text": "\\ud800 \\u0000"}}', ""),
    ('{"type": "state"}', ""),
]


def test_hostile_payloads_are_refused_and_session_continues(url: str) -> None:
    with connect(url.replace("http", "ws") + "/ws", max_size=None) as session:
        for payload, code in HOSTILE:
            session.send(payload)
            answer = json.loads(session.recv(timeout=20))
            assert answer["data"].get("code", "") == code, payload[:80]
        assert answer["data"]["environment"] == "tictactoe_v0"
        session.send('{"type": "reset", "data": {"seed": 1}}')
        assert json.loads(session.recv(timeout=20))["data"]["done"] is False


def test_a_session_that_breaks_off_leaves_the_others_alone(url: str) -> None:
    tape = record("tictactoe_v0", {"player_1": "random"})

    async def through() -> Any:
        async with MatchClient(url) as client:
            await client.reset(seed=1)
            with connect(url.replace("http", "ws") + "/ws") as other:
                other.send('{"type": "reset", "data": {"seed": 1}}')
                other.recv(timeout=20)
                other.send("[1]")  # no object: the server gives this session up
            await _play(client, tape)
            return await client.state()

    assert asyncio.run(through()).digest == tape.digest


def test_the_generic_client_and_the_schema_know_the_fields(url: str) -> None:
    with GenericEnvClient(base_url=url).sync() as client:
        assert client.reset(seed=1).observation["legal"]
        assert client.step({"text": "no idea"}).observation["attempt"] == 1
    schema = requests.get(f"{url}/schema", timeout=20).json()
    assert "text" in schema["action"]["properties"]
    assert {"messages", "legal", "attempt", "failure"} <= set(schema["observation"]["properties"])
    assert "digest" in schema["state"]["properties"]
    assert requests.post(f"{url}/reset", json={"seed": 3}, timeout=20).json()["observation"]["messages"]


def test_opponents_may_wait_and_are_closed() -> None:
    opponents = {"player_1": "tests.integrations.opponents:Patient"}
    tape = record("connect_four_v0", opponents)

    async def through(url: str) -> Any:
        async with MatchClient(url) as client:
            before = Patient.closed
            await _play(client, tape)
            assert Patient.closed == before + 1
            await client.reset(seed=1)
            return await client.state()

    with _server("connect_four_v0", opponents) as url:
        before = Patient.closed
        asyncio.run(through(url))
        for _ in range(500):  # the session's end closes the opponent of the match that was left
            if Patient.closed == before + 2:
                break
            time.sleep(0.01)
        assert Patient.closed == before + 2
    env = MatchEnvironment("connect_four_v0", opponents)  # without a server
    env.reset(seed=1)
    env.close()
    assert Patient.closed == before + 3


def test_failing_opponent_voids_match_without_server_details() -> None:
    async def through(url: str) -> None:
        async with MatchClient(url) as client:
            await client.reset(seed=1)
            with pytest.raises(RuntimeError, match="player_1 could not be asked") as error:
                for _ in range(3):
                    await client.step(ReplyAction(text="no idea"))
            assert "secret" not in str(error.value)
            with pytest.raises(RuntimeError, match="void"):
                await client.step(ReplyAction(text="no idea"))
            assert not (await client.reset(seed=2)).done

    with _server("tictactoe_v0", {"player_1": "tests.integrations.opponents:broken"}) as url:
        asyncio.run(through(url))


@pytest.mark.parametrize(
    ("opponents", "options", "message"),
    [
        ({}, None, "every seat but the actor's"),
        ({"player_0": "random", "player_1": "random"}, None, "every seat but the actor's"),
        ({"player_7": "random"}, None, "expected seats"),
        ({"player_1": "strongest"}, None, "strongest"),
        ({"player_1": "random"}, {"size": 3}, "size"),
    ],
)
def test_bad_arguments_are_reported_before_server_starts(opponents: Any, options: Any, message: str) -> None:
    with pytest.raises((OptionError, ValueError), match=message):
        make_app("tictactoe_v0", opponents, options=options)


def test_the_page_s_scripts_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = {block.title: block.text for block in code_blocks("training_reference.md")}
    apps: list[Any] = []
    monkeypatch.setattr(uvicorn, "run", lambda app, port: apps.append((app, port)))
    exec(compile(blocks["serve.py"], "serve.py", "exec"), {})
    ((app, port),) = apps
    with _running(app) as url:
        exec(compile(blocks["client.py"].replace(f"http://127.0.0.1:{port}", url), "client.py", "exec"), {})
    assert "The match is over." in capsys.readouterr().out
