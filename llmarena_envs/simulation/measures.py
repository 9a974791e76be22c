"""Measures of a match in addition to judgements: exactness, the user's strategies, flaws."""

import statistics
from collections.abc import Mapping, Sequence

from llmarena_envs.core.committee import NONE, VERDICTS, Abstention
from llmarena_envs.core.declaration import role_of
from llmarena_envs.simulation.actions import Rating, Utterance
from llmarena_envs.simulation.protocol import DIALOGUE, PAIRWISE, SIDES, UNKNOWN
from llmarena_envs.simulation.state import SimulationState
from llmarena_envs.simulation.tasks import STATEFUL
from llmarena_envs.simulation.truth import is_exact, is_format_flawed

_NAMES = {
    "user": ("turns", "unformatted", "empty", "truncated"),
    "simulator": ("turns", "exact", "exact_share", "format_flawed", "empty", "truncated", "words"),
    "judge": ("abstained",),
    "match": ("task", "stateful", "engine", "abstentions"),
}


def measures(game: SimulationState, agent: str) -> Mapping[str, float]:
    """Returns the measures of ``agent`` and a match; all are ``UNKNOWN`` until the match is over."""
    role = role_of(agent)
    numbers = dict.fromkeys((*_NAMES[role], *_names_in_mode(game, role), *_NAMES["match"]), UNKNOWN)
    if game.to_move:
        return numbers
    about = {"user": _about_user, "simulator": _about_simulator, "judge": _about_judge}[role](game, agent)
    abstained = sum(isinstance(each, Abstention) for each in game.given) + game.committee.verdicts().count(NONE)
    winner = {"winner": _number(game.committee.winner)} if game.mode == PAIRWISE else {}
    return {
        **numbers,
        **about,
        **winner,
        "task": float(game.number),
        "stateful": float(game.task.type == STATEFUL),
        "engine": float(bool(game.truths)),
        "abstentions": float(abstained),
    }


def _names_in_mode(game: SimulationState, role: str) -> tuple[str, ...]:
    """Returns the names of statistics specific to the mode of a match."""
    if game.mode == PAIRWISE:
        return {"judge": ("verdict", "verdict_swapped", "winner"), "simulator": ("side", "votes", "winner")}[role]
    if role == "judge":
        return ("rating",)
    if role == "user":
        return tuple(f"strategy_{turn}" for turn in range(2, game.turns + 1))
    exact = tuple(f"exact_{turn}" for turn in range(1, game.turns + 1)) if game.mode == DIALOGUE else ()
    return ("spread", *exact)


def _about_user(game: SimulationState, agent: str) -> dict[str, float]:
    own = game.said_by(agent)
    strategies = {f"strategy_{turn}": float(each.strategy) for turn, each in enumerate(own, start=2)}
    return {**strategies, **_flaws(game, own), "unformatted": float(sum(each.unformatted for each in own))}


def _about_simulator(game: SimulationState, agent: str) -> dict[str, float]:
    own = game.said_by(agent)
    about = _flaws(game, own)
    if game.mode == PAIRWISE:
        side = game.simulators.index(agent)
        about |= {"side": float(side), "votes": float(game.committee.verdicts().count(SIDES[side]))}
    elif game.ratings:
        about["spread"] = statistics.pstdev(game.ratings)
    if not own:
        return about
    truths = game.truths if game.mode == DIALOGUE else game.truths[-1:]
    answered = list(zip(own, truths, strict=False))  # the last request can be unanswered
    exact = [float(is_exact(each.text, truth)) for each, truth in answered] or [UNKNOWN] * len(own)
    if game.mode == DIALOGUE:
        about |= {f"exact_{turn}": each for turn, each in enumerate(exact, start=1)}
    if answered:
        about["format_flawed"] = float(is_format_flawed(answered[-1][0].text, answered[-1][1]))
    words = game.counter.words(game.counter.length(own[-1].text))
    return {**about, "exact": exact[-1], "exact_share": statistics.fmean(exact), "words": words}


def _flaws(game: SimulationState, own: Sequence[Utterance]) -> dict[str, float]:
    return {
        "turns": float(game.turn),
        "empty": float(sum(not each.text.strip() for each in own)),
        "truncated": float(sum(each.truncated for each in own)),
    }


def _about_judge(game: SimulationState, agent: str) -> dict[str, float]:
    judge, committee = game.judges.index(agent), game.committee
    given = [session[judge] for session in game.sessions]
    about = {"abstained": float(sum(isinstance(each, Abstention) for each in given))}
    for each in given:
        if isinstance(each, Rating):
            about["rating"] = each.score
    for order, name in enumerate(("verdict", "verdict_swapped")[: len(committee.sessions)]):
        about[name] = _number(committee.last_verdicts(order)[judge])
    return about


def _number(verdict: str) -> float:
    return UNKNOWN if verdict == NONE else float(VERDICTS.index(verdict))
