import pytest

from agents.baselines.undercover import ATTRIBUTES, BASELINES, CHINESE_ATTRIBUTES, attributes, cosine, fragments
from agents.play import play
from agents.registry import make_policy
from agents.turn import TurnSettings
from llmarena_envs import undercover_v0
from llmarena_envs.core.failures import Failure
from llmarena_envs.undercover.words import has_cjk, shipped_pairs

BLANK_OR_RANDOM = TurnSettings(unparsable="noop", illegal="noop")


def new_players(env, names, seed):
    """Makes a player for each seat; ``names`` gives the undercover player's baseline and the others' one."""
    raw = env.unwrapped
    players = {agent: BASELINES[names[agent not in raw.game.undercovers]]() for agent in raw.possible_agents}
    for number, (agent, player) in enumerate(players.items()):
        player.reset(agent, 1000 * seed + number)
    return players


def undercover_wins(undercover, field, matches, **options):
    """Plays seeded matches and returns the undercover player's win rate; asserts that every reply is legal."""
    env = undercover_v0.raw_env(**options)
    wins = 0
    for seed in range(matches):
        env.reset(seed=seed)
        players = new_players(env, (undercover, field), seed)
        while not any(env.terminations.values()):
            agent = env.agent_selection
            env.step(env.parse(players[agent](env.view(agent)), agent))
        assert not any(info["illegal"] for info in env.infos.values())
        wins += env.rewards[env.game.undercovers[0]] > 0
    return wins / matches


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("undercover", ["similarity", "random", "silent"])
def test_similarity_votes_beat_random_votes(undercover, language):
    assert undercover_wins(undercover, "similarity", 150, language=language) < 0.35


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("field", ["random", "silent"])
def test_random_voters_let_the_undercover_player_win_60_percent(field):
    assert 0.52 < undercover_wins("similarity", field, 400) < 0.68


@pytest.mark.slow_except(2)
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["random", "similarity", "silent"])
def test_matches_of_one_kind_have_no_failures(name, language):
    env = undercover_v0.env(language=language)
    for seed in range(10):
        policies = {agent: make_policy(name, "undercover_v0") for agent in env.possible_agents}
        episode = play(env, policies, seed)
        assert all(len(turn.attempts) == 1 and not turn.fallback for turn in episode.turns)
        blank = sum(info["blank_clues"] for info in episode.infos.values())
        clues = sum(turn.action.startswith("player_") for turn in episode.turns)
        assert blank == (clues if name == "silent" else 0)
        again = play(env, {agent: make_policy(name, "undercover_v0") for agent in env.possible_agents}, seed)
        assert again == episode


@pytest.mark.parametrize(
    "options", [{"n_players": 10, "max_rounds": 9}, {"n_players": 10, "n_undercover": 4, "max_rounds": 9}]
)
def test_the_longest_matches_are_played_through(options):
    for name in ("random", "similarity"):
        undercover_wins(name, name, 3, **options)


def test_nonsense_policy_gives_flagged_clues_and_random_votes():
    env = undercover_v0.env(seat=0)
    policies = {agent: make_policy("random", "undercover_v0") for agent in env.possible_agents}
    told = []

    def confused(observation):
        told.append(observation.get("feedback", ""))
        return "vote: player_1 and player_2" if "vote: player_k" in observation["text"] else "vote: player_1"

    episode = play(env, {**policies, "player_1": confused}, 3, BLANK_OR_RANDOM)
    turns = [turn for turn in episode.turns if turn.agent == "player_1"]
    assert [turn.action for turn in turns[::2]] == ["player_1:"] * len(turns[::2])
    assert all(turn.action.startswith("vote: player_") for turn in turns[1::2])
    assert [attempt.kind for attempt in turns[0].attempts] == [Failure.UNPARSABLE] * 3
    assert [attempt.kind for attempt in turns[1].attempts] == [Failure.ILLEGAL] * 3
    assert [turn.fallback for turn in turns] == ["noop", "random_legal"] * (len(turns) // 2)
    assert episode.infos["player_1"]["blank_clues"] == len(turns[::2])
    assert episode.infos["player_1"]["illegal"] == 0
    assert any("this is the clue stage" in text for text in told)
    assert any("vote for exactly one living player" in text for text in told)


def test_attributes_depend_on_the_word_alone():
    for language, table in (("en", ATTRIBUTES), ("zh", CHINESE_ATTRIBUTES)):
        assert len(set(table)) == 24
        for _, a, b in shipped_pairs(language):
            assert set(attributes(a)) <= set(table)
            assert attributes(a) == attributes(a.upper())
            assert set(attributes(a)) != set(attributes(b))
            assert len(set(attributes(a))) == 8
            assert has_cjk(attributes(a)[0]) == (language == "zh")


def test_similarity():
    assert cosine(fragments(["big, old"]), fragments(["old, big"])) == pytest.approx(1)
    assert cosine(fragments(["big"]), fragments([""])) == 0
    assert cosine(fragments(["很大"]), fragments(["很大、古老"])) == pytest.approx(2**-0.5)
    assert cosine(fragments(["a"]), fragments(["A"])) == pytest.approx(1)


def test_the_odd_one_out_is_voted_for():
    env = undercover_v0.raw_env(first_player=0)
    env.reset(seed=0)
    for clue in ("red round fruit", "round fruit with seeds", "made of steel", "a sweet round fruit", "red fruit"):
        env.step(f"{env.agent_selection}: {clue}")
    votes = []
    for seat, agent in enumerate(env.possible_agents):
        player = BASELINES["similarity"]()
        player.reset(agent, seat)
        votes.append(player(env.view(agent)))
    assert [vote for seat, vote in enumerate(votes) if seat != 2] == ["vote: player_2"] * 4
    assert votes[2] != "vote: player_2"


def test_own_words_are_avoided():
    env = undercover_v0.raw_env(pair=["big", "small"], first_player=0)
    for seed in range(20):
        env.reset(seed=seed)
        players = new_players(env, ("similarity", "random"), seed)
        for _ in range(5):
            agent = env.agent_selection
            env.step(env.parse(players[agent](env.view(agent)), agent))
        assert env.infos["player_0"]["illegal"] == 0
