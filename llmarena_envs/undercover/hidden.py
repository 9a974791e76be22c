"""Who may be undercover, and which word the other group may hold, as far as a player knows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from llmarena_envs.undercover.words import WordPair, contains_word, essence

if TYPE_CHECKING:
    from llmarena_envs.undercover.game import Undercover


def possible_groups(game: Undercover, agent: str) -> list[tuple[str, ...]]:
    """Returns the groups of players who may be undercover, in seat order.

    They agree with how the votes ended, and nobody who holds the word of ``agent`` in them has said it. Once the match is over,
    ``agent`` is told its side, which stays.
    """
    clues = [message for message in game.clues if game.clue_check and contains_word(message.text, game.word(agent))]
    tellers = {message.sender for message in clues}
    sides = (False, True) if game.to_move else (agent in game.undercovers,)
    return [
        group
        for group in combinations(game.agents, game.n_undercover)
        if (agent in group) in sides
        and not any((teller in group) == (agent in group) for teller in tellers)
        and _agrees_with_votes(game, group)
    ]


def _agrees_with_votes(game: Undercover, group: tuple[str, ...]) -> bool:
    """Says whether each vote but the last one left the match going on, and the last one came to what it did come to."""
    results = game.results
    winners = [game.winner_after(results[:number], group) for number in range(1, len(results) + 1)]
    return not any(winners[:-1]) and winners[-1:] == [game.winner][: len(results)]


def possible_words(pairs: Sequence[WordPair], own: str, clues: Sequence[str], made_up: str) -> list[str]:
    """Returns the words that the other group may hold: those of the same kind, whatever they are paired with in the list.

    Players are told that both words are alike, and not which list they are from.

    Args:
        pairs: the list.
        own: the player's own word.
        clues: what the other group said and must not have said about its word.
        made_up: a word that stands beside the other one where the list has no more than one.
    """
    kinds = [pair.category for pair in pairs if own in (pair.a, pair.b)]
    words = dict.fromkeys(word for pair in pairs if pair.category in kinds for word in (pair.a, pair.b))
    others = [word for word in words if essence(word) != essence(own)]
    if len(others) < 2:
        others.append(made_up)
    return [word for word in others if not any(contains_word(clue, word) for clue in clues)] or [made_up]


def number_of(pairs: Sequence[WordPair], one: str, other: str) -> int:
    """Returns the number of the pair that two words make, -1 if they make none."""
    return next(
        (number for number, pair in enumerate(pairs) if (one, other) in ((pair.a, pair.b), (pair.b, pair.a))), -1
    )
