"""Isomorphs: other names in every text, the same rules, and replies in the new names only."""

import pickle
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agents.play import play
from agents.registry import baselines, make_policy
from llmarena_envs.catalogue import (
    canonical_name,
    full_name,
    load_environment,
    load_module,
    make_environment,
    module_name,
    parse_name,
)
from llmarena_envs.core.ending import Ending
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.isomorph.declared import declared, invented_words
from llmarena_envs.testing import NEED_RESAMPLE, actions, check_environment
from tests.llmarena_envs.option_sets import option_sets

GAMES = ("tictactoe_v0", "connect_four_v0", "bid_v0", "holdem_v0", "hanabi_v0", "public_goods_v0")
CASES = [
    (game, options)
    for game in GAMES
    for options in option_sets(game).PLAYTHROUGHS.values()
    if options.get("language") != "zh"
]
OTHER = {
    "tictactoe_v0": r"\d|\bX\b|\bO\b",
    "connect_four_v0": r"\d|\bX\b|\bO\b",
    "holdem_v0": r"\b[2-9TJQKA][cdhs]\b|\b(?:Turn:|on the turn\b(?! round))|\b(?:ten|ace|hearts|poker)\b",
    "hanabi_v0": r"(?i)\bplay card|card played",
}
"""Patterns of original names in context, which no text of a renamed game may hold."""

ADAPTED = (
    *(f"openspiel/{game}" for game in ("kuhn_poker", "leduc_poker", "tic_tac_toe", "matrix_rps", "universal_poker")),
    *(f"openspiel/{game}" for game in ("first_sealed_auction", "hanabi", "social_deduction", "sheriff")),
    *(f"aec/pettingzoo.classic.{game}" for game in ("rps_v2", "tictactoe_v3")),
)
COORDINATES = ("openspiel/tic_tac_toe", "aec/pettingzoo.classic.tictactoe_v3")
"""Games whose moves are cells, which stay."""


def renamed(game: str, seed: int, **options: Any) -> Any:
    return make_environment(f"{game}?isomorph={seed}", options).unwrapped


def positions(env: Any, seed: int) -> Iterator[str]:
    """Yields the agent to move at every position of a random match."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    while env.agents and not any(env.terminations.values()):
        agent = env.agent_selection
        yield agent
        env.step(env.random_action(agent, rng))


def refusal(env: Any, agent: str, *, reply: str = "", action: Any = None) -> InvalidReply:
    with pytest.raises(InvalidReply) as refused:
        env.check_action(action, agent) if action is not None else env.parse(reply, agent)
    return refused.value


def texts(env: Any, seed: int) -> Iterator[str]:
    """Yields every kind of text of a random match, in every position."""
    codec, earlier = env.codec, dict[str, Any]()
    yield from map(codec.rules, env.possible_agents)
    for agent in positions(env, seed):
        view = env.view(agent)
        yield codec.picture(env.game)
        yield codec.for_person(view)
        yield codec.example(view)
        yield codec.update(view, earlier.setdefault(agent, view))
        earlier[agent] = view
        yield from (codec.observation(env.view(other)) for other in env.possible_agents)
        illegal = [action for action in range(env.game.num_actions) if action not in view.legal]
        yield from (refusal(env, agent, action=action).message for action in [*illegal[:3], *illegal[-3:]])
        yield refusal(env, agent, reply="").message
        yield refusal(env, agent, reply="neither").message
    yield from (codec.ending(env.view(agent), env.ending(agent)) for agent in env.possible_agents)
    yield codec.picture(env.game)
    env.reset(seed=seed)
    for offenders in (env.possible_agents[:1], env.possible_agents):
        yield from (codec.ending(env.view(agent), Ending(-1.0, tuple(offenders))) for agent in env.possible_agents)


@pytest.mark.parametrize(("game", "options"), CASES, ids=str)
def test_no_text_of_a_match_holds_an_original_name(game: str, options: dict[str, Any]) -> None:
    for seed in (1, 2, 3):
        env = renamed(game, seed, **options)
        names = "|".join(map(re.escape, env.codec.renaming.table))
        original = re.compile(rf"(?<![A-Za-z0-9])(?:{names}|[Pp]layer[ _]\d+)(?![A-Za-z0-9])")
        for text in texts(env, seed):
            found = original.search(text) or re.search(OTHER.get(game, r"(?!)"), text)
            assert found is None, (found, text)


@pytest.mark.parametrize(("game", "options"), CASES, ids=str)
def test_replies_are_read_in_the_new_names_only(game: str, options: dict[str, Any]) -> None:
    for seed in (1, 2, 3):
        env = renamed(game, seed, **options)
        for agent in positions(env, seed):
            view = env.view(agent)
            for action in (*view.legal[:10], *view.legal[-10:]):
                reply = env.codec.format(action, view)
                for written in (reply, f"I have thought about it.\n**{reply}**", f"<answer>{reply}</answer>"):
                    assert env.parse(written, agent) == action, written
                old = env.codec.plain.format(action, view)
                assert refusal(env, agent, reply=old).kind == Failure.UNPARSABLE, old


@pytest.mark.parametrize(
    ("game", "replies"),
    [
        ("tictactoe_v0", ["(1, 1)", '{"row": 1, "column": 1}', "row 1, column 1", "第1行第1列", "cell: 1 1"]),
        ("connect_four_v0", ["4", "column 4", '{"column": 4}', "player_0: 4", "X: 4", "第4列"]),
        ("holdem_v0", ["Fold", "fold", "call", "all in", "ALL-IN", "AllIn", "Action: half pot", "弃牌", "bet pot"]),
        ("hanabi_v0", ["play card 1", "PLAY 1", "hint red", "Reveal R", "discard 1", '{"action": "clue", "rank": 1}']),
        ("bid_v0", ["player_0: $0.00", "Player 0: $0.00", "player zero: $0.00", "bid: $0.00", "My bid is $0.00"]),
        ("public_goods_v0", ['{"coins": 5}', "coins: 5", "I invest 5 coins", "投资5", '{"investment": 5}']),
    ],
)
def test_other_forms_of_original_names_are_not_understood(game: str, replies: list[str]) -> None:
    plain, env = make_environment(game, {}).unwrapped, renamed(game, 5)
    for seed in range(3):
        plain.reset(seed=seed)
        env.reset(seed=seed)
        agent = env.agent_selection
        for reply in replies:
            refusal(env, agent, reply=reply)


def test_cells_with_the_column_first_are_refused() -> None:
    env = renamed("tictactoe_v0", 7)
    env.reset(seed=0)
    mark, row, column = re.findall(r"[A-Za-z]", env.codec.format(1, env.view("player_0")))
    assert env.parse(f"{mark}: ({row}, {column})", "player_0") == 1
    assert env.parse(f'{{"row": "{row}", "column": "{column}"}}', "player_0") == 1
    refusal(env, "player_0", reply=f"{mark}: ({column}, {row})")


@pytest.mark.parametrize("game", ["tictactoe_v0", "connect_four_v0"])
def test_boards_stay_aligned(game: str) -> None:
    plain, env = make_environment(game, {}).unwrapped, renamed(game, 3)
    for _, agent in zip(positions(plain, 1), positions(env, 1), strict=True):
        lines = [each.observe(agent)["text"].split("\n") for each in (plain, env)]
        boards = [[len(line) for line in text if re.fullmatch(r"\S([| ]\S)+", line)] for text in lines]
        assert boards[0] == boards[1] != []


def test_an_article_fits_the_invented_name() -> None:
    for seed in range(5):
        rules = renamed("holdem_v0", seed, players=3).codec.rules("player_0")
        assert not re.search(r"\b[Aa]n [b-df-hj-np-tv-z]", rules)


@pytest.mark.parametrize("game", [*GAMES, pytest.param("openspiel/leduc_poker", marks=pytest.mark.needs("pyspiel"))])
def test_scripted_policies_play_the_same_match(game: str) -> None:
    names = [name for name in baselines(game) if name not in ("mcts", "fictitious_play")]
    names = [*names, "mcts:simulations=8"]
    for seed, name in enumerate(names):
        episodes = []
        for each in (game, f"{game}?isomorph={seed}"):
            env = make_environment(each, None)
            policies = {agent: make_policy(name, each) for agent in env.possible_agents}
            episodes.append((env.unwrapped, play(env, policies, seed)))
        (_, plain), (env, other) = episodes
        assert plain.rewards == other.rewards
        assert [turn.action for turn in plain.turns] == [turn.action for turn in other.turns]
        assert [env.codec.renaming.write(turn.read) for turn in plain.turns] == [turn.read for turn in other.turns]
        assert [turn.read for turn in plain.turns] != [turn.read for turn in other.turns]


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("game", GAMES)
def test_isomorphs_pass_the_conformance_suite(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "JUNK_TEXTS", actions.SHORT_JUNK)
    module = load_module(f"{game}?isomorph=7")
    check_environment(module.env, parallel_env_fn=module.parallel_env, seeds=range(2))


@pytest.mark.slow
@pytest.mark.needs("pyspiel")
@pytest.mark.parametrize(
    "game", ["openspiel/kuhn_poker", "openspiel/tic_tac_toe", "openspiel/matrix_rps", "aec/pettingzoo.classic.rps_v2"]
)
def test_isomorphs_of_adapters_pass_the_conformance_suite(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "JUNK_TEXTS", actions.SHORT_JUNK)
    module = load_module(f"{game}?isomorph=7")
    check_environment(module.env, parallel_env_fn=module.parallel_env, seeds=range(2), skip=NEED_RESAMPLE)


@pytest.mark.needs("pyspiel")
@pytest.mark.parametrize("game", ADAPTED)
def test_moves_of_adapters_are_read_in_the_new_names_only(game: str) -> None:
    changed, env = 0, renamed(game, 5)
    names = "|".join(map(re.escape, (*env.codec.renaming.table, env.title, *env.possible_agents)))
    original = re.compile(rf"(?<![A-Za-z0-9])(?:{names})(?![A-Za-z0-9])")
    for seed in range(3):
        for turn, agent in enumerate(positions(env, seed)):
            view = env.view(agent)
            for shown in (env.codec.rules(agent), env.codec.observation(view)):
                assert not original.search(shown), (original.search(shown), shown)
            for action in view.legal:
                reply, old = env.codec.format(action, view), env.codec.plain.format(action, view)
                assert env.parse(reply, agent) == action
                if old != reply:
                    refusal(env, agent, reply=old)
                    changed += 1
            if turn == 60:
                break
    assert bool(changed) == (game not in COORDINATES)


@pytest.mark.needs("pyspiel")
@pytest.mark.parametrize("game", ["hearts", "skat", "gin_rummy", "universal_poker"])
def test_suits_stay_where_cards_are_written_by_letters(game: str) -> None:
    plain, env = make_environment(f"openspiel/{game}", {}).unwrapped, renamed(f"openspiel/{game}", 3)
    suit_or_face = re.compile(r"(?i)\b(?:ace|king|queen|jack|heart|diamond|club|spade)s?\b|\b[2-9TJQKA][CDHS]\b")
    for _, agent in zip(range(20), positions(env, 1), strict=False):
        view = env.view(agent)
        shown = [f"{codec.rules(agent)}\n{codec.observation(view)}" for codec in (plain.codec, env.codec)]
        assert suit_or_face.findall(shown[0]) == suit_or_face.findall(shown[1]) != []


def test_a_seed_draws_the_same_names_everywhere_and_another_seed_others() -> None:
    rules = [renamed("holdem_v0", seed).codec.rules("player_0") for seed in (1, 1, 2)]
    assert rules[0] == rules[1] != rules[2]
    env = renamed("hanabi_v0", 4)
    env.reset(seed=1)
    twin = pickle.loads(pickle.dumps(env))
    assert type(twin) is type(env) is load_environment("hanabi_v0?isomorph=4")
    assert twin.observe("player_1")["text"] == env.observe("player_1")["text"]


@pytest.mark.parametrize("game", GAMES)
def test_invented_words_are_no_words_of_the_prompts(game: str) -> None:
    package = f"llmarena_envs.{game.removesuffix('_v0')}"
    sources = [
        template.source
        for where in (package, "llmarena_envs.core")
        for template in Prompts(where, "en")._templates.values()
    ]
    words = set(re.findall(r"[a-z]+", "\n".join(sources).lower()))
    assert words.isdisjoint(invented_words())
    assert len(set(invented_words())) == len(invented_words()) >= 500
    known = declared(game)
    assert known is not None
    for phrase in known.phrases:  # a phrase that was reworded would not be replaced any more
        assert any(phrase.old in source.replace("{columns}", "7") for source in sources), phrase


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tictactoe_v0?isomorph=", "expected isomorph and a seed"),
        ("tictactoe_v0?isomorph=07", "expected isomorph and a seed"),
        ("tictactoe_v0?seed=7", "expected isomorph and a seed"),
        ("tictactoe_v0?isomorph=7#a b", "expected a label"),
        ("bargain_v0?isomorph=7", "replies are free text"),
        ("debate_v0?isomorph=7", "replies are free text"),
        ("no_such_game?isomorph=7", "expected one of"),
    ],
)
def test_a_name_without_an_isomorph_is_refused(name: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        make_environment(name)


def test_other_languages_are_refused() -> None:
    with pytest.raises(OptionError, match="language: expected 'en', got 'zh'"):
        make_environment("tictactoe_v0?isomorph=1", {"language": "zh"})


def test_a_name_is_parsed_into_its_parts() -> None:
    assert parse_name("tictactoe_v0?isomorph=7#other") == ("tictactoe_v0", 7, "other")
    assert str(parse_name("openspiel/kuhn_poker?isomorph=3")) == "openspiel/kuhn_poker?isomorph=3"
    assert full_name("ttt?isomorph=7#other") == "tictactoe_v0?isomorph=7#other"
    assert canonical_name("llmarena/tictactoe-v0?isomorph=7#other") == "tictactoe_v0?isomorph=7#other"
    assert module_name("openspiel/kuhn_poker?isomorph=3#other") == "openspiel/kuhn_poker"
