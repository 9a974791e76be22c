"""Tournaments between synthetic players of known strength: the resulting order, and the effect of a newcomer on it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import OptionError
from rating.schemes.tournament import Tournament, TournamentRules
from rating.store.records import BUG, FINISHED, Outcome, SeatOutcome
from tests.rating.made_outcomes import duel, play_out, void
from tests.rating.made_schemes import made_setting
from tests.rating.schemes import swiss_prediction as prediction

AGENTS = ("debater_0", "debater_1", *(f"judge_{number}" for number in range(5)))


def tournament(policies, *, agents=AGENTS, role="debater", **rules):
    return Tournament(
        made_setting(
            agents=agents,
            declaration=Declaration(scheme="tournament", rated_roles=(role,)),
            policies=tuple(policies),
            takes=("n_judges",),
            tournament=TournamentRules(**rules),
        )
    )


class Debates:
    """Plays matches at random: the better debater by strengths in Elo, and a majority of judges who err.

    Args:
        strengths: by policy.
        errors: how often each is wrong as a judge.
        seed: of the results.
    """

    def __init__(self, strengths, errors, seed):
        self._strengths = strengths
        self._errors = errors
        self._rng = np.random.default_rng(seed)

    def play(self, matches):
        return [self._play(match) for match in matches]

    def _play(self, match):
        first, second, *judges = match.policies
        assert match.options["n_judges"] == len(judges)
        lead = self._strengths[first] - self._strengths[second]
        better = self._rng.random() < 1 / (1 + 10 ** (-lead / 400))
        votes = [better != (self._rng.random() < self._errors[judge]) for judge in judges]
        reward = 1.0 if 2 * sum(votes) > len(votes) else -1.0
        seats = [SeatOutcome(first, reward, agent=AGENTS[0]), SeatOutcome(second, -reward, agent=AGENTS[1])]
        seats += [SeatOutcome(name, 0.0, agent=f"judge_{k}", rated=False) for k, name in enumerate(judges)]
        return Outcome(match.environment, match.number, match.seed, FINISHED, tuple(seats))


@pytest.mark.slow
def test_tournament_order_matches_a_simulation():
    names = [f"p{index}" for index in range(prediction.POLICIES)]
    strengths = dict(zip(names, prediction.STRENGTHS, strict=True))
    errors = dict(zip(names, prediction.ERRORS, strict=True))
    rng, found = np.random.default_rng(7), []
    for seed in range(50):
        prior = dict(zip(names, rng.permutation(len(names)).astype(float), strict=True))
        compared = tournament(names, prior=prior)
        batches, reason = play_out(compared.schedule(), Debates(strengths, errors, seed))
        assert (len(batches), reason) == (12, "rounds")
        ratings = compared.current_ratings([outcome for batch in batches for outcome in batch])
        found.append(prediction.spearman([ratings[name] for name in names]))
    error = math.hypot(np.std(found, ddof=1) / math.sqrt(len(found)), prediction.MONTE_CARLO_ERROR)
    assert error < 0.02
    assert abs(np.mean(found) - prediction.PREDICTED) < 3.5 * error


@pytest.mark.slow
def test_tournament_newcomer_keeps_the_order():
    names = [f"p{index}" for index in range(9)]
    strengths = {name: 120.0 * index for index, name in enumerate(names)}
    errors = dict.fromkeys(names, 0.15)
    same = apart = 0
    for seed in range(10):
        newcomer = names[seed % 9]
        field = [name for name in names if name != newcomer]
        compared = tournament(names, newcomers=(newcomer,), prior=strengths)
        batches, _ = play_out(compared.schedule(), Debates(strengths, errors, seed))
        assert len(batches) == 12 + 4  # log2 of nine, rounded up
        before, after = (
            compared.current_ratings([outcome for batch in batches[:count] for outcome in batch]) for count in (12, 16)
        )
        same += sorted(field, key=before.get) == sorted(field, key=after.get)
        for weaker in field:
            for stronger in field:
                if before[stronger] - before[weaker] > 80:
                    apart += 1
                    assert after[stronger] > after[weaker]
        met = {seat.policy for batch in batches[12:] for seat in batch[0].seats if seat.rated} - {newcomer}
        distances = {name: abs(after[name] - after[newcomer]) for name in field}
        assert len(met) == 4
        assert np.mean([distances[name] for name in met]) < np.mean(list(distances.values()))
    assert same >= 8 and apart > 200


def played(compared, pairings, *, ties=0, status=FINISHED):
    """The outcomes of pairings, the first of each two winning but for the ties."""
    outcomes = []
    size = compared.setting.tournament.questions
    for first, second in pairings:
        for question in range(size):
            number = len(outcomes)
            winner = None if question < ties else first
            outcomes.append(duel(number, first, second, winner) if status == FINISHED else void(number, first, second))
    return outcomes


def test_tournament_board_has_rounds_and_rating_path():
    compared = tournament("abcdexy", agents=("player_0", "player_1"), role="player", questions=2, newcomers=("x", "y"))
    pairings = ["ab", "cd", "ac", "be", "ad", "ce", "xa", "xb", "bx", "yc", "yd", "ya"]
    outcomes = played(compared, pairings, ties=1)
    board = compared.leaderboard(outcomes, "rounds")
    path = board.facts["path"]
    assert (board.facts["rounds"], board.facts["newcomers"], len(path), board.scheme) == (
        3,
        ("x", "y"),
        12,
        "tournament",
    )
    rows = {row.policy: row for row in board.rows}
    assert {name: row.values["byes"] for name, row in rows.items()} == {
        "a": 0,
        "b": 1,
        "c": 0,
        "d": 1,
        "e": 1,
        "x": 0,
        "y": 0,
    }
    assert {name: row.values["rematches"] for name, row in rows.items() if row.values["rematches"]} == {"b": 1, "x": 1}
    assert rows["a"].tally == (3, 5, 2)
    assert rows["a"].values["elo"] != rows["d"].values["elo"]
    assert [stage.matches for stage in path] == list(range(2, 26, 2))
    assert path[0].ratings["e"] == 1000.0 and "x" not in path[5].ratings and "y" in path[9].ratings
    for stage in path:
        assert math.isclose(np.mean([stage.ratings[name] for name in stage.ratings]), 1000.0, abs_tol=1e-6)
    assert {row.policy: row.rating.value for row in board.rows} == pytest.approx(path[-1].ratings)
    notes = "\n".join(board.notes)
    assert "3 Swiss rounds, 12 pairings complete; placed afterwards: x, y" in notes
    assert "met again: b and x" in notes
    (_, course, grid, _) = compared.figures(board, outcomes)
    assert course.history["x"][0] == (12, 1000.0, 0.0) and len(course.history["x"]) == 7
    assert len(grid.rows) == 12 and grid.header[2:] == [row.policy for row in board.rows]


def test_tournament_board_has_complete_pairings_only():
    compared = tournament("abcd", agents=("player_0", "player_1"), role="player", questions=3)
    outcomes = played(compared, ["ab", "cd"])
    assert len(compared.leaderboard(outcomes[:5]).facts["path"]) == 1
    board = compared.leaderboard([*outcomes[:4], void(4, "c", "d"), outcomes[5]])
    assert (len(board.facts["path"]), board.void_matches, board.matches) == (1, 1, 5)
    nothing = compared.leaderboard([void(0, "a", "b")])
    assert (nothing.facts["path"], nothing.rows[0].rating, nothing.rows[0].values["elo"]) == ((), None, None)
    assert compared.figures(nothing, []) == []


def test_tournament_ranks_follow_the_ties_option():
    # b has won three of four, c one of one and tied three: as halves that is less, without ties it is more.
    results = [("b", "d", "b")] * 3 + [("b", "d", "d")] + [("c", "a", None)] * 3 + [("c", "a", "c")]
    outcomes = [duel(number, *result) for number, result in enumerate(results)]
    half, drop = (
        tournament("abcd", agents=("player_0", "player_1"), role="player", questions=4, ties=ties)
        for ties in ("half", "drop")
    )
    assert [row.policy for row in half.leaderboard(outcomes).rows] == ["b", "c", "a", "d"]
    assert [row.policy for row in drop.leaderboard(outcomes).rows] == ["c", "b", "d", "a"]
    assert half.leaderboard(outcomes).rows[0].rating == drop.leaderboard(outcomes).rows[1].rating
    assert max(half.current_ratings(outcomes).items(), key=lambda item: item[1])[0] == "b"
    assert max(drop.current_ratings(outcomes).items(), key=lambda item: item[1])[0] == "c"
    assert "a tie is left out" in "\n".join(drop.leaderboard(outcomes).notes)


def test_committee_leaves_out_players_and_families():
    ranking = list("abcdefgh")
    rules = TournamentRules(exclude=("b",), families={"a": "x", "d": "x", "f": "y"}, exclude_family=True)
    assert rules.committee(("h", "c"), ranking, size=3, least=3) == ("a", "d", "e")
    assert rules.committee(("a", "c"), ranking, size=3, least=3) == ("e", "f", "g")
    with pytest.raises(OptionError, match="expected 3 judges or more for a against f, got 2"):
        rules.committee(("a", "f"), list("abcdef"), size=3, least=3)


def test_tournament_missing_judges_have_no_seats():
    agents = ("judge_0", "debater_0", "judge_1", "debater_1", "judge_2", "guest")
    setting = made_setting(
        agents=agents,
        declaration=Declaration(rated_roles=("debater",)),
        policies=("a", "b", "c", "d"),
        takes=("n_judges",),
        staff={"guest": ["g"]},
        tournament=TournamentRules(min_judges=1, questions=4),
    )
    compared = Tournament(setting)
    match = compared.schedule().next_batch()[0]
    assert match.options == {"n_judges": 2}
    first, second = match.policies[1], match.policies[3]
    assert match.policies == ("c", first, "d", second, "g") and {first, second} == {"a", "b"}
    lost = [void(number, *match.policies, status=BUG) for number in range(4)]
    assert [set(stage.pair) for stage in compared.path(lost)] == [{"a", "b"}]
    board = compared.leaderboard(lost)
    assert {row.policy for row in board.rows} == {"a", "b"}
    assert {(row.role, row.policy) for row in board.staff} == {("guest", "g"), ("judge", "c"), ("judge", "d")}


def test_tournament_missing_prior_is_the_median():
    rules = TournamentRules(prior={"a": 1.0, "b": 5.0, "c": 9.0, "n": 100.0}, newcomers=("n", "o"))
    assert rules.scores(list("abcdno")) == {"a": 1.0, "b": 5.0, "c": 9.0, "d": 5.0, "n": 100.0, "o": 7.0}
    assert TournamentRules().scores(["a", "b"]) == {"a": 0.0, "b": 0.0}


def test_tournament_fixed_judge_seats_are_required():
    setting = made_setting(
        agents=AGENTS[:4],
        declaration=Declaration(rated_roles=("debater",)),
        policies=("a", "b", "c", "d"),
        tournament=TournamentRules(min_judges=1),
    )
    match = Tournament(setting).schedule().next_batch()[0]
    assert (match.policies[2:], match.options) == (("c", "d"), {})
    with pytest.raises(OptionError, match="expected 2 judges or more for a against b, got 1"):
        Tournament(replace(setting, pool=replace(setting.pool, policies=("a", "b", "c"))))
