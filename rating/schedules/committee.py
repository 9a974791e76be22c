"""Judge committees of tournaments.

Source: Auto-Arena (arXiv 2405.20267v1, section 3.3): the five best policies by the current ranking, without the two candidates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agents.families import family_of
from llmarena_envs.core.options import OptionError


@dataclass(frozen=True)
class Committee:
    """Rules for choosing the judges of a pairing among the compared policies.

    Attributes:
        size: members wanted.
        least: members required.
        exclude: policies that never judge.
        families: further families of policies, see ``agents.families``.
        exclude_family: whether policies of a candidate's family are excluded.
    """

    size: int
    least: int
    exclude: tuple[str, ...] = ()
    families: Mapping[str, str] = field(default_factory=dict)
    exclude_family: bool = False

    def members(self, ranking: Sequence[str], pair: tuple[str, str]) -> tuple[str, ...]:
        """Returns the judges of a pair, best first.

        Args:
            ranking: all policies, best first.
            pair: the two candidates.

        Raises:
            OptionError: if fewer than ``least`` policies are eligible.
        """
        related = {family_of(name, self.families) for name in pair} - {""} if self.exclude_family else set()
        barred = {*pair, *self.exclude, *(name for name in ranking if family_of(name, self.families) in related)}
        members = tuple(name for name in ranking if name not in barred)[: self.size]
        if len(members) < self.least:
            raise OptionError(
                f"committee: expected {self.least} judges or more for {pair[0]} against {pair[1]}, got {len(members)}; name"
                " more policies, exclude fewer, let fewer do with min_judges, or name fixed judges in [environment.staff]"
            )
        return members
