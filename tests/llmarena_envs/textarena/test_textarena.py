"""TextArena's games as environments: conformance, seeds, isolation, copies and refusals."""

import copy
import hashlib
import os
import pickle
import random
import subprocess
import sys
import zlib
from functools import partial
from importlib import metadata
from typing import Any

import numpy as np
import pytest

from llmarena_envs.adapters import make_adapted
from llmarena_envs.core.options import OptionError
from llmarena_envs.testing import NEED_RESAMPLE, check_environment
from llmarena_envs.textarena.classes import load
from llmarena_envs.textarena.game import ArenaGame, End
from llmarena_envs.textarena.listing import GAMES, LISTED, REFUSED
from llmarena_envs.textarena.package import import_textarena

pytestmark = pytest.mark.needs("textarena")

QUICK = ("KuhnPoker-v0", "Nim-v0", "TicTacToe-v0")
"""Games that are checked by default."""

LONGEST = 24
"""Maximum number of turns of a match in the conformance suite, which copies every position."""


def by_default(game: str) -> Any:
    """Returns a parameter set, slow unless the game is one of ``QUICK``."""
    return pytest.param(game, marks=() if game in QUICK else pytest.mark.slow)


def make(game: str, **options: Any) -> Any:
    return make_adapted(f"textarena/{game}", **options).unwrapped


def started(game: str, seed: int = 0, **options: Any) -> ArenaGame:
    position = make(game, **options).game
    position.reset(np.random.default_rng(seed))
    return position


def shown(game: ArenaGame) -> str:
    return repr([game.view(agent) for agent in game.agents]) + repr((game.rewards, game.to_move))


def play_on(game: ArenaGame, seed: int, turns: int = 10_000) -> str:
    """Plays at random, and returns the digest of all that every player saw."""
    rng, seen = np.random.default_rng(seed), hashlib.sha256(shown(game).encode())
    while game.to_move and turns:
        game.apply((game.random_action(game.to_move[0], rng),))
        seen.update(shown(game).encode())
        turns -= 1
    return seen.hexdigest()


def shortened(game: str, **options: Any) -> Any:
    """Makes a game with at most ``LONGEST`` turns."""
    env = make_adapted(f"textarena/{game}", **options)
    env.unwrapped.game.max_turns = env.unwrapped.max_turns = min(env.unwrapped.max_turns, LONGEST)
    return env


@pytest.mark.parametrize("game", [by_default(game) for game in GAMES])
def test_game_passes_the_conformance_suite(game: str) -> None:
    check_environment(partial(shortened, game), seeds=range(2), skip=NEED_RESAMPLE, time_limit=300.0)


SCRIPT = """
import sys
from tests.llmarena_envs.textarena.test_textarena import play_on, started
for game in sys.argv[1:]:
    print(game, play_on(started(game), 0, turns=150))
"""


@pytest.mark.parametrize("games", [QUICK, pytest.param(GAMES, marks=pytest.mark.slow)], ids=["quick", "all"])
def test_same_seed_in_two_processes_shows_the_same_bytes(games: tuple[str, ...]) -> None:
    printed = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, *order],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\n")
        for seed, order in (("1", games), ("2", games[::-1]))  # earlier play does not matter either
    ]
    assert sorted(printed[0]) == sorted(printed[1])
    assert len(printed[0]) == len(games) + 1


def test_text_is_that_of_textarena_itself() -> None:
    import textarena as ta

    replies = ["[1 2]", "I take [9 9]", "[0 3]", "no move"]
    game = started("Nim-v0")
    theirs = ta.make("Nim-v0")
    theirs.reset(num_players=2, seed=0)
    for reply in replies:
        player, text = theirs.get_observation()
        assert game.to_move == (f"player_{player}",)
        assert game.view(f"player_{player}").text == text
        game.apply((reply,))
        theirs.step(reply)


def test_invalid_moves_are_allowed_for_and_lost_as_in_textarena() -> None:
    game = started("TicTacToe-v0")
    game.apply(("no move",))
    assert game.to_move == ("player_0",)
    assert "attempted an invalid move" in game.view("player_0").text
    assert "attempted an invalid move" not in game.view("player_1").text
    game.apply(("[12]",))
    assert (game.to_move, game.rewards) == ((), (-1.0, 1.0))
    assert [game.statistics(agent)["invalid_move"] for agent in game.agents] == [1.0, 0.0]


@pytest.mark.parametrize(
    "game", ["IteratedRockPaperScissors-v0", "Poker-v0", pytest.param("Snake-v0", marks=pytest.mark.slow)]
)
def test_interleaved_matches_do_not_influence_each_other(game: str) -> None:
    alone = [play_on(started(game, seed), seed, turns=40) for seed in (0, 1)]
    first, second = started(game, 0), started(game, 1)
    digests = [hashlib.sha256(shown(position).encode()) for position in (first, second)]
    generators = [np.random.default_rng(0), np.random.default_rng(1)]
    for _ in range(40):
        for position, rng, seen in zip((first, second), generators, digests, strict=True):
            if position.to_move:
                position.apply((position.random_action(position.to_move[0], rng),))
                seen.update(shown(position).encode())
    assert [seen.hexdigest() for seen in digests] == alone


def test_global_generators_are_unchanged_by_reset_and_step() -> None:
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    play_on(started("Poker-v0"), 0, turns=20)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


@pytest.mark.parametrize("twin_of", [copy.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))])
def test_copy_in_the_middle_plays_on_identically(twin_of: Any) -> None:
    game = started("Poker-v0")
    play_on(game, 1, turns=9)
    twin, other = twin_of(game), twin_of(game)
    play_on(other, 5)
    assert shown(twin) == shown(game)
    assert play_on(twin, 2) == play_on(game, 2)


def test_turn_limit_ends_the_match_with_rewards_of_zero() -> None:
    env = make("PigDice-v0")
    env.game.max_turns = 3
    env.reset(seed=0)
    for _ in range(3):
        env.step("[hold]")
    assert env.game.view("player_0").end is End.TURN_LIMIT
    assert all(env.terminations.values())
    assert set(env.rewards.values()) == {0.0}
    assert "turn limit" in env.observe("player_0")["text"]


def test_player_who_stalls_to_the_turn_limit_loses() -> None:
    env = make("Poker-v0")
    env.game.max_turns = 6
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    while not any(env.terminations.values()):
        agent = env.agent_selection
        env.step("no move" if agent == "player_0" else env.random_action(agent, rng))
    assert env.game.view("player_0").end is End.TURN_LIMIT
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}


def test_exception_of_textarena_ends_the_match_for_its_author(monkeypatch: pytest.MonkeyPatch) -> None:
    env = make("Nim-v0")
    env.reset(seed=0)
    monkeypatch.setattr(type(env.game._match._env.env.env), "_execute_move", lambda self, action: 1 / 0)
    env.step("[0 1]")
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert "ZeroDivisionError" in env.observe("player_1")["text"]


def test_reply_is_passed_without_reasoning_and_cut_at_its_beginning() -> None:
    env = make("TicTacToe-v0")
    env.reset(seed=0)
    assert env.parse("<think>[0] or [1]?</think>I take [4].", "player_0") == "I take [4]."
    assert env.parse("x" * 50_000 + "[4]", "player_0").endswith("x[4]")
    assert len(env.parse("x" * 50_000 + "[4]", "player_0")) == 10_000


def test_update_holds_the_news_only() -> None:
    env = make("TicTacToe-v0")
    env.reset(seed=0)
    since = env.game.view("player_0")
    env.step("[4]")
    news = env.codec.update(env.game.view("player_0"), since)
    assert since.text + news == env.game.view("player_0").text
    assert "placed their symbol" in news


@pytest.mark.parametrize("game", GAMES)
def test_random_play_gets_beyond_invalid_moves(game: str) -> None:
    """Within a few matches one lasts longer than two refused moves."""
    lengths = []
    for seed in range(3):
        position = started(game, zlib.crc32(game.encode()) + seed)
        play_on(position, seed, turns=12)
        lengths.append(len(position._replies))
    assert max(lengths) > 3 or max(lengths) > len(position.agents)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_game_gives_the_reason(name: str) -> None:
    with pytest.raises(OptionError, match="not supported: ") as refused:
        make(name)
    assert REFUSED[name] in str(refused.value)


def test_list_covers_every_plain_id_of_textarena() -> None:
    import textarena as ta

    plain = {name for name in ta.envs.registration.ENV_REGISTRY if name.endswith("-v0")}
    assert plain == (set(LISTED) | set(REFUSED)) - {"UsedCar-v0-balanced"}
    assert len(GAMES) >= 40


@pytest.mark.parametrize(("game", "players"), [("Poker-v0", 1), ("Poker-v0", 16), ("Taboo-v0", 5), ("Nim-v0", 2.0)])
def test_number_of_players_out_of_range_is_refused(game: str, players: Any) -> None:
    with pytest.raises(OptionError, match="players: expected"):
        make(game, players=players)


def test_number_of_players_is_that_of_the_match() -> None:
    env = make("Poker-v0", players=4)
    env.reset(seed=0)
    assert env.possible_agents == ["player_0", "player_1", "player_2", "player_3"]
    assert "4-player Texas" in env.observe("player_3")["text"]


@pytest.mark.parametrize("version", [None, "0.8.0"])
def test_without_the_supported_version_the_error_says_what_to_install(
    version: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def installed(name: str) -> str:
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(metadata, "version", installed)
    load.cache_clear()
    import_textarena.cache_clear()
    with pytest.raises(OptionError, match=r"textarena.*pip install 'llmarena-envs\[textarena\]'"):
        make("Othello-v0")
