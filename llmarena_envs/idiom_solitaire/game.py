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
from llmarena_envs.idiom_solitaire.hidden import TRIES, other_chain, other_question
from llmarena_envs.idiom_solitaire.links import Links, choose_starts, goes_on, unused

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
"""The referee's idiom, those that are accepted, those that a judge is asked about, and the one by which a match is lost."""

RESIGN = ""
"""What a player plays who gives up; every other move is an idiom."""

MUST_ANSWER = "must_answer"
WINS = "wins"
FORBIDDEN = "forbidden"
DEAD_ENDS = (MUST_ANSWER, WINS, FORBIDDEN)


class Ruling(StrEnum):
    """What a judge says of an idiom that is not in the list; without a verdict the list decides."""

    YES = "yes"
    NO = "no"
    ABSTAIN = "abstain"


class End(IntEnum):
    """By what a match ended; the numbers stand in ``infos``."""

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
    """What an agent knows.

    Attributes:
        agent: the agent.
        to_move: whether it is to act.
        legal: what a judge may say if a ruling is due; the moves of players cannot be listed, as any idiom may be tried.
        players: the players in turn order.
        links: the rule by which idioms follow each other, and the list of them.
        dead_end: what becomes of an idiom after which the list has nothing; see ``IdiomSolitaire``.
        chain: the idioms so far, the referee's first; nothing for a judge.
        turn: number of the present turn of a player, counted from 1.
        max_turns: number of players' turns after which the match is drawn.
        asked: the idiom that a judge is asked about; once the match is over, the one by which it was lost; else empty.
        end: by what the match ended.
        decided_by: the player who made the last move of a match that is over; else empty.
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
        """Returns the idioms of the list that go on with the chain and do not lose by that, the most common first."""
        return _safe(self.links, self.chain, self.dead_end)


def _safe(links: Links, chain: tuple[str, ...], dead_end: str) -> list[str]:
    idioms = unused(links, chain)
    return [idiom for idiom in idioms if goes_on(links, (*chain, idiom))] if dead_end == FORBIDDEN else idioms


class IdiomSolitaire(Game[str, IdiomView]):
    """A match; a move is an idiom or ``RESIGN``, that of a judge a ``Ruling``.

    Args:
        links: the rule by which idioms follow each other, and the list of idioms.
        n_players: number of players, 2 to 10.
        first_player: the seat that moves first, or ``"random"``.
        start: the idiom that the referee gives, its number among the ``n_starts``, or ``None`` for a random one of them.
        n_starts: how many idioms the referee chooses from; see ``choose_starts``.
        allow_dead_end_start: whether the referee may give an idiom after which the list has nothing.
        dead_end: what becomes of an idiom after which the list has nothing: the next player must answer all the same
            (``"must_answer"``), it ``"wins"``, or it is ``"forbidden"`` and loses.
        max_turns: number of players' turns after which the match is drawn.
        accept_outside: whether a judge is asked about idioms that are not in the list.

    Attributes:
        seats: the players in seat order.
        players: the players in turn order.
        starts: the idioms that the referee chooses from.
        pool: all idioms so far.
        chain: those that were accepted, the referee's first.
        asked, end, decided_by: as in ``IdiomView``.
        hits: how many idioms of each player were accepted, in turn order.
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
        """Draws the first idiom and who moves first, unless the options say both."""
        start, first = self._fixed_start, self.first_player
        if start is None or isinstance(first, str):
            # Both are drawn, so that the same seed gives the same idiom whoever moves first.
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
        """The idioms that were accepted, the referee's first."""
        return self.pool.of(START, IDIOM)

    def _mover(self) -> str:
        """Returns the player whose turn it is: every turn but the last of a match adds an idiom."""
        return self.players[(len(self.chain) - 1) % len(self.players)]

    def view(self, agent: str) -> IdiomView:
        """Returns what ``agent`` knows: players everything that was accepted, a judge the idiom in question."""
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
        """Says why a move has not the form of one; an idiom that breaks a rule of the game is a legal move, which loses."""
        if agent == JUDGE:
            return None if action in tuple(Ruling) else Reason("no_ruling")
        shaped = action == RESIGN or is_idiom_shaped(action)
        return None if shaped else Reason("not_four", {"count": len(bare(action))})

    def apply(self, actions: tuple[str, ...]) -> None:
        """Plays an idiom, gives up, or rules on an idiom that is not in the list."""
        (action,) = actions
        if self.to_move == (JUDGE,):
            self._rule(Ruling(action))
        elif action == RESIGN:
            self._lose(End.RESIGNED)
        else:
            self._give(action)

    def _give(self, text: str) -> None:
        """Accepts the idiom of the player whose turn it is, asks the judge about it, or makes the player lose."""
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
        """Ends the match: ``reward`` for the player who decided it, what evens that out for the other players."""
        if self.asked:
            self.pool = self.pool.with_message(LOST, self._mover(), self.asked)
        self.to_move = ()
        self.end = end
        self.decided_by = player
        self.rewards = self._shares(player, reward)
        # Hits are given in turn order, so their numbers differ by one at most, and tell who failed (DeepEval, section 3.7.2).
        total = len(self.chain) - 1
        if self.hits != tuple((total - place - 1) // len(self.players) + 1 for place in range(len(self.players))):
            raise AssertionError(f"expected {total} hits in turn order, got {self.hits}")

    def _shares(self, player: str, reward: float) -> tuple[float, ...]:
        others = -reward / (len(self.players) - 1)
        shares = [reward if agent == player else others for agent in self.seats]
        return (*shares, 0.0) if self.has_judge else tuple(shares)

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Ends the match: an offender loses it like any other player who fails; one by a judge is lost by nobody."""
        if offenders == (JUDGE,):
            self._finish(End.FORFEIT, "", 0.0)
        else:
            self._lose(End.FORFEIT)
        return self.rewards

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws what the judge does not read, the chain, or players, the idiom in question unless it is their own.

        Idioms are drawn from the list; in the chain those stay that a judge has ruled on; an idiom in question becomes any four
        characters that may follow. Where a few draws give nothing that fits, and once a match is over, all stays as it is.
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
        """Puts other idioms in the places of some; no idiom stands in two places."""
        self.pool = self.pool.changed(lambda sent: sent._replace(entry=idioms.get(sent.entry, sent.entry)))

    def _went_on(self, chain: tuple[str, ...]) -> bool:
        """Says whether a match with this chain was not over before, by an idiom after which the list has nothing."""
        first = 1 if self._allow_dead_end_start else 0
        last = len(chain) if self.dead_end != MUST_ANSWER else 1
        return all(goes_on(self.links, chain[: place + 1]) for place in range(first, last))

    def random_action(self, agent: str, rng: np.random.Generator) -> str:
        """Draws an idiom of the list that does not lose, or gives up if there is none; a judge says yes or no."""
        if agent == JUDGE:
            return (Ruling.YES, Ruling.NO)[int(rng.integers(2))]
        idioms = _safe(self.links, self.chain, self.dead_end)
        return idioms[int(rng.integers(len(idioms)))] if idioms else RESIGN

    def default_action(self, agent: str) -> str:
        """Returns what counts for an agent who says nothing: a player gives up, a judge abstains."""
        return Ruling.ABSTAIN if agent == JUDGE else RESIGN

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns how often each verdict fell on idioms of a player, or what a judge has ruled; see the environment's page."""
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
