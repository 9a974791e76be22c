"""Battles read from a run, and the judging of their first answers by the committees of the whole debates."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agents.baselines.debate import BASELINES
from agents.registry import split_spec
from benchmarks.auto_arena.pool import DEBATE
from benchmarks.auto_arena.stories import FINAL
from benchmarks.experiments.replays import played
from benchmarks.experiments.runs import PlayedRun
from llmarena_envs.core.declaration import role_of
from llmarena_envs.debate.game import DEBATERS, Debate
from llmarena_envs.debate.protocol import FIRST_ANSWERS
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig, PolicyConfig, StopConfig
from rating.store.records import Match, Record

GIVEN_ANSWERS = "benchmarks.auto_arena.given_answers.env"
SHARED_OPTIONS = (
    "discussion",
    "discussion_rounds",
    "quorum",
    "both_orders",
    "words",
    "counter",
    "judge_sees_think",
    "language",
)  # fmt: skip
"""Options of a debate that concern its judging."""

NOBODY = PolicyConfig(name="first answers", spec="random")
"""Policy on the debaters' seats when only judges act."""


class Verdict(NamedTuple):
    """The verdict of a committee.

    Attributes:
        winner: 0 for A, 1 for B, 2 for a tie.
        given: each judge's verdict; negative for none.
    """

    winner: float
    given: tuple[float, ...]

    @property
    def lead(self) -> float:
        """Votes for A minus votes for B, as a share of the verdicts; -1 to 1."""
        votes = [verdict for verdict in self.given if verdict >= 0]
        return (votes.count(0.0) - votes.count(1.0)) / len(votes) if votes else 0.0


class Battle(NamedTuple):
    """A judged debate.

    Attributes:
        match: its match.
        game: its final state.
        first_answers: input of the judges for its first answers alone.
        sides: policies of A and B.
        committee: policies of the judges, seat by seat.
        verdict: on the whole debate.
    """

    match: Match
    game: Debate
    first_answers: Mapping[str, Any]
    sides: tuple[str, str]
    committee: tuple[str, ...]
    verdict: Verdict


def read_battles(run: PlayedRun) -> Iterator[Battle]:
    """Yields the whole debates of a run with a result; forfeited debates, and first answers alone, are left out."""
    for record in run.records(DEBATE):
        assert record.outcome is not None
        if record.match.options.get("judge_initial_only") or any(seat.forfeit for seat in record.outcome.seats):
            continue
        game = played(record).game
        policies = {seat.agent: seat.policy for seat in record.outcome.seats}
        first, second = game.sides
        committee = tuple(policies[judge] for judge in game.judges)
        sides = (policies[first], policies[second])
        yield Battle(record.match, game, first_answers(record, game), sides, committee, verdict_of(record))


def verdict_of(record: Record) -> Verdict:
    """Returns the committee's verdict in a finished match."""
    assert record.outcome is not None
    judges = [seat for seat in record.outcome.seats if role_of(seat.agent) == "judge"]
    winner = next(seat.statistics["winner"] for seat in record.outcome.seats)
    return Verdict(winner, tuple(seat.statistics[FINAL] for seat in judges))


def plan_rejudging(
    run: PlayedRun, battles: Iterable[Battle], repeat: int, seed: int, workers: int
) -> dict[str, RunConfig]:
    """Returns a run for each committee that judges the first answers of its battles.

    Args:
        run: the run with the battles.
        battles: battles of the run to judge.
        repeat: number of times they are judged.
        seed: root seed.
        workers: processes.
    """
    by_committee: dict[tuple[str, ...], list[Battle]] = defaultdict(list)
    for battle in battles:
        if battle.committee:
            by_committee[battle.committee].append(battle)
    options = run.config.options(DEBATE)
    shared = {name: options[name] for name in SHARED_OPTIONS if name in options}
    plans = {}
    for number, (committee, own) in enumerate(by_committee.items(), start=1):
        environment = EnvironmentConfig(
            name=GIVEN_ANSWERS,
            scheme="self_play",
            options={**shared, "n_judges": len(committee)},
            by_deal={"battle": [dict(battle.first_answers) for battle in own]},
            staff={"judge": list(committee)},
        )
        matches = repeat * len(own)
        plans[f"first_answers_{number}"] = run.config.model_copy(
            update={
                "environment": [environment],
                "policy": [NOBODY, *judges(run.config, committee)],
                "stop": StopConfig(matches=matches, max_matches=max(matches, StopConfig().max_matches)),
                "seed": seed,
                "workers": workers,
                "ahead": 1,
            }
        )
    return plans


def first_answers(record: Record, game: Debate) -> dict[str, Any]:
    """Returns the input of the judges for the first answers of a battle with the final state ``game``."""
    turns = [turn for turn in record.turns if turn.agent in DEBATERS]
    return {
        "match": record.match.number,
        "question": game.question.text,
        "domain": game.question.domain,
        "reference": game.reference,
        "answers": [turns[game.turns.index(turn)].action for turn in FIRST_ANSWERS],
    }


def judges(config: RunConfig, committee: Sequence[str]) -> list[PolicyConfig]:
    """Returns policies of a run as judges; scripted ones get their names outside of debates."""
    found = []
    for title in dict.fromkeys(committee):
        policy = config.find_policy(title)
        name, _ = split_spec(policy.spec)
        spec = policy.spec
        if name in BASELINES:
            known = BASELINES[name]
            spec = f"{known.__module__}:{known.__qualname__}{spec.removeprefix(name)}"
        found.append(PolicyConfig(name=title, spec=spec, options=policy.options, rated=False))
    return found


def rejudged(runs: Mapping[str, PlayedRun]) -> dict[int, list[Verdict]]:
    """Returns the verdicts on first answers by the number of their original match, in the order of judging."""
    found: dict[int, list[Verdict]] = defaultdict(list)
    for run in runs.values():
        if GIVEN_ANSWERS in run.environments():
            for record in run.records(GIVEN_ANSWERS):
                found[record.match.options["battle"]["match"]].append(verdict_of(record))
    return found
