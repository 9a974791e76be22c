"""The tables of a run file: environments, policies, stopping rule and budget."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from llmarena_envs.catalogue import canonical_name
from rating.config.budget import Budget
from rating.config.tournament_config import TournamentConfig
from rating.schemes.conditions import DEFAULT_RULE
from rating.schemes.setting import Stopping
from rating.schemes.stopping import ALIKE_ELO, StopRule

ScheduleName = Literal["round_robin", "adaptive"]

ExecutorName = Literal["auto", "asyncio", "process", "ray"]
Fallback = Literal["forfeit", "random_legal", "noop"]
Count = Annotated[int, Field(ge=1)]
EnvironmentName = Annotated[str, AfterValidator(canonical_name)]
"""A module name; a registry ID is converted, to give each environment one name in a run."""


class Table(BaseModel):
    """A strict, immutable table: no unknown keys, no values of another type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TurnsConfig(Table):
    """Changes to the invalid-reply policy of the preset; see ``agents.turn.TurnSettings``."""

    reasks: Annotated[int, Field(ge=0, le=100)] | None = None
    reask_illegal: bool | None = None
    feedback: bool | None = None
    unparsable: Fallback | None = None
    illegal: Fallback | None = None
    pay_opponents: bool | None = None
    deadline: Annotated[float, Field(gt=0)] | None = None


class EnvironmentConfig(Table):
    """One environment of a run.

    Attributes:
        name: e.g. ``tictactoe_v0`` or ``llmarena/tictactoe-v0``, or the module of your own: ``nim``, ``package.module``. A label
            after ``#`` distinguishes environments played twice with different options: ``tictactoe_v0#hint``,
            ``tictactoe_v0#no_hint``.
        options: constructor options; the others have the values that the environment declares for rated matches.
        rated_options: whether those declared values apply; if not, the defaults of the constructor do.
        by_deal: options varied across deals: name -> values, cycled. ``start = [0, 1, 2]`` gives the first deal the start 0, the
            fourth one 0 again.
        turns: changes to the run's invalid-reply policy.
        scheme: how policies are compared, a name of ``rating.schemes.registry``; by default the environment's.
        schedule: ``round_robin``, the fixed cycle of the scheme, or ``adaptive``, which chooses pairings from earlier results
            (schemes ``duels`` and ``mean_reward``). By default the run's, if the scheme supports it; if the run has none,
            ``adaptive`` with the scheme ``duels`` and ``round_robin`` with all others.
        opponent: the policy on the seats that are not under test, if the scheme has such seats; by default ``random``. With the
            scheme ``field``, a policy of the pool by name or any other by spec.
        value: statistic of the environment that the schemes ``field`` and ``mean_reward`` average; by default none.
        staff: for each unrated role (e.g. judges) its policies, by name or, outside the pool, by spec. Seat ``judge_k`` gets
            policy k of the list, which is cycled if it is too short.
        seats: the policies on the rated seats, by name and in the order of the agents: ``stop.matches`` matches are played with
            these seats, each on its own deal. By default the scheme rotates all policies through the seats.
        tournament: changes to the standard rules of the scheme ``tournament``.
    """

    name: EnvironmentName
    options: dict[str, Any] = {}
    rated_options: bool = True
    by_deal: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}
    turns: TurnsConfig = TurnsConfig()
    scheme: str = ""
    schedule: ScheduleName | None = None
    opponent: str = ""
    value: str = ""
    staff: dict[str, Annotated[list[str], Field(min_length=1)]] = {}
    seats: list[str] = []
    tournament: TournamentConfig | None = None

    def fixed(self) -> dict[str, Any]:
        """Returns the settings that must not change in a run, except those that also depend on other settings or code."""
        return self.model_dump(exclude={"name", "turns", "schedule", "tournament"})


class PolicyConfig(Table):
    """One policy of the pool.

    Attributes:
        spec: argument of ``agents.registry.make_policy``.
        name: name in tables; by default the spec.
        options: constructor options.
        environments: the environments it plays; by default all.
        rated: whether it is rated; if not, it only serves as staff in environments that name it.
        withdrawn: whether it is withdrawn from the run, as if its table were deleted.
    """

    spec: str
    name: str = ""
    options: dict[str, Any] = {}
    environments: list[EnvironmentName] = []
    rated: bool = True
    withdrawn: bool = False

    @property
    def title(self) -> str:
        """Name in tables."""
        return self.name or self.spec


def _check_rule(rule: str) -> str:
    """Returns a stopping rule if it is valid."""
    StopRule(rule=rule)
    return rule


class StopConfig(Table):
    """When an environment has enough matches; see ``rating.schemes.stopping``.

    Attributes:
        rule: stopping rule of rated two-player environments; see ``rating.schemes.conditions``.
        alike: negligible difference in Elo: play also ends when unresolved policies differ by less with a probability of 90 %;
            0 for never.
        min_matches: matches of each policy before play can stop; by default 8, or 50 for rules that wait for means and for the
            rule ``trueskill``.
        window: number of a policy's own matches over which the change of its mu is measured.
        eps: change of mu below which it counts as stable.
        sigma: sigma that counts as certain.
        max_matches: scheduled matches of each policy after which no batch begins. A batch is whole cycles of the schedule with at
            least 30 matches of each policy, or this many if that is fewer; up to one batch more is played.
        matches: matches of each policy in environments that are not rated, e.g. undercover or self-play in a co-operative game.
        half_width: half-width of the 95 % interval of every policy's mean at which the schemes ``field`` and ``mean_reward``
            stop, instead of after ``matches``.
    """

    rule: Annotated[str, AfterValidator(_check_rule)] = DEFAULT_RULE
    alike: Annotated[float, Field(ge=0)] = ALIKE_ELO
    min_matches: Count | None = None
    window: Count = 20
    eps: Annotated[float, Field(gt=0)] = 0.25
    sigma: Annotated[float, Field(gt=0)] = 1.0
    max_matches: Count = 400
    matches: Count = 100
    half_width: Annotated[float, Field(gt=0)] | None = None

    def stopping(self) -> Stopping:
        """Returns the stopping rules."""
        rule = StopRule(**self.model_dump(exclude={"matches", "half_width"}))
        return Stopping(rule=rule, matches=self.matches, half_width=self.half_width)


class BudgetConfig(Table):
    """Limits of the run; by default none.

    Attributes:
        cost: of all model calls, in the currency of the prices.
        tokens: prompt and completion tokens of all model calls.
        hours: duration of one session.
    """

    cost: Annotated[float, Field(gt=0)] | None = None
    tokens: Count | None = None
    hours: Annotated[float, Field(gt=0)] | None = None

    def budget(self, cost: float | None, tokens: int | None, seconds: float | None) -> Budget:
        """Returns the budget of a session with its own limits; ``None`` keeps the limit of the run."""
        duration = None if self.hours is None else 3600 * self.hours
        return Budget(
            self.cost if cost is None else cost,
            self.tokens if tokens is None else tokens,
            duration if seconds is None else seconds,
        )


class RatingsConfig(Table):
    """When a rating is shown.

    Attributes:
        max_fallbacks: maximum share of a policy's turns with a fallback move in place of its reply; above it its rating is
            withheld. 1 to disable.
    """

    max_fallbacks: Annotated[float, Field(ge=0, le=1)] = 0.5
