"""Prompts rebuilt from the record: exactly the text that a server received, or nothing."""

import asyncio
import itertools
import json
from dataclasses import replace

import pytest

from agents.baselines.general import FirstLegal
from agents.models.llm import LLMPolicy
from agents.play import play
from agents.policy import Reply
from agents.turn import TurnSettings
from llmarena_envs.catalogue import make_environment
from llmarena_envs.core.failures import Failure
from rating.store.records import Match, Record, dump_turn, load_turn
from rating.store.replay import PromptReader
from rating.viewer.report.prompts import pack_prompts
from tests.agents.models.prompts.script import policy_with
from tests.llmarena_envs.option_sets.simulation_v0 import SCRIPT, TASKS
from tests.support.hostile_server import hostile_server, say

BAD = [
    "I give up",
    "",
    Reply("I think " * 300, Failure.TRUNCATED),
    "<think>hm X: (1, 1)</think> X: (9, 9)",
    "X: (2, 2)",
]
SETTINGS = TurnSettings(reasks=4, unparsable="random_legal", illegal="random_legal")


def played(environment="tictactoe_v0", settings=SETTINGS, replies=None, **options):
    """Plays a match of a model against a baseline, and returns its record and the messages that were sent."""
    given = itertools.cycle([*BAD, "\ud800 (1, 3) X: (1, 3)"]) if replies is None else replies
    policy, requests = policy_with(given, **options)
    match = Match(environment, 0, ("model", "first_legal"), 3, {})
    env = make_environment(environment, {})
    agents = env.unwrapped.possible_agents
    episode = play(env, {agents[0]: policy, **{agent: FirstLegal() for agent in agents[1:]}}, match.seed, settings)
    return recorded(match, episode), [request["messages"] for request in requests]


def recorded(match, episode):
    return Record(match, None, tuple(load_turn(dump_turn(turn)) for turn in episode.turns), episode.digest, 1, "")


def read(record, settings=SETTINGS):
    return PromptReader({record.match.environment: settings}).read(record)


NATIVE = {
    "dialogue": (
        "simulation_v0",
        {"tasks": TASKS, "number": 0, "turns": 3},
        ["one", '{"user": {"strategy": 2, "request": "x"}}', "", "hm", "<think>hm</think>three", "nothing", "[[7]]"],
    ),
    "pairwise": ("simulation_v0", {"mode": "pairwise", "scripts": [SCRIPT]}, ["a", "b", "", "[[A]]", "[[B]]"]),
    "debate": (
        "debate_v0",
        {"question": "Why?", "n_judges": 2, "words": 40},
        [
            "<respond>A1</respond>",
            "<think>plot</think><criticize>B1</criticize>",
            "<raise>B1</raise>",
            f"<respond>{'A1 ' * 60}</respond>",
            "<respond>B2</respond>",
            "",
            "<criticize>A2</criticize><raise>A2</raise>",
            "B2, again",
            "<criticize>A3</criticize><raise>A3</raise>",
            "<respond>B3</respond><criticize>B3</criticize><raise>B3</raise>",
            "<respond>A3</respond>",
            *["[[A]]", "neither", "[[B]]", "So: [[A]]", "[[Tie]]"],
        ],
    ),
}


@pytest.mark.slow_except(3)
@pytest.mark.parametrize("options", [{}, {"rejected": "drop", "system_role": "user"}, {"history_turns": 2}])
@pytest.mark.parametrize("name", NATIVE)
def test_prompts_native_roles_are_those_received(name, options):
    environment, given, replies = NATIVE[name]
    env = make_environment(environment, given)
    agents = env.unwrapped.possible_agents
    with hostile_server(*map(say, replies)) as server:
        options = {"history": "full", "base_url": server.url, **options}
        episode = play(env, {agent: LLMPolicy("mock", **options) for agent in agents}, 3)
    sent = [request.body["messages"] for request in server.requests]
    assert len(sent) == len(replies)
    record = recorded(Match(environment, 0, ("model",) * len(agents), 3, given), episode)
    prompts = PromptReader({}).read(record)
    assert (list(prompts.sent.values()), prompts.missing) == (sent, "")
    assert rebuilt(record, pack_prompts(record, prompts, {}), {}) == sent


def rebuilt(record, packed, rules):
    """Returns prompts as the page puts them together."""
    before, prompts = {}, []
    for turn in record.turns:
        for number in range(len(turn.attempts)):
            if (turn.index, number) not in packed:
                continue
            same, *rest = packed[turn.index, number]
            earlier = before.get(turn.agent, [])

            def text(part, turn=turn, earlier=earlier):
                match part:
                    case str():
                        return part
                    case ["rules"]:
                        return rules[turn.agent]
                    case ["read", index]:
                        return record.turns[index].read
                    case ["reply", index, attempt]:
                        return record.turns[index].attempts[attempt].reply
                    case ["last", length]:
                        return earlier[-1]["content"][:length]

            told = [{"role": role, "content": "".join(map(text, parts))} for role, *parts in rest]
            before[turn.agent] = [*earlier[:same], *told]
            prompts.append(before[turn.agent])
    return prompts


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"system_role": "user"},
        {"history": "full"},
        {"history": "full", "rejected": "keep"},
        {"history": "full", "rejected": "drop", "longest_kept": 100},
        {"history_turns": 1},
        {"history_tokens": 200},
        {"history": "updates"},
        {"history": "updates", "rejected": "drop", "system_role": "developer"},
        {"history": "full", "serialiser": "Human/Assistant", "system_role": "user"},
    ],
)
def test_prompts_are_those_that_were_sent(options):
    record, sent = played(**options)
    prompts = read(record)
    assert (list(prompts.sent.values()), prompts.missing) == (sent, "")
    assert len(sent) > 8
    rules = {"player_0": sent[0][0]["content"].removesuffix("\n\n" + record.turns[0].read)}
    packed = pack_prompts(record, prompts, rules)
    assert rebuilt(record, packed, rules) == sent
    without_rules = pack_prompts(record, prompts, {})
    assert rebuilt(record, without_rules, {}) == sent
    assert len(json.dumps(list(packed.values()))) < 0.6 * len(json.dumps(sent))


@pytest.mark.parametrize("settings", [replace(SETTINGS, feedback=False), TurnSettings(), TurnSettings(reasks=0)])
def test_prompts_follow_the_invalid_reply_policy(settings):
    record, sent = played(settings=settings, history="full")

    async def inside():  # also inside of an event loop
        return read(record, settings)

    assert list(asyncio.run(inside()).sent.values()) == sent


def test_prompts_unfinished_match_has_the_prompts_so_far():
    record, sent = played(history="updates")
    half = replace(record, turns=record.turns[:3])
    count = sum(len(turn.attempts) for turn in half.turns if turn.agent == "player_0")
    assert list(read(half).sent.values()) == sent[:count]


def with_detail(record, change):
    def changed(turn):
        attempts = tuple(replace(one, detail=change(dict(one.detail or {}))) for one in turn.attempts)
        return replace(turn, digest="", attempts=attempts)

    return replace(record, turns=tuple(map(changed, record.turns)))


def without(name):
    return lambda detail: {key: value for key, value in detail.items() if key != name}


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        (without("prompt_form"), "do not come out"),
        (lambda detail: detail | {"prompt": "0" * 16}, "do not come out"),
        (lambda detail: detail | {"prompt": None}, "do not come out"),
        (lambda detail: detail | {"prompt_form": "<b>"}, "expected how messages"),
        (lambda detail: detail | {"prompt_form": {**FORM, "turns": "x"}}, "TypeError"),
        (lambda detail: detail | {"prompt_form": {**FORM, "serialiser": None}}, "made in code"),
        (lambda detail: detail | {"prompt_form": {**FORM, "serialiser": ["("]}}, "serialiser"),
        (without("prompt"), ""),
    ],
)
def test_uncertain_prompt_is_not_shown(change, missing):
    record, _ = played()
    prompts = read(with_detail(record, change))
    assert not prompts.sent and missing in prompts.missing and bool(missing) == bool(prompts.missing)


FORM = LLMPolicy("mock", base_url="http://localhost/v1")._form.table()


def test_match_with_changed_replay_has_no_prompts():
    record, _ = played()
    gone = replace(record, match=replace(record.match, environment="nobody.knows"))
    assert "nobody" in read(gone).missing
    turns = list(record.turns)
    turns[2] = replace(turns[2], read="another text")
    prompts = read(replace(record, turns=tuple(turns)))
    assert {turn for turn, _ in prompts.sent} == {0} and "another text" in prompts.missing
    turns[2] = replace(record.turns[2], agent="player_1")
    assert "expected player_0" in read(replace(record, turns=tuple(turns))).missing


def test_prompts_adapted_roles_are_shown_as_sent():
    record, sent = played()
    adapted = {"adapted": {"system": "joined to the first message of the user", "temperature": "left out"}}
    prompts = read(with_detail(record, lambda detail: detail | adapted))
    (first, *_) = prompts.sent.values()
    assert first == [{"role": "user", "content": f"{sent[0][0]['content']}\n\n{sent[0][1]['content']}"}]
