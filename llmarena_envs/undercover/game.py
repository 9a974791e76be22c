"""The rules of Undercover."""

import re
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from llmarena_envs.core.declaration import Channel
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.messages import HOST, Message, MessagePool
from llmarena_envs.core.options import OptionError, check_bool, check_choice, check_int
from llmarena_envs.undercover.resampling import number_of, possible_words
from llmarena_envs.undercover.words import MAX_WORD, WordPair, clue_text, contains_word, essence, side_word

CLUE = "clue"
VOTE = "vote"
ORDINARY = "ordinary"
UNDERCOVER = "undercover"
RESULT = "result"
CHANNELS = {
    CLUE: Channel("player", ("player",)),
    VOTE: Channel("player"),
    RESULT: Channel(HOST, ("player",)),
}
MIN_PLAYERS = 3
MAX_PLAYERS = 10
MAX_CLUE = 500
"""Maximum number of characters of a clue."""

GUESS_SEPARATORS = ",;=，；＝、"
"""Separators between guesses, not allowed within a guess."""

UNTOLD = -1.0
"""Value of a statistic that is secret until the match ends."""

_ABOUT_SIDES = ("role", "pair", "swapped")
_ABOUT_GUESSES = ("guesses", "guesses_right", "guesses_strict")

_VOTE_CLUE = re.compile(r"\W*vote\s*[:：=＝]", re.IGNORECASE)
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


class Clue(NamedTuple):
    """A player's clue; an empty text is a blank clue."""

    text: str


class Vote(NamedTuple):
    """A player's vote.

    Attributes:
        target: the suspected player.
        guesses: pairs of a player and its guessed secret word.
    """

    target: str
    guesses: tuple[tuple[str, str], ...] = ()


class Result(NamedTuple):
    """The result of a vote stage.

    Attributes:
        round: number of the round, counted from 1.
        votes: pairs of voter and target, in seat order.
        eliminated: the player who left the game.
    """

    round: int
    votes: tuple[tuple[str, str], ...]
    eliminated: str


class UndercoverView(NamedTuple):
    """A player's view of the match, with the same fields for both sides.

    Attributes:
        agent: the player.
        to_move: whether the player must speak or vote.
        legal: the possible votes (without guesses) in the vote stage; empty in the clue stage.
        word: the player's own secret word.
        stage: ``"clue"`` or ``"vote"``.
        round: number of the round, counted from 1.
        living: the players still in the game, in seat order.
        clues: the clues of the match with round and sender, in order.
        results: the finished vote stages.
        winner: the winning side, ``"ordinary"`` or ``"undercover"``; empty before the end and after a forfeit.
    """

    agent: str
    to_move: bool
    legal: tuple[Vote, ...]
    word: str
    stage: str
    round: int
    living: tuple[str, ...]
    clues: tuple[Message, ...]
    results: tuple[Result, ...]
    winner: str = ""


def most_voted(targets: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the players with the most votes, in order of their names."""
    counts = Counter(targets)
    most = max(counts.values())
    return tuple(sorted(target for target, count in counts.items() if count == most))


def _nonsense(rng: np.random.Generator) -> str:
    return "".join([letters[int(rng.integers(len(letters)))] for letters in (_CONSONANTS, _VOWELS) * 3])


class Undercover(Game[Clue | Vote, UndercoverView]):
    """A position of Undercover; an action is a ``Clue`` or a ``Vote``.

    Args:
        pairs: the word pairs to draw from.
        n_players: number of players, 3 to 10.
        n_undercover: number of undercover players, less than half of all.
        max_rounds: number of rounds, from ``n_undercover`` to ``n_players - 1``.
        seat: seat of the undercover player: ``"random"``, ``"last"`` (the last seats if more than one) or, for a single
            one, its number.
        swap_words: whether the undercover side's word of the pair is random; otherwise it is the second.
        first_player: the first speaker: ``"random"`` or the number of a seat.
        clue_check: whether clues that contain the own word or repeat another player's clue are illegal.
        ask_guess: whether votes can include guesses of the other players' words.

    Attributes:
        pair: index of the match's pair in ``pairs``; -1 if redrawn words are not a pair of the list.
        swapped: whether the undercover side has the first word of the pair.
        undercovers: the undercover players, in seat order.
        words: the secret word of each player, in seat order.
        stage, round, living, winner: as in ``UndercoverView``.
        waiting: the players still to speak in this clue stage, in speaking order.
        pool: the clues and vote results of the match.
        blank: the senders of blank clues, one entry per clue.
        scored_guesses: for each vote of a match with ``ask_guess``, the voter, whether at least one guess was right, and
            whether the words of all other living players were guessed.
    """

    def __init__(
        self,
        pairs: tuple[WordPair, ...],
        *,
        n_players: int = 5,
        n_undercover: int = 1,
        max_rounds: int = 2,
        seat: str | int = "random",
        swap_words: bool = True,
        first_player: str | int = "random",
        clue_check: bool = True,
        ask_guess: bool = False,
    ) -> None:
        check_int("n_players", n_players, MIN_PLAYERS, MAX_PLAYERS)
        check_int("n_undercover", n_undercover, 1, (n_players - 1) // 2)
        check_int("max_rounds", max_rounds, n_undercover, n_players - 1)
        if isinstance(seat, str):
            check_choice("seat", seat, ("random", "last"))
        else:
            check_int("seat", seat, 0, n_players - 1)
            if n_undercover > 1:
                raise OptionError(
                    f"seat: expected 'random' or 'last' with {n_undercover} undercover players, got {seat!r}"
                )
        if isinstance(first_player, str):
            check_choice("first_player", first_player, ("random",))
        else:
            check_int("first_player", first_player, 0, n_players - 1)
        check_bool("swap_words", swap_words)
        check_bool("clue_check", clue_check)
        check_bool("ask_guess", ask_guess)
        self.agents = tuple(f"player_{number}" for number in range(n_players))
        self.max_turns = sum(2 * (n_players - played) for played in range(max_rounds))
        self.pairs = pairs
        self.n_undercover = n_undercover
        self.max_rounds = max_rounds
        self.seat = seat
        self.swap_words = swap_words
        self.first_player = first_player
        self.clue_check = clue_check
        self.ask_guess = ask_guess

    def reset(self, rng: np.random.Generator) -> None:
        """Draws pair, sides, seats, first speaker and tie-breaking lots.

        Draws all of them regardless of options: the remaining draws of a seed do not depend on options.
        """
        size = len(self.agents)
        self.pair = int(rng.integers(len(self.pairs)))
        swapped = bool(rng.integers(2))
        seats = [int(seat) for seat in rng.permutation(size)[: self.n_undercover]]
        first = int(rng.integers(size))
        self._lots = tuple(float(lot) for lot in rng.random(self.max_rounds))

        self.swapped = swapped and self.swap_words
        if self.seat == "last":
            seats = list(range(size - self.n_undercover, size))
        elif self.seat != "random":
            seats = [int(self.seat)]
        if self.first_player != "random":
            first = int(self.first_player)
        ordinary, different = (
            side_word(self.pairs[self.pair], undercover=side, swapped=self.swapped) for side in (False, True)
        )
        self.words = tuple(different if seat in seats else ordinary for seat in range(size))
        self.undercovers = tuple(self.agents[seat] for seat in sorted(seats))

        self._speaking_order = self.agents[first:] + self.agents[:first]
        self.living = self.agents
        self.pool: MessagePool[Any] = MessagePool(CHANNELS, self.agents)
        self.blank: tuple[str, ...] = ()
        self.winner = ""
        self.scored_guesses: tuple[tuple[str, bool, bool], ...] = ()
        self.rewards = (0.0,) * size
        self._start_round(1)

    def _start_round(self, number: int) -> None:
        self.round = number
        self.stage = CLUE
        self.waiting = tuple(agent for agent in self._speaking_order if agent in self.living)
        self.to_move = self.waiting[:1]

    @property
    def clues(self) -> tuple[Message, ...]:
        """The clues of the match."""
        return self.pool.of(CLUE)

    @property
    def results(self) -> tuple[Result, ...]:
        """The results of the finished vote stages."""
        return self.pool.of(RESULT)

    def word(self, agent: str) -> str:
        """Returns the secret word of ``agent``."""
        return self.words[self.agents.index(agent)]

    def view(self, agent: str) -> UndercoverView:
        """Returns the view of ``agent``: its own word and all public information."""
        to_move = agent in self.to_move
        voting = to_move and self.stage == VOTE
        legal = tuple(Vote(target) for target in self.living if target != agent) if voting else ()
        return UndercoverView(
            agent,
            to_move,
            legal,
            self.word(agent),
            self.stage,
            self.round,
            self.living,
            self.pool.visible_to(agent, CLUE),
            self.pool.visible_to(agent, RESULT),
            self.winner,
        )

    def why_illegal(self, agent: str, action: Clue | Vote) -> Reason | None:
        """Returns why a clue or a vote is illegal."""
        if isinstance(action, Vote):
            return self._why_no_vote(agent, action) if self.stage == VOTE else Reason("clue_stage")
        return self._why_no_clue(agent, action.text) if self.stage == CLUE else Reason("vote_stage")

    def _why_no_clue(self, agent: str, text: str) -> Reason | None:
        if len(text) > MAX_CLUE:
            return Reason("long_clue", {"limit": MAX_CLUE, "length": len(text)})
        if text != clue_text(text):
            return Reason("no_line")
        if _VOTE_CLUE.match(text):
            return Reason("clue_is_vote")
        key = essence(text)
        if self.clue_check and key:
            if contains_word(text, self.word(agent)):
                return Reason("secret_word")
            for message in self.clues:
                if message.sender != agent and essence(message.text) == key:
                    return Reason("repeated", {"player": message.sender})
        return None

    def _why_no_vote(self, agent: str, vote: Vote) -> Reason | None:
        if vote.target == agent:
            return Reason("own_vote")
        if vote.target not in self.living:
            others = ", ".join(target for target in self.living if target != agent)
            name = "eliminated" if vote.target in self.agents else "no_such_player"
            return Reason(name, {"target": f"{vote.target:.20}", "others": others})
        if vote.guesses and not self.ask_guess:
            return Reason("no_guesses")
        guessed = [player for player, _ in vote.guesses]
        if not set(guessed) <= set(self.agents) or len(set(guessed)) < len(guessed):
            return Reason("wrong_guesses", {"first": self.agents[0], "last": self.agents[-1]})
        for _, word in vote.guesses:
            if not word or len(word) > MAX_WORD or word != clue_text(word) or set(word) & set(GUESS_SEPARATORS):
                return Reason("wrong_word", {"limit": MAX_WORD})
        return None

    def default_action(self, agent: str) -> Clue | None:
        """Returns the neutral action: a blank clue in the clue stage, none in the vote stage."""
        return Clue("") if self.stage == CLUE else None

    def random_action(self, agent: str, rng: np.random.Generator) -> Clue | Vote:
        """Draws a vote or a clue; clues and guesses are meaningless words."""
        if self.stage == VOTE:
            others = [other for other in self.living if other != agent]
            target = others[int(rng.integers(len(others)))]
            return Vote(target, tuple((other, _nonsense(rng)) for other in others) if self.ask_guess else ())
        while True:
            clue = Clue(_nonsense(rng))
            if not self.why_illegal(agent, clue):
                return clue

    def apply(self, actions: tuple[Any, ...]) -> None:
        """Adds a clue to the pool, or counts the votes of a complete vote stage."""
        if self.stage == VOTE:
            self._count(actions)
            return
        (clue,) = actions
        speaker = self.waiting[0]
        self.pool = self.pool.with_message(CLUE, speaker, Message(self.round, speaker, clue.text))
        if not essence(clue.text):
            self.blank += (speaker,)
        self.waiting = self.waiting[1:]
        if self.waiting:
            self.to_move = self.waiting[:1]
        else:
            self.stage = VOTE
            self.to_move = self.living

    def _count(self, votes: tuple[Vote, ...]) -> None:
        if self.ask_guess:
            self.scored_guesses += tuple(map(self._score_guesses, self.living, votes))
        targets = tuple(vote.target for vote in votes)
        candidates = most_voted(targets)
        eliminated = candidates[int(self._lots[self.round - 1] * len(candidates))]
        result = Result(self.round, tuple(zip(self.living, targets, strict=True)), eliminated)
        self.pool = self.pool.with_message(RESULT, HOST, result)
        self.living = tuple(agent for agent in self.living if agent != eliminated)

        self.winner = self.winner_after(self.results, self.undercovers)
        if not self.winner:
            self._start_round(self.round + 1)
            return
        self.to_move = ()
        self.rewards = self._rewards()

    def _rewards(self) -> tuple[float, ...]:
        undercover_wins = self.winner == UNDERCOVER
        return tuple(1.0 if (agent in self.undercovers) == undercover_wins else -1.0 for agent in self.agents)

    def winner_after(self, results: tuple[Result, ...], undercovers: tuple[str, ...]) -> str:
        """Returns the winning side for these votes and undercover players; empty if the match continues."""
        hidden = len(undercovers) - sum(result.eliminated in undercovers for result in results)
        # A round finds at most one. With a single undercover player: undetected after the last round.
        if hidden > self.max_rounds - len(results):
            return UNDERCOVER
        return "" if hidden else ORDINARY

    def _score_guesses(self, voter: str, vote: Vote) -> tuple[str, bool, bool]:
        guesses = dict(vote.guesses)
        others = [agent for agent in self.living if agent != voter]
        right = [essence(guesses.get(agent, "")) == essence(self.word(agent)) for agent in others]
        return voter, any(right), all(right)

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Ends the match: -1 for an offender, 0 for the others. Statistics then reveal the sides."""
        self.to_move = ()
        return super().forfeit(offenders)

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws the undercover players, the other side's word, and tie-breaking lots of future votes.

        ``agent`` knows its word but not its side. Groups are equally likely if they agree with the votes and no member has said
        its own word. ``possible_words`` lists the candidates for the other word. Options that fix words or seats do not restrict
        the redraw. Facts revealed after the match are kept.
        """
        own, is_over = self.word(agent), not self.to_move
        groups = self._possible_groups(agent)
        self.undercovers = groups[int(rng.integers(len(groups)))]
        is_undercover = agent in self.undercovers
        others = [other for other in self.agents if (other in self.undercovers) != is_undercover]
        if is_over:
            word = next(word for word in self.words if word != own)
            self.rewards = self._rewards() if self.winner else self.rewards
        else:
            clues = [message.text for message in self.clues if self.clue_check and message.sender in others]
            words = possible_words(self.pairs, own, clues, _nonsense(rng))
            word = words[int(rng.integers(len(words)))]
            self.pair = number_of(self.pairs, own, word)
            self.swapped = self.pair >= 0 and self.pairs[self.pair].a == (own if is_undercover else word)
        self.words = tuple(word if other in others else own for other in self.agents)
        self._lots = (*self._lots[: len(self.results)], *rng.random(self.max_rounds - len(self.results)).tolist())

    def _possible_groups(self, agent: str) -> list[tuple[str, ...]]:
        """Returns the groups of undercover players that are possible for ``agent``, in seat order.

        A group must agree with the votes, and no member with the word of ``agent`` has said it. After the match, the true side
        of ``agent`` is fixed.
        """
        said = [clue for clue in self.clues if self.clue_check and contains_word(clue.text, self.word(agent))]
        tellers = {clue.sender for clue in said}
        sides = (False, True) if self.to_move else (agent in self.undercovers,)
        return [
            group
            for group in combinations(self.agents, self.n_undercover)
            if (agent in group) in sides
            and not any((teller in group) == (agent in group) for teller in tellers)
            and self._agrees_with_votes(group)
        ]

    def _agrees_with_votes(self, group: tuple[str, ...]) -> bool:
        """Returns whether each earlier vote left the match open and the last one had its actual outcome."""
        winners = [self.winner_after(self.results[:number], group) for number in range(1, len(self.results) + 1)]
        return not any(winners[:-1]) and winners[-1:] == [self.winner][: len(self.results)]

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns the statistics of ``agent``; side and guess quality are ``UNTOLD`` until the match ends."""
        received, eliminated = 0, 0
        for result in self.results:
            received += [target for _, target in result.votes].count(agent)
            if result.eliminated == agent:
                eliminated = result.round
        statistics = {
            "blank_clues": float(self.blank.count(agent)),
            "votes_received": float(received),
            "eliminated_round": float(eliminated),
        }
        if self.to_move:
            secret = _ABOUT_SIDES + _ABOUT_GUESSES if self.ask_guess else _ABOUT_SIDES
            return statistics | dict.fromkeys(secret, UNTOLD)
        statistics |= {
            "role": float(agent in self.undercovers),
            "pair": float(self.pair),
            "swapped": float(self.swapped),
        }
        if self.ask_guess:
            scores = [(some, every) for voter, some, every in self.scored_guesses if voter == agent]
            statistics |= {
                "guesses": float(len(scores)),
                "guesses_right": float(sum(some for some, _ in scores)),
                "guesses_strict": float(sum(every for _, every in scores)),
            }
        return statistics
