"""Players of idiom solitaire: choices checked by hand, the solver against brute force, and the players' order."""

import copy
import itertools

import numpy as np
import pytest

from agents.baselines.idiom_solitaire import BASELINES, GIVE_UP, Common, FewestContinuations, Solver
from agents.play import play
from agents.registry import make_policy
from llmarena_envs import idiom_solitaire_v0
from llmarena_envs.core.options import OptionError
from llmarena_envs.idiom_solitaire.characters import NO_FOLDING
from llmarena_envs.idiom_solitaire.game import DEAD_ENDS, JUDGE, IdiomSolitaire
from llmarena_envs.idiom_solitaire.lexicon import Lexicon
from llmarena_envs.idiom_solitaire.links import Links

LETTERS = "天地人山水"


def lexicon_of(idioms):
    return Lexicon(dict.fromkeys(idioms, 1.0), NO_FOLDING, ())


def random_list(rng, size):
    """Returns words whose first and last characters come from a small set, to get many links."""
    words = {"".join(LETTERS[index] for index in rng.integers(len(LETTERS), size=4)) for _ in range(size)}
    return sorted(words)


def game_of(idioms, **options):
    game = IdiomSolitaire(Links(lexicon_of(idioms), "char"), allow_dead_end_start=True, **options)
    game.reset(np.random.default_rng(0))
    return game


def brute_force(game):
    """Returns the value of a position for the player to move, by playing all moves of the game itself."""
    (mover,) = game.to_move
    best = -1
    for idiom in game.links.lexicon.by_rank:
        position = copy.copy(game)
        position.apply((idiom,))
        value = -brute_force(position) if position.to_move else int(position.rewards[position.seats.index(mover)])
        best = max(best, value)
    return best


def seated(policy, agent="player_0"):
    policy.reset(agent, 0)
    return policy


@pytest.mark.parametrize("dead_end", DEAD_ENDS)
@pytest.mark.parametrize("max_turns", [3, 100])
def test_the_solver_is_as_good_as_brute_force(dead_end, max_turns):
    rng = np.random.default_rng(5)
    values = set()
    for _ in range(25):
        game = game_of(random_list(rng, 6), dead_end=dead_end, max_turns=max_turns)
        value = brute_force(game)
        reply = seated(Solver())(game.view("player_0"))
        after = copy.copy(game)
        after.apply(("" if reply == GIVE_UP else reply,))
        mine = int(after.rewards[0]) if not after.to_move else -brute_force(after)
        assert mine == value
        values.add(value)
    assert {-1, 1} <= values


def test_solver_refuses_games_that_are_too_large():
    env = idiom_solitaire_v0.raw_env()
    env.reset(seed=0)
    with pytest.raises(OptionError, match=r"solver: expected two players and a list of at most 100 idioms"):
        seated(Solver())(env.view("player_0"))
    dense = ["".join(word) for word in itertools.product("天地", "天地人", "天地人", "天地")]
    with pytest.raises(OptionError, match=r"at most 50 positions"):
        solver = seated(Solver())
        solver.MAX_POSITIONS = 50
        solver(game_of(dense[:30], max_turns=100, dead_end="forbidden").view("player_0"))


def test_fewest_continuations_prefers_a_dead_end():
    game = game_of(["天天天天", "天人人人", "天地地地", "地水水水", "地山山山"], start="天天天天")
    # 人 has no successor, 地 has two.
    assert seated(FewestContinuations())(game.view("player_0")) == "天人人人"


def test_common_knows_so_many_and_gives_up_then():
    idioms = {"天天天天": 9.0, "天人人人": 5.0, "天地地地": 1.0}
    links = Links(Lexicon(idioms, NO_FOLDING, ()), "char")
    game = IdiomSolitaire(links, start="天天天天", allow_dead_end_start=True)
    game.reset(np.random.default_rng(0))
    assert {seated(Common(k=2))(game.view("player_0")) for _ in range(5)} == {"天人人人"}
    assert seated(Common(k=1))(game.view("player_0")) == GIVE_UP
    with pytest.raises(OptionError, match="k: expected an integer"):
        make_policy("common:k=0", "idiom_solitaire_v0")


@pytest.mark.parametrize("name", BASELINES)
def test_every_player_rejects_idioms_as_a_judge(name):
    env = idiom_solitaire_v0.raw_env(accept_outside=True, start="一心一意")
    env.reset(seed=0)
    env.step("意在画外")
    assert env.agent_selection == JUDGE
    env.step(env.parse(seated(make_policy(name, "idiom_solitaire_v0"), JUDGE)(env.view(JUDGE)), JUDGE))
    assert env.infos["judge_0"]["ruled_no"] == 1


def share_of_wins(better, worse, matches, **options):
    """Returns the share of matches won by ``better``, from both seats of every start."""
    won = 0.0
    env = idiom_solitaire_v0.env(**options)
    for number in range(matches):
        names = (better, worse) if number % 2 else (worse, better)
        policies = {
            agent: make_policy(name, "idiom_solitaire_v0")
            for agent, name in zip(env.possible_agents, names, strict=True)
        }
        rewards = play(env, policies, seed=number // 2).rewards
        won += rewards[env.possible_agents[names.index(better)]] > 0
    return won / matches


@pytest.mark.parametrize(
    ("better", "worse", "least"), [("fewest", "random", 0.9), ("random", "common", 0.9), ("fewest", "common", 0.95)]
)
def test_the_ladder_on_the_shipped_list(better, worse, least):
    assert share_of_wins(better, worse, 60) >= least


@pytest.mark.slow
def test_solver_is_rated_first_on_a_small_list(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("\n".join(random_list(np.random.default_rng(3), 20)), encoding="utf-8")
    assert share_of_wins("solver", "random", 40, idioms=path) >= 0.8
    assert share_of_wins("solver", "fewest", 40, idioms=path) >= 0.55
