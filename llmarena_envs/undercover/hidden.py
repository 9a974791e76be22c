"""Undercover groups and words consistent with a player's knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from llmarena_envs.undercover.words import WordPair, contains_word, essence

if TYPE_CHECKING:
    from llmarena_envs.undercover.game import Undercover


def possible_groups(game: Undercover, agent: str) -> list[tuple[str, ...]]:
    """Returns the possible groups of undercover players, in seat order.

    A group must agree with the votes, and no member with the word of ``agent`` has said it. After the match, the true side of
    ``agent`` is fixed.
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
    """Returns whether each earlier vote left the match open and the last one had its actual outcome."""
    results = game.results
    winners = [game.winner_after(results[:number], group) for number in range(1, len(results) + 1)]
    return not any(winners[:-1]) and winners[-1:] == [game.winner][: len(results)]


def possible_words(pairs: Sequence[WordPair], own: str, clues: Sequence[str], made_up: str) -> list[str]:
    """Returns candidates for the other group's word: words of the same kind, regardless of pairing.

    Players know that both words are similar, but not the list.

    Args:
        pairs: the list.
        own: the player's own word.
        clues: clues of the other group, which must not contain its word.
        made_up: an additional candidate if the list has only one.
    """
    kinds = [pair.category for pair in pairs if own in (pair.a, pair.b)]
    words = dict.fromkeys(word for pair in pairs if pair.category in kinds for word in (pair.a, pair.b))
    others = [word for word in words if essence(word) != essence(own)]
    if len(others) < 2:
        others.append(made_up)
    return [word for word in others if not any(contains_word(clue, word) for clue in clues)] or [made_up]


def number_of(pairs: Sequence[WordPair], one: str, other: str) -> int:
    """Returns the index of the pair with these two words, else -1."""
    return next(
        (number for number, pair in enumerate(pairs) if (one, other) in ((pair.a, pair.b), (pair.b, pair.a))), -1
    )
