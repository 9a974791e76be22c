"""Players of idiom solitaire; ``random`` of ``general`` plays any idiom of the list that goes on with the chain.

They know the referee's list, or a part of it, and never try an idiom outside it; as judges they therefore say no.
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache

from agents.policy import ScriptedPolicy
from llmarena_envs.core.options import OptionError, check_int
from llmarena_envs.idiom_solitaire.game import MUST_ANSWER, WINS, IdiomView, Ruling
from llmarena_envs.idiom_solitaire.lexicon import Lexicon
from llmarena_envs.idiom_solitaire.links import Links, unused

GIVE_UP = "认输"
"""Read as giving up in every language."""


class IdiomPlayer(ScriptedPolicy):
    """Gives one of the idioms that it knows, and gives up if it knows none."""

    def __call__(self, view: IdiomView) -> str:
        """Returns an idiom, or the verdict of a judge."""
        if view.legal:
            return f"verdict: {Ruling.NO}"
        known = self.known(view)
        return self.choose(self.best(view, known)) if known else GIVE_UP

    def known(self, view: IdiomView) -> Sequence[str]:
        """Returns the idioms that it could give."""
        return view.continuations()

    @abstractmethod
    def best(self, view: IdiomView, known: Sequence[str]) -> Sequence[str]:
        """Returns those of its idioms between which it draws lots."""


class FewestContinuations(IdiomPlayer):
    """Gives the idiom that leaves the next player the fewest idioms to go on with, a dead end if it can."""

    def best(self, view: IdiomView, known: Sequence[str]) -> Sequence[str]:
        """Returns the idioms that leave the fewest."""
        left = {idiom: len(unused(view.links, (*view.chain, idiom))) for idiom in known}
        least = min(left.values())
        return [idiom for idiom in known if left[idiom] == least]


class Common(IdiomPlayer):
    """Knows the most common idioms only, and gives any of them that fits.

    Args:
        k: how many idioms it knows.
    """

    def __init__(self, k: int = 1000) -> None:
        check_int("k", k, 1, 1_000_000)
        self._k = k

    def known(self, view: IdiomView) -> Sequence[str]:
        """Returns those of the idioms that it knows."""
        vocabulary = _most_common(view.links.lexicon, self._k)
        return [idiom for idiom in view.continuations() if idiom in vocabulary]

    def best(self, view: IdiomView, known: Sequence[str]) -> Sequence[str]:
        """Returns all that fit."""
        return known


@lru_cache(maxsize=8)
def _most_common(lexicon: Lexicon, k: int) -> frozenset[str]:
    return frozenset(lexicon.by_rank[:k])


class Solver(IdiomPlayer):
    """Plays small lists of two players perfectly: wins where it can, else draws, by searching all that may follow."""

    MAX_IDIOMS = 100
    MAX_POSITIONS = 500_000

    def reset(self, agent: str, seed: int) -> None:
        """Begins a match."""
        super().reset(agent, seed)
        self._search: Search | None = None

    def best(self, view: IdiomView, known: Sequence[str]) -> Sequence[str]:
        """Returns the idioms of greatest value.

        Raises:
            OptionError: if the match is too large to be searched, or has more than two players.
        """
        size = len(view.links.lexicon)
        if size > self.MAX_IDIOMS or len(view.players) > 2:
            raise OptionError(
                f"solver: expected two players and a list of at most {self.MAX_IDIOMS} idioms, got {len(view.players)} players "
                f"and {size} idioms; choose another player, or give a list of your own with idioms="
            )
        if self._search is None:
            self._search = Search(view.links, view.dead_end, view.max_turns, self.MAX_POSITIONS)
        values = {idiom: self._search.value_of((*view.chain, idiom)) for idiom in known}
        most = max(values.values())
        return [idiom for idiom in known if values[idiom] == most]


class Search:
    """The values of positions of one match for the player who has moved last: 1 won, 0 drawn, -1 lost.

    Args:
        links: the rule by which idioms follow each other, and the list.
        dead_end: as in ``IdiomView``.
        max_turns: number of idioms after which the match is drawn.
        max_positions: number of positions after which the search gives up.
    """

    def __init__(self, links: Links, dead_end: str, max_turns: int, max_positions: int) -> None:
        self._links = links
        self._dead_end = dead_end
        self._max_turns = max_turns
        self._max_positions = max_positions
        self._values: dict[tuple[str, frozenset[str]], int] = {}

    def value_of(self, chain: tuple[str, ...]) -> int:
        """Returns the value of a chain whose last idiom has just been given.

        Raises:
            OptionError: if too many positions follow.
        """
        key = chain[-1], frozenset(chain)
        if key not in self._values:
            if len(self._values) >= self._max_positions:
                raise OptionError(
                    f"solver: expected a list with at most {self._max_positions} positions; give a smaller one with idioms="
                )
            self._values[key] = self._compute(chain)
        return self._values[key]

    def _compute(self, chain: tuple[str, ...]) -> int:
        last = len(chain) > self._max_turns
        followers = unused(self._links, chain)
        if not followers and self._dead_end != MUST_ANSWER:
            return 1 if self._dead_end == WINS else -1
        if last:
            return 0
        best = -1  # what giving up is worth
        for idiom in followers:
            best = max(best, self.value_of((*chain, idiom)))
            if best == 1:
                break
        return -best


BASELINES = {"fewest": FewestContinuations, "common": Common, "solver": Solver}
