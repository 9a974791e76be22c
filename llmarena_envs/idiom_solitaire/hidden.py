"""What an agent does not know of a match: another chain for a judge, another idiom in question for a player."""

from collections.abc import Sequence

import numpy as np

from llmarena_envs.idiom_solitaire.characters import LENGTH
from llmarena_envs.idiom_solitaire.links import Links

TRIES = 20


def other_chain(links: Links, chain: Sequence[str], asked: str, rng: np.random.Generator) -> tuple[str, ...] | None:
    """Draws a chain of the same length from its end to its beginning, each time one of the idioms of the list that fit.

    Args:
        links: the rule by which idioms follow each other, and the list.
        chain: the chain; its idioms that are not in the list stay, since a judge has ruled on them.
        asked: the idiom in question, which must follow the chain; empty for none.
        rng: draws.

    Returns:
        The chain; ``None`` if the draw came to an idiom before which the list has nothing.
    """
    drawn = [asked] if asked else []
    for place in reversed(range(len(chain))):
        idiom = chain[place]
        if links.lexicon.find(idiom) is not None:
            before = chain[place - 1] if place and links.lexicon.find(chain[place - 1]) is None else ""
            idioms = links.precursors(drawn[0]) if drawn else links.lexicon.by_rank
            fitting = [
                each for each in idioms if each not in drawn and not (before and not links.may_follow(each, before))
            ]
            if not fitting:
                return None
            idiom = fitting[int(rng.integers(len(fitting)))]
        drawn.insert(0, idiom)
    return tuple(drawn[: len(chain)])


def other_question(links: Links, chain: Sequence[str], rng: np.random.Generator) -> str | None:
    """Draws four characters that may follow a chain and are not in the list, with characters of the list.

    Returns:
        Them; ``None`` if the draw gave none that may follow.
    """
    idioms = links.lexicon.by_rank
    characters = [idioms[int(rng.integers(len(idioms)))][place] for place in range(1, LENGTH)]
    question = chain[-1][-1] + "".join(characters)
    keys = [links.lexicon.key(idiom) for idiom in chain]
    fits = links.may_follow(question, chain[-1]) and links.lexicon.key(question) not in keys
    return question if fits and links.lexicon.find(question) is None else None
