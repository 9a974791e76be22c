"""Redraws an agent's unknowns: the chain for a judge, the idiom to be ruled on for a player."""

from collections.abc import Sequence

import numpy as np

from llmarena_envs.idiom_solitaire.characters import LENGTH
from llmarena_envs.idiom_solitaire.links import Links

TRIES = 20


def other_chain(links: Links, chain: Sequence[str], asked: str, rng: np.random.Generator) -> tuple[str, ...] | None:
    """Draws a chain of the same length backwards, each time a fitting idiom of the list.

    Args:
        links: the link rule and the idiom list.
        chain: the chain; unlisted idioms are kept, since a judge has accepted them.
        asked: the idiom to be ruled on, which must follow the chain; empty for none.
        rng: random generator.

    Returns:
        The chain; ``None`` if a drawn idiom has no predecessor in the list.
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
    """Draws four characters, from idioms of the list, that can follow a chain and are not listed.

    Returns:
        The characters; ``None`` if the drawn ones cannot follow.
    """
    idioms = links.lexicon.by_rank
    characters = [idioms[int(rng.integers(len(idioms)))][place] for place in range(1, LENGTH)]
    question = chain[-1][-1] + "".join(characters)
    keys = [links.lexicon.key(idiom) for idiom in chain]
    fits = links.may_follow(question, chain[-1]) and links.lexicon.key(question) not in keys
    return question if fits and links.lexicon.find(question) is None else None
