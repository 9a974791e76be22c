"""Regret per move of each policy in the games with solved values, from the records of a run."""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agents.baselines.regret import Regret, regret_of
from llmarena_envs.core.options import OptionError
from rating.schemes import formatting
from rating.schemes.leaderboard import ALWAYS
from rating.stats.estimates import Estimate, bounded_mean, mean_estimate
from rating.store.records import PLAYED, Outcome, Record
from rating.store.replay import Replay, recorded_environment
from rating.viewer.report.tables import Sheet
from rating.viewer.source import RunSource


@dataclass(frozen=True)
class PolicyRegret:
    """Regret of a policy.

    Attributes:
        policy: name of the policy.
        moves: moves of its own; fallback moves are left out.
        regret: mean reward that a move gives up, over solved moves, with a 95 % interval by deal; ``None`` without any.
        mistakes: share of solved moves that give up reward; in bid_v0, of more than one step of the grid.
    """

    policy: str
    moves: int
    regret: Estimate | None
    mistakes: Estimate | None


@dataclass(frozen=True)
class GameRegret:
    """Regret in an environment.

    Attributes:
        environment: its name.
        values: description of the solved values.
        rows: the policies, from the lowest regret.
        left_out: matches that could not be replayed.
    """

    environment: str
    values: str
    rows: list[PolicyRegret]
    left_out: int


@dataclass
class _Moves:
    """Moves of a policy; ``deals`` are the seeds of the solved ones."""

    total: int = 0
    values: list[float] = field(default_factory=list)
    mistakes: list[bool] = field(default_factory=list)
    deals: list[int] = field(default_factory=list)


@dataclass
class _Game:
    """Moves in an environment, by policy."""

    values: str
    moves: dict[str, _Moves] = field(default_factory=lambda: defaultdict(_Moves))
    left_out: int = 0


def regrets_of(source: RunSource, show: Callable[[int, int], None]) -> list[GameRegret]:
    """Returns the regret per move in the environments of a run with solved values.

    Args:
        source: the run.
        show: takes the numbers of matches read and of all matches.

    Raises:
        OptionError: if no environment of the run has solved values.
    """
    solved: dict[tuple[str, str], Regret | None] = {}
    games: dict[str, _Game] = {}
    for number, record in enumerate(source.store.records(), start=1):
        show(number, len(source.outcomes))
        if record.outcome is None or record.outcome.status not in PLAYED:
            continue
        environment = record.match.environment
        key = environment, json.dumps(record.match.options, sort_keys=True)
        if key not in solved:
            solved[key] = regret_of(recorded_environment(record.match).unwrapped.game)
        if (regret := solved[key]) is not None:
            game = games.setdefault(environment, _Game(regret.values))
            game.left_out += not _add(game.moves, record, record.outcome, regret)
    if not games:
        raise OptionError(
            "--regret: expected a run with ended matches of tictactoe_v0, connect_four_v0 or bid_v0, got"
            f" {', '.join(source.environments()) or 'none'}"
        )
    return [
        GameRegret(environment, own.values, _rows(own.moves), own.left_out)
        for environment in source.environments()
        if (own := games.get(environment))
    ]


def _add(moves: dict[str, _Moves], record: Record, outcome: Outcome, regret: Regret) -> bool:
    """Adds the moves of a match, and returns whether its record can be replayed."""
    replay = Replay(record.match)
    policies = {seat.agent: seat.policy for seat in outcome.seats}
    found: list[tuple[str, float | None]] = []
    for turn in record.turns:
        view = replay.env.view(turn.agent) if turn.agent in policies else None
        if view is None or not view.to_move:
            return False
        if not turn.fallback:
            if type(turn.action) is not int or turn.action not in view.legal:
                return False
            found.append((policies[turn.agent], regret(view, turn.action)))
        if replay.play(turn):
            return False
    for policy, value in found:
        own = moves[policy]
        own.total += 1
        if value is not None:
            own.values.append(value)
            own.mistakes.append(value > regret.tolerance)
            own.deals.append(record.match.seed)
    return True


def _rows(moves: Mapping[str, _Moves]) -> list[PolicyRegret]:
    rows = [
        PolicyRegret(
            policy,
            own.total,
            mean_estimate(own.values, own.deals, scale=(0.0, math.inf)),
            bounded_mean(own.mistakes, own.deals),
        )
        for policy, own in moves.items()
    ]
    return sorted(rows, key=lambda row: (row.regret is None, row.regret.value if row.regret else 0.0, row.policy))


def regret_sheet(found: GameRegret) -> Sheet:
    """Returns the table of an environment."""
    rows = [
        [
            row.policy,
            f"{row.moves:,}",
            f"{row.regret.n / row.moves:.0%}" if row.regret else "0%",
            formatting.estimate(row.regret),
            formatting.percent(row.mistakes),
        ]
        for row in found.rows
    ]
    notes = [
        f"regret: reward that a move gives up against solved play, on average ({found.values}); 95 % intervals by deal",
        "policies are compared on the positions that they reached; fallback moves are left out",
        *(
            [f"matches left out because their replay differs from the record: {found.left_out}"]
            if found.left_out
            else []
        ),
    ]
    header = ["policy", "moves", "solved", "regret per move", "mistakes, %"]
    return Sheet(f"{found.environment}: regret", header, rows, notes, [ALWAYS] * len(header), has_names=True)
