"""The rules of idiom solitaire."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import NamedTuple

import numpy as np

from llmarena_envs.core.declaration import Channel
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.messages import HOST, MessagePool
from llmarena_envs.core.options import OptionError, check_bool, check_choice, check_int
from llmarena_envs.idiom_solitaire.characters import bare, is_idiom_shaped
from llmarena_envs.idiom_solitaire.links import Links, choose_starts, goes_on, unused
from llmarena_envs.idiom_solitaire.resampling import TRIES, other_chain, other_question

JUDGE = "judge_0"
MAX_PLAYERS = 10

START, IDIOM, ASKED, LOST, RULING = "start", "idiom", "asked", "lost", "ruling"
CHANNELS = {
    START: Channel(HOST, ("player",)),
    IDIOM: Channel("player", ("player",)),
    ASKED: Channel("player", ("judge",)),
    LOST: Channel("player", ("player", "judge")),
    RULING: Channel("judge"),
}
"""Message types: the referee's idiom, accepted ones, ones for the judge, and the losing one."""

RESIGN = ""
"""A player's resignation; every other move is an idiom."""

MUST_ANSWER = "must_answer"
WINS = "wins"
FORBIDDEN = "forbidden"
DEAD_ENDS = (MUST_ANSWER, WINS, FORBIDDEN)


class Ruling(StrEnum):
    """A judge's ruling on an unlisted idiom; without a verdict the list decides."""

    YES = "yes"
    NO = "no"
    ABSTAIN = "abstain"


class End(IntEnum):
    """The cause of the end, as a number in ``infos``."""

    NOT_YET = 0
    WRONG_LINK = 1
    REPEATED = 2
    NOT_LISTED = 3
    REJECTED = 4
    NO_RULING = 5
    DEAD_END_GIVEN = 6
    RESIGNED = 7
    DEAD_END_WON = 8
    MAX_TURNS = 9
    FORFEIT = 10


INVALID = (End.WRONG_LINK, End.REPEATED, End.DEAD_END_GIVEN)
"""Ends by an idiom that breaks a rule of the chain, genuine or not."""


class IdiomView(NamedTuple):
    """An agent's view.

    Attributes:
        agent: the agent.
        to_move: whether it must act.
        legal: a judge's rulings if one is due; empty for players, as any idiom is allowed.
        players: the players in turn order.
        links: the link rule and the idiom list.
        dead_end: rule for idioms without a continuation in the list; see ``IdiomSolitaire``.
        chain: the accepted idioms, the referee's first; empty for a judge.
        turn: number of the current player turn, counted from 1.
        max_turns: number of players' turns after which the match is drawn.
        asked: the idiom a judge must rule on; after the match, the losing idiom; else empty.
        end: the cause of the end.
        decided_by: the player of the last move of a finished match; else empty.
    """

    agent: str
    to_move: bool
    legal: tuple[str, ...]
    players: tuple[str, ...]
    links: Links
    dead_end: str
    chain: tuple[str, ...]
    turn: int
    max_turns: int
    asked: str
    end: End
    decided_by: str

    def continuations(self) -> list[str]:
        """Returns the listed idioms that continue the chain without losing, the most common first."""
        return _safe(self.links, self.chain, self.dead_end)


def _safe(links: Links, chain: tuple[str, ...], dead_end: str) -> list[str]:
    idioms = unused(links, chain)
    return [idiom for idiom in idioms if goes_on(links, (*chain, idiom))] if dead_end == FORBIDDEN else idioms


class IdiomSolitaire(Game[str, IdiomView]):
    """A match; a player's move is an idiom or ``RESIGN``, a judge's a ``Ruling``.

    Args:
        links: the link rule and the idiom list.
        n_players: number of players, 2 to 10.
        first_player: the seat that moves first, or ``"random"``.
        start: the referee's first idiom, its number among the ``n_starts``, or ``None`` for a random one.
        n_starts: number of the referee's candidates; see ``choose_starts``.
        allow_dead_end_start: whether the first idiom can be one without a continuation in the list.
        dead_end: rule for idioms without a continuation in the list: the next player must answer anyway
            (``"must_answer"``), it ``"wins"``, or it is ``"forbidden"`` and loses.
        max_turns: number of players' turns after which the match is drawn.
        accept_outside: whether a judge rules on unlisted idioms.

    Attributes:
        seats: the players in seat order.
        players: the players in turn order.
        starts: the referee's candidates.
        pool: all idioms of the match.
        chain: the accepted ones, the referee's first.
        asked, end, decided_by: as in ``IdiomView``.
        hits: number of accepted idioms of each player, in turn order.
    """

    def __init__(
        self,
        links: Links,
        *,
        n_players: int = 2,
        first_player: str | int = 0,
        start: str | int | None = None,
        n_starts: int = 30,
        allow_dead_end_start: bool = False,
        dead_end: str = MUST_ANSWER,
        max_turns: int = 100,
        accept_outside: bool = False,
    ) -> None:
        check_int("n_players", n_players, 2, MAX_PLAYERS)
        if isinstance(first_player, str):
            check_choice("first_player", first_player, ("random",))
        else:
            check_int("first_player", first_player, 0, n_players - 1)
        check_int("n_starts", n_starts, 1, 100_000)
        check_bool("allow_dead_end_start", allow_dead_end_start)
        check_choice("dead_end", dead_end, DEAD_ENDS)
        check_int("max_turns", max_turns, 1, 1_000)
        check_bool("accept_outside", accept_outside)
        self.seats = tuple(f"player_{seat}" for seat in range(n_players))
        self.agents = (*self.seats, JUDGE) if accept_outside else self.seats
        self.links = links
        self.first_player = first_player
        self.dead_end = dead_end
        self.turns = max_turns
        self.max_turns = max_turns * (1 + accept_outside)
        self.has_judge = accept_outside
        self.perfect_information = not accept_outside
        self._allow_dead_end_start = allow_dead_end_start
        self.starts = choose_starts(links.lexicon, links.link, n_starts, allow_dead_end_start)
        self._fixed_start = None if start is None else self._check_start(start)

    def _check_start(self, start: str | int) -> str:
        if not isinstance(start, str):
            check_int("start", start, 0, len(self.starts) - 1)
            return self.starts[start]
        idiom = self.links.lexicon.find(start)
        if idiom is None:
            raise OptionError(f"start: expected an idiom of the list ({self.links.lexicon!r}), got {start!r:.80}")
        if not (self._allow_dead_end_start or goes_on(self.links, (idiom,))):
            raise OptionError(
                f"start: expected an idiom that another of the list can follow, got {start!r}; choose another one or set "
                "allow_dead_end_start=True"
            )
        return idiom

    def reset(self, rng: np.random.Generator) -> None:
        """Draws the first idiom and the first player, unless fixed by options."""
        start, first = self._fixed_start, self.first_player
        if start is None or isinstance(first, str):
            # Both are always drawn: the idiom of a seed does not depend on the first player.
            drawn, seat = self.starts[int(rng.integers(len(self.starts)))], int(rng.integers(len(self.seats)))
            start = start or drawn
            first = seat if isinstance(first, str) else first
        self.players = self.seats[first:] + self.seats[:first]
        self.pool: MessagePool[str] = MessagePool(CHANNELS, self.agents)
        self.pool = self.pool.with_message(START, HOST, start)
        self.hits = (0,) * len(self.players)
        self.outside = (0,) * len(self.players)
        self.rulings: tuple[Ruling, ...] = ()
        self.asked = ""
        self.end = End.NOT_YET
        self.decided_by = ""
        self.rewards = (0.0,) * len(self.agents)
        self.to_move: tuple[str, ...] = (self._mover(),)

    @property
    def chain(self) -> tuple[str, ...]:
        """The accepted idioms, the referee's first."""
        return self.pool.of(START, IDIOM)

    def _mover(self) -> str:
        """Returns the player to move: every turn but the last of a match adds an idiom."""
        return self.players[(len(self.chain) - 1) % len(self.players)]

    def view(self, agent: str) -> IdiomView:
        """Returns the view of ``agent``: all accepted idioms for players, the idiom to rule on for a judge."""
        judges = agent == JUDGE
        to_move = agent in self.to_move
        legal = tuple(Ruling) if judges and to_move else ()
        asked = self.asked if judges or self.end else ""
        return IdiomView(
            agent,
            to_move,
            legal,
            self.players,
            self.links,
            self.dead_end,
            self.pool.visible_to(agent, START, IDIOM),
            len(self.chain) - (self.end in (End.DEAD_END_WON, End.MAX_TURNS)),
            self.turns,
            asked,
            self.end,
            self.decided_by,
        )

    def why_illegal(self, agent: str, action: str) -> Reason | None:
        """Returns why a move is malformed; an idiom that breaks a rule of the game is legal, but loses."""
        if agent == JUDGE:
            return None if action in tuple(Ruling) else Reason("no_ruling")
        shaped = action == RESIGN or is_idiom_shaped(action)
        return None if shaped else Reason("not_four", {"count": len(bare(action))})

    def apply(self, actions: tuple[str, ...]) -> None:
        """Plays an idiom, resigns, or rules on an unlisted idiom."""
        (action,) = actions
        if self.to_move == (JUDGE,):
            self._rule(Ruling(action))
        elif action == RESIGN:
            self._lose(End.RESIGNED)
        else:
            self._give(action)

    def _give(self, text: str) -> None:
        """Accepts the idiom of the player to move, asks the judge, or makes the player lose."""
        listed = self.links.lexicon.find(text)
        idiom = listed or text
        self.asked = idiom
        if not self.links.may_follow(idiom, self.chain[-1]):
            self._lose(End.WRONG_LINK)
        elif self.links.lexicon.key(idiom) in map(self.links.lexicon.key, self.chain):
            self._lose(End.REPEATED)
        elif listed is None and self.has_judge:
            self.pool = self.pool.with_message(ASKED, self._mover(), idiom)
            self.to_move = (JUDGE,)
        elif listed is None:
            self._lose(End.NOT_LISTED)
        else:
            self._accept(idiom, outside=False)

    def _rule(self, ruling: Ruling) -> None:
        self.rulings += (ruling,)
        if ruling is Ruling.YES:
            self._accept(self.asked, outside=True)
        else:
            self._lose(End.REJECTED if ruling is Ruling.NO else End.NO_RULING)

    def _accept(self, idiom: str, *, outside: bool) -> None:
        chain = (*self.chain, idiom)
        dead_end = self.dead_end != MUST_ANSWER and not goes_on(self.links, chain)
        if dead_end and self.dead_end == FORBIDDEN:
            self._lose(End.DEAD_END_GIVEN)
            return
        mover = self._mover()
        place = self.players.index(mover)
        self.hits = _plus_one(self.hits, place)
        self.outside = _plus_one(self.outside, place) if outside else self.outside
        self.pool = self.pool.with_message(IDIOM, mover, idiom)
        self.asked = ""
        if dead_end:
            self._finish(End.DEAD_END_WON, mover, +1.0)
        elif len(chain) > self.turns:
            self._finish(End.MAX_TURNS, mover, 0.0)
        else:
            self.to_move = (self._mover(),)

    def _lose(self, end: End) -> None:
        self._finish(end, self._mover(), -1.0)

    def _finish(self, end: End, player: str, reward: float) -> None:
        """Ends the match: ``reward`` for the deciding player, the opposite sum for the others."""
        if self.asked:
            self.pool = self.pool.with_message(LOST, self._mover(), self.asked)
        self.to_move = ()
        self.end = end
        self.decided_by = player
        self.rewards = self._shares(player, reward)
        # Hits follow turn order, so they differ by at most one and identify the failing player (DeepEval, section 3.7.2).
        total = len(self.chain) - 1
        if self.hits != tuple((total - place - 1) // len(self.players) + 1 for place in range(len(self.players))):
            raise AssertionError(f"expected {total} hits in turn order, got {self.hits}")

    def _shares(self, player: str, reward: float) -> tuple[float, ...]:
        others = -reward / (len(self.players) - 1)
        shares = [reward if agent == player else others for agent in self.seats]
        return (*shares, 0.0) if self.has_judge else tuple(shares)

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Ends the match: an offending player loses as for any failure; a judge's offence makes no player lose."""
        if offenders == (JUDGE,):
            self._finish(End.FORFEIT, "", 0.0)
        else:
            self._lose(End.FORFEIT)
        return self.rewards

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws the chain for a judge, or for players the idiom to be ruled on unless it is their own.

        Idioms are drawn from the list. The chain keeps idioms accepted by a judge; an idiom to be ruled on becomes any four
        characters that follow the link rule. If a few draws fail, or the match is over, nothing changes.
        """
        if not self.to_move:
            return
        for _ in range(TRIES):
            if agent == JUDGE:
                chain = other_chain(self.links, self.chain, self.asked, rng)
                if chain is not None and self._went_on(chain):
                    self._put_in_place(dict(zip(self.chain, chain, strict=True)))
                    return
            elif self.asked and agent != self._mover():
                question = other_question(self.links, self.chain, rng)
                if question is not None:
                    self._put_in_place({self.asked: question})
                    self.asked = question
                    return

    def _put_in_place(self, idioms: Mapping[str, str]) -> None:
        """Replaces idioms; no idiom may then occur twice."""
        self.pool = self.pool.changed(lambda sent: sent._replace(entry=idioms.get(sent.entry, sent.entry)))

    def _went_on(self, chain: tuple[str, ...]) -> bool:
        """Returns whether this chain has no earlier dead end that would have ended the match."""
        first = 1 if self._allow_dead_end_start else 0
        last = len(chain) if self.dead_end != MUST_ANSWER else 1
        return all(goes_on(self.links, chain[: place + 1]) for place in range(first, last))

    def random_action(self, agent: str, rng: np.random.Generator) -> str:
        """Draws a listed idiom that does not lose, else resigns; a judge says yes or no."""
        if agent == JUDGE:
            return (Ruling.YES, Ruling.NO)[int(rng.integers(2))]
        idioms = _safe(self.links, self.chain, self.dead_end)
        return idioms[int(rng.integers(len(idioms)))] if idioms else RESIGN

    def default_action(self, agent: str) -> str:
        """Returns the action for a missing reply: a player resigns, a judge abstains."""
        return Ruling.ABSTAIN if agent == JUDGE else RESIGN

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns verdict counts of a player's idioms or a judge's rulings; see the environment's page."""
        if agent == JUDGE:
            counts = {f"ruled_{ruling}": float(self.rulings.count(ruling)) for ruling in Ruling}
            return {"rulings": float(len(self.rulings)), **counts}
        place = self.players.index(agent)
        failed = self.decided_by == agent and bool(self.asked)
        invalid = failed and self.end in INVALID
        return {
            "hits": float(self.hits[place]),
            "valid": float(self.hits[place] - self.outside[place]),
            "unknown": float(self.outside[place] + (failed and not invalid)),
            "invalid": float(invalid),
            "place": float(place),
            "start": float(self.starts.index(self.chain[0]) if self.chain[0] in self.starts else -1),
            "end": float(self.end),
        }


def _plus_one(counts: tuple[int, ...], place: int) -> tuple[int, ...]:
    return tuple([count + (index == place) for index, count in enumerate(counts)])
