"""The leaderboard of a two-player environment: Bradley-Terry with and without ties and forfeits, and TrueSkill.

Sources: Bradley and Terry 1952 for the ratings to quote; LLMArena (arXiv 2402.16499) for TrueSkill.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rating.records.outcome import Outcome
from rating.schemes import cells
from rating.schemes.figures import Figure, HeadToHead, Intervals, Trajectories
from rating.schemes.leaderboard import (
    RANKS_OF_RATINGS,
    REWARD,
    Leaderboard,
    LeaderboardColumn,
    LeaderboardRow,
    Ranks,
    by_policy,
    common_fields,
    ranked,
    row_fields,
)
from rating.statistics import bradley_terry
from rating.statistics.bradley_terry import BradleyTerryOptions, Comparisons, Standing, Standings, standings
from rating.statistics.estimates import Estimate, WinDrawLoss, pair_table, rate_estimate, tallies
from rating.statistics.met_scores import met_scores
from rating.statistics.results import duels, finished
from rating.statistics.transitivity import against_one_scale
from rating.statistics.trueskill_rating import RunningRatings, Shuffled, TrueSkillOptions, rate, shuffled


@dataclass(frozen=True, kw_only=True)
class SkillRow(LeaderboardRow):
    """A policy of a two-player environment; the ratings are ``None`` without a finished match against another policy.

    Attributes:
        rating: Bradley-Terry rating, in Elo.
        low: lower end of its 95 % interval; ``None`` if it is unbounded.
        high: upper end; likewise.
        is_linked: whether it is in the largest group in which each policy has beaten or tied every other through a chain; the
            prior determines the distance of other policies from that group.
        score: mean score against its opponents, 0 to 1, a tie counts a half (``rating.statistics.met_scores``).
        rating_without_ties: the rating without ties.
        low_without_ties: lower end of its interval; as ``low``.
        high_without_ties: upper end.
        is_linked_without_ties: as ``is_linked``.
        rating_without_forfeits: the rating without forfeited matches.
        low_without_forfeits: lower end of its interval; as ``low``.
        high_without_forfeits: upper end.
        is_linked_without_forfeits: as ``is_linked``.
        forfeited: share of its matches that it forfeited, 0 to 1; ``None`` without a match.
        ended_by_forfeit: share of its matches that either policy forfeited.
        mu: TrueSkill mean, matches applied in match-number order.
        sigma: TrueSkill standard deviation.
        spread: mu and sigma averaged over random match orders, and the order sensitivity of mu.
        tally: wins, draws and losses against other policies.
        first: those on the first seat.
        second: those on the second seat.
    """

    rating: float | None
    low: float | None
    high: float | None
    is_linked: bool | None
    score: Estimate | None
    rating_without_ties: float | None
    low_without_ties: float | None
    high_without_ties: float | None
    is_linked_without_ties: bool | None
    rating_without_forfeits: float | None
    low_without_forfeits: float | None
    high_without_forfeits: float | None
    is_linked_without_forfeits: bool | None
    forfeited: float | None
    ended_by_forfeit: float | None
    mu: float | None
    sigma: float | None
    spread: Shuffled | None
    tally: WinDrawLoss
    first: WinDrawLoss
    second: WinDrawLoss

    @property
    def metric(self) -> float | None:
        """TrueSkill's mu, averaged over match orders."""
        return self.spread.mu if self.spread else None


@dataclass(frozen=True, kw_only=True)
class SkillLeaderboard(Leaderboard):
    """The leaderboard of a two-player environment.

    Attributes:
        connected: whether every policy has beaten or tied every other through a chain of others; if not, the prior
            determines the distances between groups.
        regularised: whether a prior was used although none was requested.
        clusters: number of deals.
        open_questions: caveats, in plain words.
        seat_advantage: of the first seat, in Elo; ``None`` without a match, or if it is not fitted.
        seat_low: lower end of its 95 % interval; ``None`` with a single deal.
        seat_high: upper end.
        position: wins, ties and losses of the first seat, including self-play matches.
        first_share: share of decided matches that the first seat won.
        permutations: number of random match orders for ``spread``.
    """

    rows: Sequence[SkillRow]
    connected: bool
    regularised: bool
    clusters: int
    open_questions: tuple[str, ...]
    seat_advantage: float | None
    seat_low: float | None
    seat_high: float | None
    position: WinDrawLoss
    first_share: Estimate | None
    permutations: int

    def columns(self) -> list[LeaderboardColumn]:
        """Returns ratings and tallies."""
        return [
            RATING,
            SCORE,
            *self.rating_columns(),
            LeaderboardColumn("mu", _skill_cell, 8, wide=True),
            LeaderboardColumn("shuffled", _shuffled_cell, 1, wide=True),
            *TALLIES,
        ]

    def rating_columns(self) -> list[LeaderboardColumn]:
        """Returns the ratings fitted to subsets of the matches."""
        columns = [NO_TIES] if self.has_ties() else []
        if any(row.ended_by_forfeit for row in self.rows):
            columns += [NO_FORFEITS, FORFEITED]
        return columns

    def has_ties(self) -> bool:
        """Returns whether two policies have tied."""
        return any(row.tally.draws for row in self.rows)

    def notes(self) -> list[str]:
        """Returns notes on the ratings and caveats."""
        is_rated = any(row.rating is not None for row in self.rows)
        own = [self.rating_note()] if is_rated else []
        own += [self.seat_note()] if self.matches else []
        return [*own, *self.doubts()]

    def wide_notes(self) -> list[str]:
        """Returns notes on the other ratings."""
        return [
            *self.parts_notes(),
            f"mu: TrueSkill in match order, as in the paper; shuffled: its mean over {self.permutations} random orders of the"
            " matches, by which environments are put together; the ± there is what the order alone does to mu, not how well"
            " it is known",
        ]

    def parts_notes(self) -> list[str]:
        """Returns notes on the ratings fitted to subsets of the matches."""
        notes = []
        if self.has_ties():
            notes.append(f"no ties: fitted without them{_apart(self.rows, 'is_linked_without_ties')}")
        if any(row.ended_by_forfeit for row in self.rows):
            notes.append(
                "no forfeits: fitted to the matches that nobody forfeited"
                f"{_apart(self.rows, 'is_linked_without_forfeits')}; forfeited: share of its matches that the policy forfeited,"
                " and that anybody did"
            )
        return notes

    def ranked_by(self) -> str:
        """Names the rating."""
        return "rating"

    def rank_note(self) -> str:
        """Returns the definition of the ranks."""
        return RANKS_OF_RATINGS

    def rating_note(self) -> str:
        """Returns the definition of the ratings."""
        deals = f"{self.clusters} deal{'' if self.clusters == 1 else 's'}"
        note = (
            f"rating: Bradley-Terry in Elo, mean 1000, with its 95 % interval ({deals}); score: mean with a tie as a half, in %"
            " with its 95 % interval"
        )
        if self.has_ties():
            note += "; since there are ties, differences of ratings tell expected scores, not chances to win"
        return note

    def seat_note(self) -> str:
        """Returns the results of the first seat."""
        note = f"first seat won {self.position.wins}, tied {self.position.draws}, lost {self.position.losses}"
        if self.seat_advantage is None or self.seat_low is None:
            return note
        interval = f"[{cells.number(self.seat_low, 0)}, {cells.number(self.seat_high, 0)}]"
        return f"{note}; its advantage: {cells.number(self.seat_advantage, 0)} Elo {interval}"

    def doubts(self) -> list[str]:
        """Returns the caveats of the ratings."""
        added = ["the data alone determine no finite ratings: a prior was added"] if self.regularised else []
        return [*self.open_questions, *added]

    def figures(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the ratings with their intervals, their history, and the results of every pair."""
        rated = [(row.policy, row.rating, row.low, row.high) for row in self.rows if row.rating is not None]
        intervals = [Intervals(rated, "Bradley-Terry rating in Elo with its 95 % interval")] if rated else []
        found = pair_table(duels(outcomes, with_itself=True))
        names = [row.policy for row in self.rows if row.policy in found]
        table = {one: {other: found[one][other] for other in names} for one in names}
        return [*intervals, *self.course(outcomes), *([HeadToHead(table)] if table else [])]

    def course(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the TrueSkill ratings after every match."""
        history = rate(outcomes).history
        return [Trajectories(history, "TrueSkill mu ± sigma")] if history else []


def skill_leaderboard(
    outcomes: Iterable[Outcome],
    *,
    stop_reason: str = "",
    trueskill: TrueSkillOptions | None = None,
    model: BradleyTerryOptions | None = None,
    permutations: int = 20,
    seed: int = 0,
    growth: float = 1.0,
) -> SkillLeaderboard:
    """Makes the leaderboard of a two-player environment.

    Args:
        outcomes: all its outcomes, including void ones, in any order; at least one.
        stop_reason: why play stopped.
        trueskill: parameters of TrueSkill.
        model: options of the Bradley-Terry fit; by default the width of the prior is fitted to the pool.
        permutations: number of random match orders for the spread of mu.
        seed: of those orders.
        growth: maximum ratio of the number of results to their number at the first look, with a stopping rule (``null_draws``).

    Raises:
        ValueError: if there are no outcomes, or a match does not have two rated seats.
    """
    outcomes = list(outcomes)
    common = common_fields(outcomes, "duels", stop_reason)
    model = model or BradleyTerryOptions(prior_sd="fitted")
    played = finished(outcomes)
    results = duels(played, with_itself=True)
    others = [duel for duel in results if duel.first != duel.second]
    by_seat = tallies(others)
    comparisons = bradley_terry.compare(played)
    fair = [match for match in played if not any(seat.forfeit for seat in match.seats)]
    found = standings(comparisons, model, growth=growth) if comparisons.policies else None
    ratings = {
        "": _by_policy(found),
        "_without_ties": _by_policy(_standings(comparisons, replace(model, ties="drop"))),
        "_without_forfeits": _by_policy(
            found if len(fair) == len(played) else _standings(bradley_terry.compare(fair), model)
        ),
    }
    scores = met_scores(comparisons, found.fitted) if found else {}
    forfeits = _forfeit_rates(played)
    online = RunningRatings(trueskill or TrueSkillOptions())
    for duel in others:
        online.add(duel)
    spread = shuffled(others, trueskill, permutations=permutations, seed=seed)
    rows = []
    for policy, matches in by_policy(outcomes).items():
        first, second = by_seat.get(policy, (WinDrawLoss(), WinDrawLoss()))
        standing = ratings[""].get(policy)
        mu, sigma = online.ratings.get(policy, (None, None))
        rows.append(
            SkillRow(
                **row_fields(matches, policy),
                **_rating_fields(policy, ratings),
                **forfeits.get(policy, {"forfeited": None, "ended_by_forfeit": None}),
                rank=Ranks(standing.best_rank, standing.worst_rank) if standing else None,
                score=scores.get(policy),
                mu=mu,
                sigma=sigma,
                spread=spread.get(policy),
                tally=WinDrawLoss(*(a + b for a, b in zip(first, second, strict=True))),
                first=first,
                second=second,
            )
        )
    position = WinDrawLoss()
    for duel in results:
        position = position.add(duel.score)
    fitted = found.fitted if found else None
    seat = fitted.seat_advantage if fitted and fitted.options.seat_term else None
    reach = fitted.reach * fitted.seat_error if fitted and fitted.clusters > 1 else None
    return SkillLeaderboard(
        **common,
        rows=ranked(rows, lambda row: row.rating),
        established=found.established if found else (),
        connected=fitted.connected if fitted else False,
        regularised=fitted.regularised if fitted else False,
        clusters=len({outcome.seed for outcome in played}),
        open_questions=(*found.notes, *against_one_scale(comparisons)) if found else (),
        seat_advantage=seat,
        seat_low=None if seat is None or reach is None else seat - reach,
        seat_high=None if seat is None or reach is None else seat + reach,
        position=position,
        first_share=rate_estimate(position.wins, position.wins + position.losses),
        permutations=permutations,
    )


def _standings(comparisons: Comparisons, model: BradleyTerryOptions) -> Standings | None:
    return standings(comparisons, model) if comparisons.policies else None


def _by_policy(found: Standings | None) -> dict[str, Standing]:
    return {row.policy: row for row in found.rows} if found else {}


def _rating_fields(policy: str, ratings: Mapping[str, Mapping[str, Standing]]) -> dict[str, Any]:
    """Returns the rating fields of a policy; the keys of ``ratings`` are the suffixes of the field names."""
    fields = {}
    for suffix, found in ratings.items():
        standing = found.get(policy)
        for name in ("rating", "low", "high", "is_linked"):
            fields[name + suffix] = getattr(standing, name) if standing and standing.games else None
    return fields


def _forfeit_rates(played: Iterable[Outcome]) -> dict[str, dict[str, float]]:
    """Returns, by policy, the shares of its matches that it forfeited and that either policy forfeited."""
    matches, own, ended = Counter[str](), Counter[str](), Counter[str]()
    for match in played:
        policies = {seat.policy for seat in match.seats}
        matches.update(policies)
        losers = {seat.policy for seat in match.seats if seat.forfeit}
        if losers:
            own.update(losers)
            ended.update(policies)
    return {
        policy: {"forfeited": own[policy] / count, "ended_by_forfeit": ended[policy] / count}
        for policy, count in matches.items()
    }


def _apart(rows: Sequence[SkillRow], field: str) -> str:
    """Returns a note on the policies that are not linked to the others; the prior determines their distance."""
    apart = [row.policy for row in rows if getattr(row, field) is False]
    return f" (not linked to the others by results: {', '.join(apart)})" if apart else ""


def _skill_cell(row: SkillRow) -> str:
    return "" if row.mu is None else f"{row.mu:.2f} ± {cells.number(row.sigma, 2)}"


def _shuffled_cell(row: SkillRow) -> str:
    return "" if row.spread is None else f"{row.spread.mu:.2f} ± {row.spread.sd:.2f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


RATING = LeaderboardColumn("rating", lambda row: cells.rating(row.rating, row.low, row.high))
SCORE = LeaderboardColumn("score, %", lambda row: cells.score(row.score), 9)
NO_TIES = LeaderboardColumn(
    "no ties",
    lambda row: cells.rating(row.rating_without_ties, row.low_without_ties, row.high_without_ties),
    2,
    wide=True,
)
NO_FORFEITS = LeaderboardColumn(
    "no forfeits",
    lambda row: cells.rating(row.rating_without_forfeits, row.low_without_forfeits, row.high_without_forfeits),
    9,
    wide=True,
)
FORFEITED = LeaderboardColumn(
    "forfeited", lambda row: f"{_share(row.forfeited)} / {_share(row.ended_by_forfeit)}", 9, wide=True
)
TALLIES = (
    LeaderboardColumn("W/D/L", lambda row: cells.tally(row.tally), wide=True),
    LeaderboardColumn("first", lambda row: cells.tally(row.first), 7, wide=True),
    LeaderboardColumn("second", lambda row: cells.tally(row.second), 6, wide=True),
    REWARD._replace(wide=True),
)
