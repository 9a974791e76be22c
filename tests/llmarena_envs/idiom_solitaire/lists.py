"""Small lists of idioms, and matches on them."""

import numpy as np

from llmarena_envs.idiom_solitaire.characters import NO_FOLDING
from llmarena_envs.idiom_solitaire.game import IdiomSolitaire
from llmarena_envs.idiom_solitaire.lexicon import Lexicon
from llmarena_envs.idiom_solitaire.links import Links

IDIOMS = {
    "一心一意": 90.0,
    "意气风发": 80.0,
    "意味深长": 40.0,
    "发扬光大": 70.0,
    "大开眼界": 60.0,
    "大吉大利": 30.0,
    "利欲熏心": 20.0,
    "心满意足": 75.0,
    "意在言外": 5.0,
}
"""界, 外, 足 and 长 are dead ends."""


def match(idioms=IDIOMS, *, link="char", start="一心一意", seed=0, **options):
    """Returns a match in its first position, on a list without readings of its own."""
    lexicon = Lexicon(idioms, NO_FOLDING, ())
    game = IdiomSolitaire(Links(lexicon, link), start=start, **options)
    game.reset(np.random.default_rng(seed))
    return game


def played(game, *moves):
    """Returns the match after some moves."""
    for move in moves:
        game.apply((move,))
    return game
