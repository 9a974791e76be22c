"""The gap between a game in other names and in its own: how much of a policy's play depends on the wording.

Both uses of a game in one run have the same deals. A pair is two matches with the same deal and the same policies in the same
seats, one of each use; the matches of a deal are one cluster.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from llmarena_envs.catalogue import EnvironmentName, parse_name
from llmarena_envs.core.options import OptionError, check_choice
from rating.schemes.base import Scheme
from rating.stats.estimates import Estimate, mean_estimate
from rating.stats.results import finished
from rating.stats.simultaneous import DealResult
from rating.stats.units import units_of_means
from rating.store.records import Match, Outcome
from rating.viewer.comparison import Matches, completed_prefix
from rating.viewer.source import RunSource, battles_of

PLAIN, RENAMED = "plain", "renamed"


@dataclass(frozen=True)
class Gap:
    """The gap of one policy.

    Attributes:
        environment: the use in other names.
        policy: the policy.
        is_score: whether results are scores, 0 for a loss to 1 for a win; otherwise they are the results of the scheme.
        plain: mean result in the game's own names, over the pairs.
        renamed: mean result in other names.
        difference: ``renamed`` minus ``plain`` over the deals, with its interval.
        pairs: number of pairs of matches.
        unpaired: number of ended matches in other names without the same match in the game's own names.
    """

    environment: str
    policy: str
    is_score: bool
    plain: float
    renamed: float
    difference: Estimate
    pairs: int
    unpaired: int

    def to_table(self) -> dict[str, Any]:
        """Returns the gap for JSON."""
        return {**asdict(self), "difference": self.difference._asdict()}


def gaps_of(source: RunSource, environment: str = "", against: str = "") -> list[Gap]:
    """Returns the gap of each policy in each renamed environment of a run.

    Args:
        source: the run.
        environment: name of the only renamed environment; empty for all.
        against: the only policy in the other seats; empty for any.

    Raises:
        OptionError: if the run has no renamed environment with the same game in its own names, or no such policy.
    """
    names = {item.name: parse_name(item.name) for item in source.run.config.environment}
    renamed = [name for name, parsed in names.items() if parsed.isomorph is not None and _plain_uses(parsed, names)]
    if not renamed:
        raise OptionError(
            "--isomorph: expected a run with a game in its own names and in others, e.g. tictactoe_v0 and"
            f" tictactoe_v0?isomorph=7; got {', '.join(names)}"
        )
    if environment:
        check_choice("environment", environment, renamed)
        renamed = [environment]
    if against:
        check_choice("--against", against, sorted({policy for name in renamed for policy in source.run.pool(name)}))
    matches: dict[str, list[tuple[Match, Outcome | None]]] = defaultdict(list)
    for match, outcome in source.store.matches():
        matches[match.environment].append((match, outcome))
    return [
        gap
        for name in renamed
        for policy in source.run.pool(name)
        if policy != against
        and (gap := _gap(source, name, _plain_uses(names[name], names), matches, policy, against)) is not None
    ]


def _plain_uses(renamed: EnvironmentName, names: Mapping[str, EnvironmentName]) -> list[str]:
    """Returns the uses of a renamed game in its own names."""
    return [name for name, parsed in names.items() if parsed.module == renamed.module and parsed.isomorph is None]


def _gap(
    source: RunSource, name: str, plain: Sequence[str], matches: Mapping[str, Matches], policy: str, against: str
) -> Gap | None:
    """Returns the gap of a policy; ``None`` without a pair of matches."""
    scheme = source.run.scheme(name)
    ours = _results(scheme, matches[name], policy, against)
    theirs = dict(result for use in plain for result in _results(source.run.scheme(use), matches[use], policy, against))
    pairs = [(theirs[key], own) for key, own in ours if key in theirs]
    cases = [case for before, after in pairs for case in (*_cases(PLAIN, before), *_cases(RENAMED, after))]
    difference = mean_estimate(units_of_means(cases, RENAMED, PLAIN)[1])
    if difference is None:
        return None
    before, after = (fmean(case.value for case in cases if case.policy == side) for side in (PLAIN, RENAMED))
    return Gap(name, policy, scheme.meet, before, after, difference, len(pairs), len(ours) - len(pairs))


_Key = tuple[int, tuple[str, ...], str]
"""Seed, policies and options of a match."""


def _results(scheme: Scheme, matches: Matches, policy: str, against: str) -> list[tuple[_Key, list[DealResult]]]:
    """Returns the results of a policy in each match of the completed prefix."""
    keys = {match.number: _key(match) for match, _ in matches}
    ended, _ = completed_prefix(
        matches,
        lambda match: policy in match.policies and (not against or set(match.policies) <= {policy, against}),
    )
    found = []
    for outcome in finished(ended):
        results = [result for result in _of_match(scheme, outcome) if result.policy == policy]
        if results:
            found.append((keys[outcome.number], results))
    return found


def _key(match: Match) -> _Key:
    return match.seed, match.policies, json.dumps(match.options, sort_keys=True)


def _of_match(scheme: Scheme, outcome: Outcome) -> Iterable[DealResult]:
    """Returns the results of a match: the score of each battle, or the results of a scheme whose policies do not meet."""
    if not scheme.meet:
        return scheme.cases(scheme.own([outcome]))
    return [
        DealResult(policy, outcome.seed, score)
        for battle in battles_of(outcome)
        for policy, score in ((battle.first, battle.score), (battle.second, 1 - battle.score))
    ]


def _cases(side: str, results: Iterable[DealResult]) -> list[DealResult]:
    return [result._replace(policy=side) for result in results]
