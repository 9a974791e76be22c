"""The tables of a run file: what it may say of each environment, policy, stop rule and budget, key by key."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from llmarena_envs.catalogue import canonical_name
from rating.running.budget import Budget
from rating.running.tournament_config import TournamentConfig
from rating.schemes.stopping import ALIKE_ELO, DEFAULT_RULE, StopRule

ScheduleName = Literal["round_robin", "adaptive"]

ExecutorName = Annotated[
    Literal["auto", "asyncio", "process", "ray"],
    BeforeValidator(lambda name: "asyncio" if name == "async" else name),  # as run files had it
]
Fallback = Literal["forfeit", "random_legal", "noop"]
Count = Annotated[int, Field(ge=1)]
EnvironmentName = Annotated[str, AfterValidator(canonical_name)]
"""A module name; a registry id is read as one, so that each environment has one name in a run."""


class Table(BaseModel):
    """A table that is checked: no key that is not known, no value of another type, no change later."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TurnsConfig(Table):
    """What differs from the preset in the treatment of bad replies; see ``agents.turn.TurnSettings``."""

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
        name: e.g. ``tictactoe_v0`` or ``llmarena/tictactoe-v0``, or ``package.module`` of an environment of your own. A label
            behind ``#`` tells apart what is played twice with different options: ``tictactoe_v0#hint``, ``tictactoe_v0#no_hint``.
        options: constructor options; those not given are the ones the environment declares for rated matches.
        rated_options: whether they are; if not, those not given are as the constructor has them.
        by_deal: options that change from deal to deal, each with its values in turn: ``start = [0, 1, 2]`` gives the first
            deal the start 0, the fourth one 0 again.
        turns: treatment of bad replies where it differs from the run's.
        scheme: the way in which policies are compared, a name of ``rating.schemes.registry``; by default the one that the
            environment declares.
        schedule: ``round_robin``, the fixed cycle of the scheme, or ``adaptive``, which chooses who meets whom from the results
            so far (schemes ``duels`` and ``mean_reward``); by default the run's, where the scheme can, and if the run has none,
            ``adaptive`` with the scheme ``duels`` and ``round_robin`` with all others.
        opponent: the policy on the seats that are not under test, where the scheme has such seats; by default ``random``. With
            the scheme ``field``, one of the pool by name or any other by spec.
        value: statistic of the environment that the schemes ``field`` and ``mean_reward`` average; by default none.
        staff: for each role that is not rated (judges, say) the policies that serve in it, by name or, for those that are not
            in the pool, by spec; seat ``judge_k`` gets policy k of the list, which is begun anew where it is too short.
        seats: the policies on the rated seats, by name and in the order of the agents: ``stop.matches`` matches are played like
            this, each on a deal of its own. By default the scheme seats everybody in turn.
        tournament: rules of the scheme ``tournament`` where they differ from the standard.
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
        """Returns what must not change while a run goes on, but for what the run or the class of the environment decides too."""
        return self.model_dump(exclude={"name", "turns", "schedule", "tournament"})


class PolicyConfig(Table):
    """One policy of the pool.

    Attributes:
        spec: what ``agents.registry.make_policy`` takes.
        name: what tables call it; by default the spec.
        options: constructor options.
        environments: the environments it plays; by default all.
        rated: whether it is compared with others; if not, it only serves as staff where an environment names it.
        withdrawn: whether it is taken out of the run, as if its table were deleted.
    """

    spec: str
    name: str = ""
    options: dict[str, Any] = {}
    environments: list[EnvironmentName] = []
    rated: bool = True
    withdrawn: bool = False

    @property
    def title(self) -> str:
        """What tables call it."""
        return self.name or self.spec


def _check_rule(rule: str) -> str:
    """Returns a stop rule that can be read."""
    StopRule(rule=rule)
    return rule


class StopConfig(Table):
    """When an environment has been played enough; see ``rating.schemes.stopping``.

    Attributes:
        rule: what rated two-player environments are played for; see ``rating.schemes.stopping.grammar``.
        alike: difference in Elo that hardly matters: play ends as well when policies that are not told apart differ by less with
            a probability of 90 %; 0 for never.
        min_matches: matches of each policy before anything can stop; by default 8, and 50 where means are waited for, or under
            the rule ``trueskill``.
        window: own matches ago with which a policy's mu is compared.
        eps: change of mu that counts as none.
        sigma: sigma that counts as certain.
        max_matches: scheduled matches of each policy after which no batch is begun in any case; a batch is whole cycles of
            the schedule with at least thirty matches of each policy, or as many as this if it is less, so up to a batch more is
            played.
        matches: of each policy in environments that are not rated: as undercover, or with itself in a
            co-operative game.
        half_width: of the 95 % interval of every policy's mean at which the schemes ``field`` and ``mean_reward`` stop,
            instead of after ``matches``.
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

    def rated_rule(self) -> StopRule:
        """Returns the rule of rated two-player environments."""
        return StopRule(**self.model_dump(exclude={"matches", "half_width"}))


class BudgetConfig(Table):
    """How much the run may take; by default any amount.

    Attributes:
        cost: of all calls of models, in the currency of the prices.
        tokens: read and written by all calls of models.
        hours: that one session may take.
    """

    cost: Annotated[float, Field(gt=0)] | None = None
    tokens: Count | None = None
    hours: Annotated[float, Field(gt=0)] | None = None

    def budget(self) -> Budget:
        """Returns the budget."""
        return Budget(self.cost, self.tokens, None if self.hours is None else 3600 * self.hours)


class RatingsConfig(Table):
    """When a rating is shown.

    Attributes:
        max_fallbacks: share of turns that may be played for a policy, by the move that stands in for a reply without one; above
            it its rating is withheld. 1 for never.
    """

    max_fallbacks: Annotated[float, Field(ge=0, le=1)] = 0.5
