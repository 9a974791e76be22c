"""Which word the other group may hold, as far as a player knows."""

from collections.abc import Sequence

from llmarena_envs.undercover.words import WordPair, contains_word, essence


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
