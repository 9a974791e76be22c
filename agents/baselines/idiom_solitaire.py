"""Policies for idiom solitaire; ``random`` of ``general`` plays any idiom of the list that continues the chain.

They know the referee's list, or a part of it, and never use an idiom outside it; as judges they therefore always say no.
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
"""Parsed as giving up in every language."""


class IdiomPlayer(ScriptedPolicy):
    """Plays one of its known idioms, and gives up without one."""

    def __call__(self, view: IdiomView) -> str:
        """Returns an idiom, or the verdict of a judge."""
        if view.legal:
            return f"verdict: {Ruling.NO}"
        known = self.known(view)
        return self.choose(self.best(view, known)) if known else GIVE_UP

    def known(self, view: IdiomView) -> Sequence[str]:
        """Returns its playable idioms."""
        return view.continuations()

    @abstractmethod
    def best(self, view: IdiomView, known: Sequence[str]) -> Sequence[str]:
        """Returns the preferred idioms; one of them is drawn."""


class FewestContinuations(IdiomPlayer):
    """Plays the idiom with the fewest continuations for the next player, a dead end if possible."""

    def best(self, view: IdiomView, known: Sequence[str]) -> Sequence[str]:
        """Returns the idioms with the fewest continuations."""
        left = {idiom: len(unused(view.links, (*view.chain, idiom))) for idiom in known}
        least = min(left.values())
        return [idiom for idiom in known if left[idiom] == least]


class Common(IdiomPlayer):
    """Knows only the most common idioms, and plays any of them.

    Args:
        k: number of known idioms.
    """

    def __init__(self, k: int = 1000) -> None:
        check_int("k", k, 1, 1_000_000)
        self._k = k

    def known(self, view: IdiomView) -> Sequence[str]:
        """Returns its playable idioms."""
        vocabulary = _most_common(view.links.lexicon, self._k)
        return [idiom for idiom in view.continuations() if idiom in vocabulary]

    def best(self, view: IdiomView, known: Sequence[str]) -> Sequence[str]:
        """Returns all playable idioms."""
        return known


@lru_cache(maxsize=8)
def _most_common(lexicon: Lexicon, k: int) -> frozenset[str]:
    return frozenset(lexicon.by_rank[:k])


class Solver(IdiomPlayer):
    """Plays small lists with two players perfectly, by exhaustive search: wins if possible, else draws."""

    MAX_IDIOMS = 100
    MAX_POSITIONS = 500_000

    def reset(self, agent: str, seed: int) -> None:
        """Starts a match."""
        super().reset(agent, seed)
        self._search: Search | None = None

    def best(self, view: IdiomView, known: Sequence[str]) -> Sequence[str]:
        """Returns the idioms of greatest value.

        Raises:
            OptionError: if the match is too large to search, or has more than two players.
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
    """Game values of the positions of one match for the player who moved last: 1 won, 0 drawn, -1 lost.

    Args:
        links: the rule of continuation, and the list.
        dead_end: as in ``IdiomView``.
        max_turns: number of idioms after which the match is drawn.
        max_positions: maximum number of positions to search.
    """

    def __init__(self, links: Links, dead_end: str, max_turns: int, max_positions: int) -> None:
        self._links = links
        self._dead_end = dead_end
        self._max_turns = max_turns
        self._max_positions = max_positions
        self._values: dict[tuple[str, frozenset[str]], int] = {}

    def value_of(self, chain: tuple[str, ...]) -> int:
        """Returns the value of a chain after its last idiom was played.

        Raises:
            OptionError: if there are too many positions.
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
        best = -1  # value of giving up
        for idiom in followers:
            best = max(best, self.value_of((*chain, idiom)))
            if best == 1:
                break
        return -best


BASELINES = {"fewest": FewestContinuations, "common": Common, "solver": Solver}
