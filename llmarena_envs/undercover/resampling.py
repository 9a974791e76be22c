"""Secret words consistent with a player's knowledge."""

from collections.abc import Sequence

from llmarena_envs.undercover.words import WordPair, contains_word, essence


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
