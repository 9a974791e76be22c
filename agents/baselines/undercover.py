"""Policies for Undercover.

They describe words by a small table of attributes. A checksum of its letters assigns attributes to a word: this needs no world
knowledge, but all players agree, so clues for the same word resemble each other.
"""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from math import sqrt
from zlib import crc32

from agents.policy import ScriptedPolicy
from llmarena_envs.undercover.game import CLUE, UndercoverView
from llmarena_envs.undercover.words import contains_word, essence, fold, has_cjk

ATTRIBUTES = (
    *("big", "small", "old", "modern", "cheap", "expensive", "common", "rare", "hard", "soft", "warm", "cool"),
    *("quiet", "loud", "bright", "dark", "light", "heavy", "simple", "complex", "fast", "slow", "useful", "pretty"),
)
CHINESE_ATTRIBUTES = (
    *("很大", "小巧", "古老", "现代", "便宜", "昂贵", "常见", "稀有", "坚硬", "柔软", "温暖", "凉爽"),
    *("安静", "吵闹", "明亮", "昏暗", "轻便", "沉重", "简单", "复杂", "快速", "缓慢", "实用", "漂亮"),
)
ATTRIBUTES_OF_A_WORD = 8
ATTRIBUTES_IN_A_CLUE = 2


def attributes(word: str) -> tuple[str, ...]:
    """Returns the attributes of a word, in its own language."""
    table = CHINESE_ATTRIBUTES if has_cjk(word) else ATTRIBUTES
    # Checksums of similar texts are similar; the remainder by a prime mixes them.
    ranked = sorted(table, key=lambda attribute: (crc32(f"{attribute} {fold(word)}".encode()) % 65521, attribute))
    return tuple(ranked[:ATTRIBUTES_OF_A_WORD])


def fragments(clues: Sequence[str]) -> Counter[str]:
    """Counts the pairs of adjacent characters within the words of some clues."""
    words = re.findall(r"[^\W_]+", fold(" ".join(clues)))
    return Counter(word[start : start + 2] for word in words for start in range(max(1, len(word) - 1)))


def cosine(first: Counter[str], second: Counter[str]) -> float:
    """Returns the cosine similarity of two bags: 1 for the same proportions, 0 if they share nothing or one is empty."""
    product = _dot(first, second)
    return product / sqrt(_dot(first, first) * _dot(second, second)) if product else 0.0


def _dot(first: Counter[str], second: Counter[str]) -> int:
    return sum(count * second[fragment] for fragment, count in first.items())


class UndercoverPlayer(ScriptedPolicy):
    """Gives a clue in the clue stage and votes in the vote stage."""

    def __call__(self, view: UndercoverView) -> str:
        """Returns a reply in the game's grammar."""
        if view.stage == CLUE:
            return f"{view.agent}: {self.clue(view)}".rstrip()
        return f"vote: {self.target(view)}"

    @abstractmethod
    def clue(self, view: UndercoverView) -> str:
        """Returns a clue, possibly empty."""

    def target(self, view: UndercoverView) -> str:
        """Returns a uniformly random other living player."""
        return self.draw([vote.target for vote in view.legal])

    def draw(self, choices: Sequence[str]) -> str:
        """Draws one of ``choices``."""
        return choices[int(self.rng.integers(len(choices)))]

    def describe(self, view: UndercoverView, table: Sequence[str]) -> str:
        """Returns a legal clue of two attributes from ``table``, or an empty one without a legal one."""
        given = {essence(message.text) for message in view.clues}
        usable = [attribute for attribute in table if not contains_word(attribute, view.word)]
        joined = ("、" if has_cjk(view.word) else ", ").join
        clues = [joined(parts) for parts in permutations(usable, ATTRIBUTES_IN_A_CLUE)]
        fresh = [clue for clue in clues if essence(clue) not in given]
        return self.draw(fresh) if fresh else ""


class Random(UndercoverPlayer):
    """Names attributes at random and votes at random."""

    def clue(self, view: UndercoverView) -> str:
        """Returns attributes unrelated to the word."""
        table = CHINESE_ATTRIBUTES if has_cjk(view.word) else ATTRIBUTES
        return self.describe(view, [table[index] for index in self.rng.permutation(len(table))[:ATTRIBUTES_OF_A_WORD]])


class Silent(UndercoverPlayer):
    """Gives blank clues, written as its name and a colon, and votes at random."""

    def clue(self, view: UndercoverView) -> str:
        """Returns nothing."""
        return ""


class Similarity(UndercoverPlayer):
    """Names attributes of its word and votes for the player with the clues least similar to the others'."""

    def clue(self, view: UndercoverView) -> str:
        """Returns two attributes of its own word."""
        return self.describe(view, attributes(view.word))

    def target(self, view: UndercoverView) -> str:
        """Returns the other living player with the least mean cosine similarity to the other living players; ties are drawn."""
        bags = {
            agent: fragments([message.text for message in view.clues if message.sender == agent])
            for agent in view.living
        }
        likeness = {
            # Rounded to make the order of summation irrelevant.
            vote.target: round(sum(cosine(bags[vote.target], bags[agent]) for agent in bags if agent != vote.target), 9)
            for vote in view.legal
        }
        least = min(likeness.values())
        return self.draw([agent for agent, value in likeness.items() if value == least])


BASELINES = {"random": Random, "similarity": Similarity, "silent": Silent}
