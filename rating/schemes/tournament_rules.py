"""Rules of a tournament and their validation."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from llmarena_envs.core.options import OptionError, check_choice


@dataclass(frozen=True, kw_only=True)
class TournamentRules:
    """The rules of a tournament.

    Attributes:
        questions: questions per pairing.
        paired: whether each question is played in both seat orders.
        prior: initial score by policy, larger is better; the median if missing.
        ties: treatment of ties in the ratings for pairings, committees and ranks: ``half`` counts a tie as half a win for each,
            ``drop`` ignores it.
        families: family of a policy.
        exclude_family: whether policies of a candidate's family are excluded as judges.
        exclude: policies that never judge.
        min_judges: minimum number of judges if the environment has seats for more; ``None`` to require all seats.
        newcomers: policies placed after the rounds, in this order.
    """

    questions: int = 40
    paired: bool = False
    prior: Mapping[str, float] = field(default_factory=dict)
    ties: str = "half"
    families: Mapping[str, str] = field(default_factory=dict)
    exclude_family: bool = False
    exclude: tuple[str, ...] = ()
    min_judges: int | None = None
    newcomers: tuple[str, ...] = ()

    def check(self, policies: Sequence[str]) -> None:
        """Checks that every name is one of ``policies``, and that at least two of them play from the beginning.

        Raises:
            OptionError: if a check fails; for an unknown name, the message suggests the nearest known one.
        """
        for key in ("prior", "families", "exclude", "newcomers"):
            names: Iterable[str] = getattr(self, key)
            for name in names:
                check_choice(f"tournament.{key}", name, policies)
        if len(set(self.newcomers)) < len(self.newcomers):
            raise OptionError(f"tournament.newcomers: expected every name once, got {list(self.newcomers)}")
        if len(policies) - len(self.newcomers) < 2:
            raise OptionError(
                f"tournament.newcomers: expected two policies or more that play from the beginning, got {len(policies)} in all"
                f" and {len(self.newcomers)} newcomers"
            )

    def scores(self, policies: Sequence[str]) -> dict[str, float]:
        """Returns the initial score of each of ``policies``; a missing score is the median of the policies before it."""
        scores = self._filled([name for name in policies if name not in self.newcomers], {})
        for newcomer in self.newcomers:
            scores |= self._filled([newcomer], scores)
        return scores

    def _filled(self, names: Sequence[str], before: Mapping[str, float]) -> dict[str, float]:
        known = [self.prior[name] for name in (*before, *names) if name in self.prior]
        middle = statistics.median(known) if known else 0.0
        return {name: self.prior.get(name, middle) for name in names}
