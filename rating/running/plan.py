"""How each kind of environment is rated: its schedule, its stopping rule and its leaderboard."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from llmarena_envs.catalogue import load_environment, make_environment
from llmarena_envs.core.options import OptionError, check_choice
from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.running.run_file import RunConfig
from rating.schedules.schedule import Stop, schedule
from rating.schemes.leaderboard import leaderboard
from rating.schemes.leaderboard_rows import Leaderboard
from rating.schemes.stopping import CountRule, StopRule, stop_reason

_STANDARD_FIELD = "random"


@dataclass(frozen=True)
class Plan:
    """The plan of one environment in a run.

    Attributes:
        environment: module name.
        policies: names of the policies under test.
        batches: of matches, without end.
        rule: when to stop.
        ahead: how many batches play may run ahead of the rule.
        kind: of the leaderboard.
        details: arguments of the leaderboard.
    """

    environment: str
    policies: list[str]
    batches: Iterator[list[Match]]
    rule: StopRule | CountRule
    ahead: int
    kind: str
    details: dict[str, Any]

    def schedule(self) -> "PlannedSchedule":
        """Returns the batches until the rule fires."""
        return PlannedSchedule(self)

    def stop_reason(self, outcomes: Iterable[Outcome]) -> str:
        """Returns why the environment has been played enough, or an empty string."""
        return stop_reason(outcomes, self.policies, self.rule) or ""

    def leaderboard(self, outcomes: Iterable[Outcome]) -> Leaderboard:
        """Makes the leaderboard; ``outcomes`` must hold one of this environment or more."""
        own = [outcome for outcome in outcomes if outcome.environment == self.environment]
        return leaderboard(own, kind=self.kind, stop_reason=self.stop_reason(own), **self.details)


class PlannedSchedule:
    """The batches of a plan until its rule fires.

    Args:
        plan: the plan; its batches are used up.
    """

    def __init__(self, plan: Plan) -> None:
        self.lag = plan.ahead
        self._plan = plan
        self._outcomes: list[Outcome] = []

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next whole batch."""
        self._outcomes += outcomes

    def next_batch(self) -> list[Match] | Stop:
        """Returns the next batch, or why there is none."""
        reason = self._plan.stop_reason(self._outcomes)
        return Stop(reason) if reason else next(self._plan.batches)


def make_plan(config: RunConfig, environment: str) -> Plan:
    """Makes the plan of an environment.

    Raises:
        OptionError: if the environment cannot be rated with the policies of the run.
    """
    kind = load_environment(environment).declaration.scheme
    policies = config.pool(environment)
    options = config.options(environment)
    env = make_environment(environment, options)
    seats, references = len(env.possible_agents), env.unwrapped.references()
    env.close()
    least = {"duels": 2, "mean_reward": seats, "cooperation": 1, "roles": 1}[kind]
    if len(policies) < least:
        raise OptionError(
            f"{environment}: expected {least} policies or more, got {policies}; name more with [[policy]]"
        )
    if config.opponent(environment) and kind != "roles":
        raise OptionError(
            f"{environment}: opponent: expected none, since policies are rated by playing each other here"
        )
    stop = config.stop
    schedule_kind, details = "round_robin", dict[str, Any]()
    board: dict[str, Any] = {} if kind == "duels" else {"references": references}
    rule: StopRule | CountRule
    if kind == "duels":
        rule = StopRule(
            min_matches=stop.min_matches,
            window=stop.window,
            eps=stop.eps,
            sigma=stop.sigma,
            max_matches=stop.max_matches,
        )
    elif kind == "roles":
        opponent = _opponent(config, environment, policies)
        schedule_kind, details = "field", {"opponent": opponent, "focus_option": "seat", "both_roles": True}
        rule = _count(stop.matches, stop.max_matches, opponent)
        board["opponent"] = opponent
    elif kind == "cooperation":
        schedule_kind = "cross_play" if seats == 2 else "self_play"
        each = 2 * len(policies) - 1 if seats == 2 else 1
        rule = _count(stop.matches * each, stop.max_matches * each)
    else:
        schedule_kind = "round_robin" if seats == 2 else "rotation"
        details = {"shared_deals": True} if seats == 2 else {}
        rule = _count(stop.matches, stop.max_matches)
    batches = schedule(environment, policies, options, config.seed, kind=schedule_kind, seats=seats, **details)
    return Plan(environment, policies, batches, rule, config.ahead, kind, board)


def _count(matches: int, max_matches: int, opponent: str = "") -> CountRule:
    return CountRule(matches=min(matches, max_matches), max_matches=max(max_matches, 2 * matches), opponent=opponent)


def _opponent(config: RunConfig, environment: str, policies: list[str]) -> str:
    """Returns the policy on the seats that are not under test."""
    named = config.opponent(environment)
    if named:
        check_choice(f"{environment}: opponent", named, policies)
        return named
    return _STANDARD_FIELD if _STANDARD_FIELD in policies else policies[0]
