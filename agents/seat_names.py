"""Names of the seats of a match, and its result in words, for human players."""

from collections.abc import Mapping

from llmarena_envs.core.declaration import Declaration

_OPPOSED = ("duels", "tournament")
"""Schemes in which the rated players compete for the higher reward."""


def seat_name(agent: str, policies: Mapping[str, str], own: str = "") -> str:
    """Returns the name of a seat with its policy or person, e.g. ``minimax (player_1)``, or ``You (player_0)``.

    Args:
        agent: the seat.
        policies: policy name by seat; a seat that ends its policy's name is not repeated.
        own: the reader's seat.
    """
    return _named("You" if agent == own else _policy_name(agent, policies), agent)


def _policy_name(agent: str, policies: Mapping[str, str]) -> str:
    return policies.get(agent, "").removesuffix(agent).rstrip()


def _named(name: str, seats: str) -> str:
    return f"{name} ({seats})" if name else seats


def seating(declaration: Declaration, policies: Mapping[str, str], own: str) -> str:
    """Returns the reader's seat and co-players: ``You (player_0) against minimax (player_1)``; staff after a semicolon.

    Args:
        declaration: of the environment.
        policies: policy name by seat.
        own: the reader's seat; an empty string lists all players.
    """

    def listed(*, rated: bool) -> str:
        others = [agent for agent in policies if agent != own and declaration.is_rated(agent) == rated]
        by_name: dict[str, list[str]] = {}
        for agent in others:
            by_name.setdefault(_policy_name(agent, policies), []).append(agent)
        return ", ".join(_named(name, ", ".join(agents)) for name, agents in by_name.items())

    line, staff = listed(rated=True), listed(rated=False)
    if own:
        is_opposed = declaration.scheme in _OPPOSED and declaration.is_rated(own)
        beside = f" {'against' if is_opposed else 'with'} {line}" if line else ""
        line = f"{seat_name(own, policies, own)}{beside}"
    return f"{line}; {staff}" if staff else line


def result_in_words(
    declaration: Declaration,
    policies: Mapping[str, str],
    rewards: Mapping[str, float],
    own: str = "",
    *,
    undecided: bool = False,
) -> str:
    """Returns who won, or the common reward; empty if the players do not compete.

    Args:
        declaration: of the environment.
        policies: policy name by seat.
        rewards: total reward by seat.
        own: the reader's seat.
        undecided: whether the match has no result.
    """
    rated = {agent: rewards[agent] for agent in rewards if declaration.is_rated(agent)}
    if undecided:
        return "The match has no result."
    if not rated:
        return ""
    best = max(rated.values())
    if declaration.scheme == "cooperation":
        return f"All players: {best:+g}."
    if declaration.scheme in _OPPOSED:
        winners = [agent for agent, reward in rated.items() if reward == best]
        if len(winners) == len(rated) > 1:
            return "The match is a draw."
    elif declaration.scheme == "roles" and declaration.results == "wins":
        winners = [agent for agent, reward in rated.items() if reward > 0]
    else:
        winners = []
    if not winners:
        return ""
    names = [seat_name(agent, policies, own) for agent in winners]
    return f"{', '.join(names[:-1]) + ' and ' if names[:-1] else ''}{names[-1]} won."
