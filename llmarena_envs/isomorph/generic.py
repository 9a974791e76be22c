"""The names of a game without a declaration: the words of its titles and of its moves, and well-known terms."""

import re
import tomllib
from collections.abc import Iterator
from copy import copy
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np

from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.isomorph.declared import Declared, Group
from llmarena_envs.isomorph.renaming import inflected

MATCHES = 3
"""Number of random matches whose moves are read."""

MAX_STAGES = 60
"""Maximum number of stages read of a match."""

MAX_MOVES = 60
"""Maximum number of moves read of a stage."""

_WORD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{3,}(?![A-Za-z0-9])")
_PLAYER = re.compile(r"(?<![A-Za-z0-9])((?:player|Player|PLAYER)[ _])\d")
_CARD = re.compile(r"\b(?:[2-9TJQKA][CDHS]|[CDHS][2-9TJQKA])\b", re.IGNORECASE)
_CODE = re.compile(r"[a-e]+|[ivxl]+|[tjqka]+")
"""Runs of letters that stand for colours, numbers and cards."""


@cache
def _listed(name: str) -> tuple[str, ...]:
    """Returns a list of words of ``generic.toml``."""
    file = resources.files("llmarena_envs.isomorph").joinpath("generic.toml")
    return tuple(tomllib.loads(file.read_text(encoding="utf-8"))[name].split())


class Words(NamedTuple):
    """The words of a game.

    Attributes:
        declared: the names.
        met: the words of its texts; an invented word is none of them.
    """

    declared: Declared
    met: frozenset[str]


def words_of(env: TextEnv, titles: tuple[str, ...]) -> Words:
    """Returns the words of a game, from the moves and texts of a few random matches with fixed seeds.

    Args:
        env: the environment; its position is unchanged.
        titles: names of the game.
    """
    moves, texts = [], [env.codec.rules(agent) for agent in env.possible_agents]
    for move, text in _positions(env):
        moves.append(move)
        texts.append(text)
    named = dict.fromkeys(word for text in (*titles, *moves) for word in _WORD.findall(text))
    mixed = {word.lower(): word for word in named if word not in (word.lower(), word.title(), word.upper())}
    met = frozenset(word.lower() for text in texts for word in _WORD.findall(text))
    kept = _ordinary(texts, met)
    known = dict.fromkeys(word.lower() for word in named if word.lower() not in mixed)
    plain = [word for word in known if word not in kept and _CODE.fullmatch(word) is None]
    verbs, nouns = (
        {word: inflected(word, forms) for word in _listed(f"{forms}s") if word not in kept}
        for forms in ("verb", "noun")
    )
    terms = {form for forms in (*verbs.values(), *nouns.values()) for form in forms}
    # A plural is renamed with its singular.
    words = [word for word in plain if word not in terms and not (word.endswith("s") and word[:-1] in plain)]
    groups = {
        "title": Group(tuple(title for title in dict.fromkeys(titles) if title.lower() not in kept), forms="exact"),
        "mixed": Group(tuple(mixed.values()), forms="exact"),
        "verbs": Group(tuple(word for word, forms in verbs.items() if not met.isdisjoint(forms)), forms="verb"),
        "nouns": Group((*(word for word, forms in nouns.items() if not met.isdisjoint(forms)), *words)),
    }
    player = next(filter(None, map(_PLAYER.search, moves)), None)
    return Words(Declared(groups, player=f"{player[1]}{{}}" if player else "player_{}"), met)


def _ordinary(texts: list[str], met: frozenset[str]) -> frozenset[str]:
    """Returns the words that stay, with their plurals."""
    words = _listed("ordinary")
    if met & {"hearts", "spades"} and any(map(_CARD.search, texts)):
        words = (*words, *_listed("lettered"))
    return frozenset(form for word in words for form in (word, f"{word}s"))


def _positions(env: TextEnv) -> Iterator[tuple[str, str]]:
    """Yields the moves without their label, as lines, and the text of each agent to move at the positions of the matches."""
    for seed in range(MATCHES):
        rng, game = np.random.default_rng(seed), copy(env.game)
        game.reset(rng)
        for _ in range(MAX_STAGES):
            if not game.to_move:
                break
            actions = []
            for agent in game.to_move:
                view = game.view(agent)
                step = -(-len(view.legal) // MAX_MOVES)
                shown = [env.codec.format(action, view) for action in view.legal[::step]]
                yield "\n".join([text.partition(": ")[2] or text for text in shown]), env.codec.observation(view)
                actions.append(game.random_action(agent, rng))
            game.apply(tuple(actions))
