"""The rules by hand on a small list."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs.core.options import OptionError
from llmarena_envs.idiom_solitaire.game import JUDGE, RESIGN, End, Ruling
from tests.llmarena_envs.idiom_solitaire.lists import IDIOMS, match, played


def counts(game, agent):
    statistics = game.statistics(agent)
    return tuple(int(statistics[name]) for name in ("hits", "valid", "unknown", "invalid"))


def test_players_take_turns_and_see_the_chain():
    game = played(match(), "意气风发")
    assert game.to_move == ("player_1",)
    view = game.view("player_1")
    assert view.chain == ("一心一意", "意气风发")
    assert (view.turn, view.to_move, view.players) == (2, True, ("player_0", "player_1"))
    assert view.continuations() == ["发扬光大"]
    assert not game.view("player_0").to_move


@pytest.mark.parametrize(
    ("moves", "end", "loser", "early", "late"),
    [
        (["发扬光大"], End.WRONG_LINK, 0, (0, 0, 0, 1), (0, 0, 0, 0)),
        (["一心一意"], End.WRONG_LINK, 0, (0, 0, 0, 1), (0, 0, 0, 0)),
        (["意气风发", "意气风发"], End.WRONG_LINK, 1, (1, 1, 0, 0), (0, 0, 0, 1)),
        (["意料之中"], End.NOT_LISTED, 0, (0, 0, 1, 0), (0, 0, 0, 0)),
        (["意气风发", "发光发热"], End.NOT_LISTED, 1, (1, 1, 0, 0), (0, 0, 1, 0)),
        ([RESIGN], End.RESIGNED, 0, (0, 0, 0, 0), (0, 0, 0, 0)),
        (["意味深长", RESIGN], End.RESIGNED, 1, (1, 1, 0, 0), (0, 0, 0, 0)),
        (["意气风发", "发扬光大", "大意失荆"], End.NOT_LISTED, 0, (1, 1, 1, 0), (1, 1, 0, 0)),
    ],
)
def test_failure_loses_at_once(moves, end, loser, early, late):
    game = played(match(), *moves)
    assert game.end is end and not game.to_move
    assert game.rewards == ((-1.0, 1.0) if loser == 0 else (1.0, -1.0))
    assert (counts(game, "player_0"), counts(game, "player_1")) == (early, late)
    assert game.decided_by == f"player_{loser}"


def test_no_idiom_occurs_twice_the_first_one_included():
    circle = {"一心一意": 1.0, "意在大一": 1.0, "一一一一": 1.0}
    game = played(match(circle), "意在大一", "一心一意")
    assert game.end is End.REPEATED and game.rewards == (1.0, -1.0)
    game = played(match(circle), "意在大一", "一一一一", "一一一一")
    assert game.end is End.REPEATED and game.rewards == (-1.0, 1.0)
    assert counts(game, "player_0") == (1, 1, 0, 1)


def test_a_match_without_a_loser_is_drawn():
    game = played(match(max_turns=2), "意气风发")
    assert game.to_move
    played(game, "发扬光大")
    assert game.end is End.MAX_TURNS and game.rewards == (0.0, 0.0)
    assert game.hits == (1, 1)


def test_player_after_a_dead_end_must_answer():
    game = played(match(), "意味深长")
    assert game.to_move == ("player_1",) and game.view("player_1").continuations() == []
    # Only the judge could save who answers with an idiom outside the list.
    assert played(game, "长夜漫漫").end is End.NOT_LISTED


def test_a_dead_end_wins_or_is_forbidden_by_option():
    game = played(match(dead_end="wins"), "意味深长")
    assert game.end is End.DEAD_END_WON and game.rewards == (1.0, -1.0) and game.hits == (1, 0)
    game = played(match(dead_end="wins"), "意气风发", "发扬光大", "大吉大利", "利欲熏心", "心满意足")
    assert game.rewards == (1.0, -1.0) and game.hits == (3, 2)
    game = match(dead_end="forbidden")
    assert game.view("player_0").continuations() == ["意气风发"]
    played(game, "意味深长")
    assert game.end is End.DEAD_END_GIVEN and game.rewards == (-1.0, 1.0)
    assert counts(game, "player_0") == (0, 0, 0, 1)


def test_the_last_turn_by_a_dead_end_that_wins_is_no_draw():
    assert played(match(dead_end="wins", max_turns=1), "意味深长").end is End.DEAD_END_WON
    assert played(match(max_turns=1), "意味深长").end is End.MAX_TURNS


def test_idioms_outside_the_list_are_for_the_judge():
    game = played(match(accept_outside=True), "意料之外")
    assert game.to_move == (JUDGE,)
    view = game.view(JUDGE)
    assert view.asked == "意料之外" and view.chain == () and view.legal == tuple(Ruling)
    assert game.view("player_0").asked == game.view("player_1").asked == ""
    played(game, Ruling.YES)
    assert game.to_move == ("player_1",) and game.chain[-1] == "意料之外"
    assert counts(game, "player_0") == (1, 0, 1, 0)
    played(game, RESIGN)
    assert game.rewards == (1.0, -1.0, 0.0)


@pytest.mark.parametrize(("ruling", "end"), [(Ruling.NO, End.REJECTED), (Ruling.ABSTAIN, End.NO_RULING)])
def test_without_a_yes_the_idiom_loses(ruling, end):
    game = played(match(accept_outside=True), "意气风发", "发光发热", ruling)
    assert game.end is end and game.rewards == (1.0, -1.0, 0.0)
    assert counts(game, "player_1") == (0, 0, 1, 0)
    assert game.statistics(JUDGE)["rulings"] == game.statistics(JUDGE)[f"ruled_{ruling}"] == 1


def test_judge_is_not_asked_about_rule_violations():
    assert played(match(accept_outside=True), "天下太平").end is End.WRONG_LINK
    assert played(match(accept_outside=True), "意料之外", Ruling.YES, "意料之外").end is End.WRONG_LINK
    game = played(match({"一心一意": 1.0, "意在大一": 1.0}, accept_outside=True), "意料统一", Ruling.YES, "一心一意")
    assert game.end is End.REPEATED


def test_an_accepted_idiom_outside_the_list_cannot_be_repeated():
    game = match({"一心一意": 1.0, "意在大一": 1.0}, accept_outside=True)
    played(game, "意料统一", Ruling.YES, "一意归意", Ruling.YES, "意料统一")
    assert game.end is End.REPEATED


def test_several_players_share_the_losers_payment():
    game = match(n_players=4, first_player=1)
    assert game.players == ("player_1", "player_2", "player_3", "player_0")
    played(game, "意气风发", "发扬光大", "发扬光大")
    assert game.rewards == pytest.approx((1 / 3, 1 / 3, 1 / 3, -1))
    assert [game.statistics(agent)["hits"] for agent in game.agents] == [0, 1, 1, 0]
    assert [game.statistics(agent)["place"] for agent in game.agents] == [3, 0, 1, 2]


def test_players_forfeit_loses_and_judges_forfeit_does_not():
    game = played(match(accept_outside=True), "意气风发")
    assert game.forfeit(("player_1",)) == (1.0, -1.0, 0.0)
    game = played(match(accept_outside=True), "意料之外")
    assert game.forfeit((JUDGE,)) == (0.0, 0.0, 0.0)


def test_the_seed_draws_start_and_first_player():
    starts = {match(start=None, seed=seed).chain[0] for seed in range(40)}
    assert starts == {"一心一意", "意气风发", "发扬光大", "大吉大利", "利欲熏心"}  # no dead ends
    firsts = {match(first_player="random", seed=seed).players[0] for seed in range(20)}
    assert firsts == {"player_0", "player_1"}
    for seed in range(5):
        assert match(start=None, seed=seed).chain == match(start=None, seed=seed, first_player="random").chain


def test_starts_are_a_fixed_sample_that_the_start_option_numbers():
    game = match(start=None, n_starts=3)
    assert len(game.starts) == 3
    assert match(start=None, n_starts=3, seed=9).starts == game.starts
    assert [match(start=number, n_starts=3).chain[0] for number in range(3)] == list(game.starts)
    assert match(start=2, n_starts=3).statistics("player_0")["start"] == 2
    dead = match(start="意味深长", allow_dead_end_start=True)
    assert dead.chain == ("意味深长",) and len(dead.starts) == len(IDIOMS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_players": 1}, "n_players: expected an integer from 2 to 10, got 1"),
        ({"first_player": 2}, "first_player: expected an integer from 0 to 1, got 2"),
        ({"first_player": "last"}, "first_player: expected one of 'random', got 'last'"),
        ({"link": "sound"}, "link: expected one of 'char', 'pinyin_tone', 'pinyin', got 'sound'"),
        ({"dead_end": "win"}, "dead_end: expected one of .* did you mean 'wins'"),
        ({"max_turns": 0}, "max_turns: expected an integer from 1 to 1000, got 0"),
        ({"n_starts": 0}, "n_starts: expected an integer from 1"),
        ({"accept_outside": 1}, "accept_outside: expected True or False, got 1"),
        ({"allow_dead_end_start": None}, "allow_dead_end_start: expected True or False"),
        ({"start": "天下太平"}, "start: expected an idiom of the list .* got '天下太平'"),
        ({"start": "意味深长"}, "start: expected an idiom that another of the list can follow, got '意味深长'"),
        ({"start": 30}, "start: expected an integer from 0 to 4, got 30"),
        (
            {"idioms": {"意味深长": 1.0}, "start": None},
            "idioms: expected one or more that another of the list can follow",
        ),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(OptionError, match=message):
        match(**options)


@pytest.mark.slow
@settings(deadline=None)
@given(
    moves=st.lists(st.one_of(st.sampled_from([*IDIOMS, "意料之外", "外强中干", RESIGN]), st.just("next")), max_size=30),
    rulings=st.lists(st.sampled_from(list(Ruling)), min_size=30, max_size=30),
    n_players=st.integers(2, 4),
    dead_end=st.sampled_from(["must_answer", "wins", "forbidden"]),
    judge=st.booleans(),
)
def test_hits_determine_the_loser(moves, rulings, n_players, dead_end, judge):
    """The identity of every match: early hits minus late hits is 1 if the early player has won, else 0."""
    game = match(n_players=n_players, dead_end=dead_end, accept_outside=judge, max_turns=9)
    for move, ruling in zip(moves, rulings, strict=False):
        if game.to_move == (JUDGE,):
            game.apply((ruling,))
        elif game.to_move:
            continuations = game.view(game.to_move[0]).continuations()
            game.apply((move if move != "next" else continuations[0] if continuations else RESIGN,))
    hits = [game.hits[game.players.index(agent)] for agent in game.seats]
    assert sum(hits) == len(game.chain) - 1
    assert all(0 <= hits[0] - other <= 1 for other in hits)
    assert sum(game.rewards) == pytest.approx(0)
    if not game.to_move and n_players == 2 and game.end is not End.MAX_TURNS:
        assert hits[0] - hits[1] == (game.rewards[0] > 0)
