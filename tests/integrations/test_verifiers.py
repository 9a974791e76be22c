"""Deals as a taskset of verifiers, played by models behind servers on loopback."""

import asyncio
import itertools
import json
import re
import shlex
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import llmarena_verifiers
import pytest
import verifiers.v1 as vf
from aiohttp import web
from pydantic import ValidationError
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from agents.integrations.verifiers import DealHarness, DealsConfig, DealTaskset, MatchEnv
from agents.training import Deal
from llmarena_envs.core.options import OptionError
from tests.docs.pages import DOCS, code_blocks
from tests.integrations.opponents import Patient
from tests.integrations.tapes import GAMES, record

pytestmark = [
    pytest.mark.filterwarnings("default::DeprecationWarning"),  # the library's own
    pytest.mark.filterwarnings("default::ResourceWarning"),
]

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

URL = "http://127.0.0.1:8000/v1"
"""Of the model, on the page."""

Answer = Callable[[], str | int]
"""Gives a reply, or the HTTP status of a refusal."""


def _env(environment: str = "tictactoe_v0", roles: dict[str, Any] | None = None, **config: Any) -> Any:
    taskset = {"id": "llmarena-verifiers", "environment": environment, "seeds": 1, **config}
    return vf.load_environment(vf.resolve_env_config({"taskset": taskset, **(roles or {})}))


@asynccontextmanager
async def _model(answer: Answer, tokenizer: Any = None, finish: str = "stop") -> Any:
    """Serves a model: chat completions, or tokens where there is a tokenizer, as an engine for training does."""

    async def respond(request: web.Request) -> web.Response:
        body = await request.json()
        reply = answer()
        if isinstance(reply, int):
            return web.json_response({"error": {"message": "no"}}, status=reply)
        if tokenizer is None:
            assert body["messages"][0]["role"] == "system"
            assert [message["role"] for message in body["messages"][1:]][::2] == ["user"] * (len(body["messages"]) // 2)
            message = {"role": "assistant", "content": reply}
            usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            completion = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
            return web.json_response({**completion, "usage": usage})
        ids = [*tokenizer.encode(reply), tokenizer.eos_token_id]
        logprobs = {"content": [{"token": f"token_id:{token}", "logprob": -0.5} for token in ids]}
        choice = {"index": 0, "token_ids": ids, "finish_reason": finish, "logprobs": logprobs}
        return web.json_response({"request_id": "1", "choices": [choice]})

    app = web.Application(client_max_size=2**26)
    app.router.add_post("/{path:.*}", respond)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        client = vf.EvalClientConfig if tokenizer is None else vf.TrainClientConfig
        name = "m" if tokenizer is None else tokenizer.name_or_path
        yield vf.ModelContext(model=name, client=client(base_url=url, api_key_var="NO_SUCH_KEY"))
    finally:
        await runner.cleanup()


def _run(env: Any, answer: Answer, **model: Any) -> list[Any]:
    """Plays every task of an environment in order."""

    async def through() -> list[Any]:
        async with _model(answer, **model) as context, env.serving():
            return [await env.run_slot(env.slots(task)[0], context) for task in env.taskset]

    return asyncio.run(through())


def _said(replies: list[str]) -> Answer:
    return iter(replies).__next__


def _constant(reply: str | int) -> Answer:
    return lambda: reply


def test_the_taskset_is_found_by_its_name() -> None:
    env = _env(seeds=3, first_seed=5)
    tasks = list(env.taskset)
    assert isinstance(env.taskset, DealTaskset)
    assert isinstance(env, MatchEnv)
    assert vf.default_harness_id("llmarena-verifiers") == "llmarena-verifiers"
    assert isinstance(vf.load_harness(vf.default_agent_harness("llmarena-verifiers")), DealHarness)
    assert [task.deal for task in tasks] == [
        Deal("tictactoe_v0", seed, {other: "random"}) for seed in (5, 6, 7) for other in ("player_1", "player_0")
    ]
    assert [task.key for task in tasks] == [task.deal.group for task in tasks]
    assert len({task.key for task in tasks}) == len(tasks)
    assert [task.data.idx for task in env.taskset.shuffle(seed=1).take(3)] != [0, 1, 2]


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        ({"environment": "tictactoe"}, OptionError, "tictactoe_v0"),
        ({"environment": "debate_v0"}, OptionError, "staff.*judge"),
        ({"opponent": "strongest"}, OptionError, "strongest"),
        ({"options": {"size": 3}}, OptionError, "size"),
        ({"seeds": 0}, ValidationError, "seeds"),
        ({"first_seed": -1}, ValidationError, "first_seed"),
        ({"history": "some"}, ValidationError, "history"),
        ({"oponent": "random"}, ValidationError, "oponent"),
    ],
)
def test_errors_are_reported(config: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        for task in _env(**config).taskset:
            task.deal.match()


@pytest.mark.parametrize("environment", GAMES)
def test_the_same_replies_play_the_same_match_against_oneself(environment: str) -> None:
    staff = {"writer_editor_v0": {"judge": "random"}, "debate_v0": {"judge": "random"}}
    staff["simulation_v0"] = {"user": "random", "judge": "random"}
    env = _env(environment, opponent=None, first_seed=3, staff=staff.get(environment, {}))
    (task,) = env.taskset
    tape = record(environment, task.deal.opponents)
    (episode,) = _run(env, _said(tape.replies))
    assert episode.ok
    assert episode.errors == []
    asked = {turn.agent for turn in tape.episode.turns} & set(task.deal.learners)  # type: ignore[union-attr]
    assert {trace.info["seat"]: trace.reward for trace in episode.traces} == pytest.approx(
        {agent: tape.rewards[agent] for agent in asked}
    )
    for trace in episode.traces:
        seat = trace.info["seat"]
        said = [attempt for turn in tape.episode.turns if turn.agent == seat for attempt in turn.attempts]  # type: ignore[union-attr]
        assert trace.agent.trainable
        assert trace.agent.name == seat
        assert trace.info["match"] == episode.traces[0].info["match"]
        assert trace.info["baseline"] == f"{environment}:{seat}"
        assert trace.task.key == trace.info["group"] == task.deal.group
        assert trace.info["digest"] == tape.digest
        assert [message.content for message in trace.assistant_messages] == [attempt.reply for attempt in said]
        for kind in ("ok", "truncated", "empty", "refusal", "unparsable", "illegal"):
            assert trace.metrics[f"replies_{kind}"] == sum(attempt.kind.name.lower() == kind for attempt in said)
        assert trace.metrics["forfeit"] == bool(tape.episode.forfeit(seat))  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path: Path = tmp_path_factory.mktemp("tokenizer")
    bytes_ = {character: index for index, character in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    inner = Tokenizer(models.BPE(vocab=bytes_, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<|im_end|>",
        additional_special_tokens=["<|im_start|>"],
        chat_template=TEMPLATE,
    )
    made.save_pretrained(path)
    yield PreTrainedTokenizerFast.from_pretrained(path)


@pytest.mark.parametrize(
    ("environment", "history", "one_sequence"),
    [
        ("tictactoe_v0", "updates", True),
        ("undercover_v0", "full", True),
        ("tictactoe_v0", "single_turn", False),
        ("debate_v0", "updates", False),
    ],
)
def test_masks_mark_the_models_tokens(environment: str, history: str, one_sequence: bool, tokenizer: Any) -> None:
    staff = {"judge": "random"} if environment == "debate_v0" else {}
    env = _env(environment, opponent=None, first_seed=3, history=history, staff=staff)
    (task,) = env.taskset
    tape = record(environment, task.deal.opponents)
    (episode,) = _run(env, _said(tape.replies), tokenizer=tokenizer)
    assert episode.ok
    for trace in episode.traces:
        said = [message.content for message in trace.assistant_messages]
        if one_sequence:
            assert trace.num_branches == 1
        for branch in trace.branches:
            tokens, mask = branch.token_ids, branch.sampled_mask
            replies = [node.message.content + "<|im_end|>" for node in branch.nodes if node.sampled]
            assert tokenizer.decode([token for token, own in zip(tokens, mask, strict=True) if own]) == "".join(replies)
            assert branch.logprobs == [-0.5 if own else 0.0 for own in mask]
            text = tokenizer.decode(tokens)
            assert text.startswith("<|im_start|>system\n")
            assert text.count("<|im_start|>assistant\n") == len(replies)
        sampled = {id(node) for branch in trace.branches for node in branch.nodes if node.sampled}
        assert len(sampled) == len(said)


def test_a_seat_with_its_own_model_asks_it_and_is_not_trained() -> None:
    asked: list[str] = []

    async def through() -> Any:
        async with (
            _model(lambda: asked.append("run") or "X: (1, 1)") as run,
            _model(lambda: asked.append("own") or "no") as own,
        ):
            pinned = {"model": "fixed", "client": own.client.model_dump()}
            env = _env("openspiel/tic_tac_toe", {"player_1": pinned}, opponent=None)
            async with env.serving():
                return await env.run_episode(next(iter(env.taskset)), run)

    episode = asyncio.run(through())
    assert episode.ok, episode.errors
    traces = {trace.agent.name: trace for trace in episode.traces}
    assert {name: (trace.agent.config.model, trace.agent.trainable) for name, trace in traces.items()} == {
        "player_0": ("m", True),
        "player_1": ("fixed", False),
    }
    assert asked.count("run") == traces["player_0"].num_turns > 0
    assert asked.count("own") == traces["player_1"].num_turns > 0


def test_roles_of_a_game_survive_the_configuration_of_a_server() -> None:
    config = _env("undercover_v0", {"player_3": {"model": "fixed"}}, opponent=None).config
    copy = vf.resolve_env_config(json.loads(config.model_dump_json()))
    roles = {name: value.model for name, value in copy if isinstance(value, vf.AgentConfig)}
    assert roles == {f"player_{seat}": "fixed" if seat == 3 else None for seat in range(5)}
    with pytest.raises(ValidationError, match="player_5"):
        _env("undercover_v0", {"player_5": {}})


@pytest.mark.needs("pyspiel")
def test_prime_rl_file_configures_a_role_per_seat() -> None:
    path = Path(llmarena_verifiers.__file__).with_name("prime_rl.toml")
    config = tomllib.loads(path.read_text(encoding="utf-8"))["orchestrator"]
    games = {}
    for source in config["train"]["source"] + config["eval"]["source"]:
        env = vf.load_environment(vf.resolve_env_config(source["env"]))
        task = next(iter(env.taskset))
        games[source["name"]] = (task.deal.environment, len(task.deal.learners))
        assert set(task.deal.learners) <= set(env.config.agent_harnesses()) == {"player_0", "player_1"}
    assert games.pop("tictactoe-minimax") == ("tictactoe_v0", 1)
    assert sorted(games.values()) == [
        (name, 2)
        for name in ("bargain_v0", "bid_v0", "connect_four_v0", "holdem_v0", "openspiel/kuhn_poker", "tictactoe_v0")
    ]


def test_hub_package_names_the_module_and_the_version() -> None:
    path = Path(llmarena_verifiers.__file__).with_name("pyproject.toml")
    package = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    ours = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert vf.taskset_config_type(package["name"]) is DealsConfig
    assert package["dependencies"] == [f"llmarena-envs[verifiers,openspiel]=={ours['version']}"]


def test_an_opponent_that_fails_fails_the_episode_and_is_no_loss() -> None:
    env = _env(opponent="tests.integrations.opponents:broken")
    env.config.retries = vf.RetryConfig(rules=[vf.RetryRule(type="ProviderError", max_retries=1)])
    for episode in _run(env, _constant("no idea")):
        assert not episode.ok
        assert [error.type for error in episode.errors].count("ProviderError") >= 2  # it was tried again
        assert all(not trace.ok and "match" not in trace.rewards for trace in episode.traces)


@pytest.mark.parametrize("status", [400, 503])
def test_a_learner_that_cannot_be_reached_fails_the_episode(status: int) -> None:
    answers = itertools.chain(["no idea"] * 2, itertools.repeat(status))
    (episode,) = _run(_env(opponent=None), lambda: next(answers))
    assert not episode.ok
    assert "void" in episode.errors[-1].message
    assert not any(trace.ok for trace in episode.traces)
    assert all("match" not in trace.rewards for trace in episode.traces)
    assert {trace.info["seat"] for trace in episode.traces} <= {"player_0", "player_1"}


def test_stopped_learner_is_silent_and_match_continues() -> None:
    roles = {"player_0": {"max_turns": 2}, "player_1": {"max_turns": 2}}
    for episode in _run(_env(opponent="minimax", roles=roles), _constant("no idea")):
        (trace,) = episode.traces
        assert episode.ok
        assert trace.stop_condition == "max_turns"
        assert trace.num_turns == 2
        assert trace.metrics["replies_unparsable"] == 2
        assert trace.metrics["replies_empty"] > 0
        assert trace.reward in (-1.0, 0.0)


def test_a_reply_that_was_cut_off_is_truncated() -> None:
    for episode in _run(_env(), _constant("no idea"), finish="length"):
        (trace,) = episode.traces
        assert episode.ok
        assert trace.metrics["replies_truncated"] == trace.num_turns > 0


@pytest.mark.parametrize(
    "reply", ["", " \n", "\x00\ud800".encode("utf-8", "replace").decode(), "(" * 200_000, "<|im_end|>"]
)
def test_junk_is_a_failure_of_the_player(reply: str) -> None:
    for episode in _run(_env("bargain_v0"), _constant(reply)):
        (trace,) = episode.traces
        assert episode.ok, episode.errors
        assert trace.metrics["replies_ok"] == 0
        assert trace.num_turns == sum(trace.metrics[name] for name in trace.metrics if name.startswith("replies_"))


def test_users_system_prompt_precedes_the_rules(tmp_path: Path) -> None:
    path = tmp_path / "system.txt"
    path.write_text("Be brief.", encoding="utf-8")
    for episode in _run(_env(system_prompt=path), _constant("no idea")):
        first = episode.traces[0].nodes[0].message
        assert first.role == "system"
        assert first.content.startswith("Be brief.\n\n")
        assert len(first.content) > 100
        assert episode.traces[0].num_branches == 1


def test_many_episodes_at_once_with_opponents_that_wait() -> None:
    env = _env("connect_four_v0", opponent="tests.integrations.opponents:Patient", seeds=3)
    before = Patient.closed

    async def through() -> list[Any]:
        async with _model(_constant("no idea")) as context, env.serving():
            slots = [slot for task in env.taskset for slot in env.slots(task, 2)]
            return await asyncio.gather(*[env.run_slot(slot, context) for slot in slots])

    episodes = asyncio.run(through())
    assert all(episode.ok for episode in episodes)
    groups = [episode.traces[0].info["group"] for episode in episodes]
    assert [groups.count(group) for group in groups] == [2] * 12
    assert Patient.closed == before + 12
    digests = {(trace.info["group"], trace.info["digest"]) for episode in episodes for trace in episode.traces}
    assert len(digests) == 6  # the same replies to the same deal


def _print(folder: Path, command: Callable[[str], list[str]]) -> str:
    """Returns the output of a command, given the address of a model."""

    async def through() -> str:
        async with _model(_constant("no idea")) as context:
            output = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.STDOUT}
            process = await asyncio.create_subprocess_exec(*command(context.client.base_url), cwd=folder, **output)
            printed, _ = await asyncio.wait_for(process.communicate(), 200)
            assert process.returncode == 0, printed.decode()
            return printed.decode()

    return asyncio.run(through())


def _page_script(tokenizer: Any) -> str:
    """Returns the script of the page with the tests' tokenizer and a free port."""
    (block,) = [block for block in code_blocks("training.md") if block.title == "rollouts.py"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    line = 'MODEL, PORT = "runs/tiny", 8001'
    assert block.text.count(line) == 1
    return block.text.replace(line, f"MODEL, PORT = {tokenizer.name_or_path!r}, {port}")


def test_the_page_s_script_prints_a_row_for_each_seat(tokenizer: Any) -> None:
    code = _page_script(tokenizer)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[1] for row in rows].count("tictactoe_v0:player_0") == len(rows) / 2 == 4
    assert all(int(own) < int(tokens) for _, _, _, own, _, tokens, *_ in rows)
    rewards = [float(row[2]) for row in rows]
    assert [first + second for first, second in zip(rewards[::2], rewards[1::2], strict=True)] == [0.0] * 4


def test_the_page_s_script_names_an_unreachable_model(tokenizer: Any) -> None:
    code = _page_script(tokenizer)
    line = 'await web.TCPSite(server, "127.0.0.1", PORT).start()'
    assert code.count(line) == 1
    code = code.replace(line, "pass")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert done.returncode == 1
    assert "the match is void, since player_" in done.stderr
    assert "KeyError" not in done.stderr


def test_the_page_s_command_runs(tmp_path: Path) -> None:
    line = re.search(r"`(vf-eval .*?)`", (DOCS / "training_reference.md").read_text(encoding="utf-8"), re.DOTALL)
    assert line is not None
    program, *arguments = shlex.split(line[1])
    _print(
        tmp_path, lambda url: [str(Path(sys.executable).parent / program), *[a.replace(URL, url) for a in arguments]]
    )
    (traces,) = tmp_path.rglob("traces.jsonl")
    episodes = [json.loads(line) for line in traces.read_text(encoding="utf-8").splitlines()]
    assert [episode["ok"] for episode in episodes] == [True] * 32


def test_a_learner_that_is_never_asked_has_a_trace_without_tokens() -> None:
    env = _env("hanabi_v0", options={"players": 5}, seeds=2)
    unasked = []
    for task, episode in zip(env.taskset, _run(env, _constant("no idea")), strict=True):
        assert episode.ok
        (trace,) = episode.traces
        match = task.deal.match()
        if match.start_sync() is None:
            unasked.append(trace)
            assert match.episode is not None
            assert trace.info["digest"] == match.episode.digest
            assert trace.reward == match.reward(trace.info["seat"])
    assert unasked
    assert not any(trace.nodes for trace in unasked)
