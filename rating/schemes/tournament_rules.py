"""What a run says of a tournament, checked against who plays."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from llmarena_envs.core.options import OptionError, check_choice


@dataclass(frozen=True, kw_only=True)
class TournamentRules:
    """The rules of a tournament.

    Attributes:
        questions: that each pairing plays.
        paired: whether each is played from both seats.
        prior: initial score by policy, larger is better; one that is missing is put at the median.
        ties: what pairings and committees are chosen by, as everybody is ranked: ``half`` counts a tie as half a win of each,
            ``drop`` leaves it out.
        families: family of a policy.
        exclude_family: whether nobody judges its own family.
        exclude: policies that never judge.
        min_judges: judges that do where there are not as many as the environment has seats for; ``None`` for as many as that.
        newcomers: policies that are placed when the rounds are over, in this order.
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
        """Checks that every name is one of ``policies``, and that enough of them play from the beginning.

        Raises:
            OptionError: if one is not; the message names the nearest one that is known.
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
        """Returns the initial score of each of ``policies``, those that are missing at the median of those before them."""
        scores = self._filled([name for name in policies if name not in self.newcomers], {})
        for newcomer in self.newcomers:
            scores |= self._filled([newcomer], scores)
        return scores

    def _filled(self, names: Sequence[str], before: Mapping[str, float]) -> dict[str, float]:
        known = [self.prior[name] for name in (*before, *names) if name in self.prior]
        middle = statistics.median(known) if known else 0.0
        return {name: self.prior.get(name, middle) for name in names}
