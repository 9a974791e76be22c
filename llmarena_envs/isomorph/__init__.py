"""Isomorphs: a game with other names and the same rules.

``tictactoe_v0?isomorph=7`` renames marks, cells, words and players in every text by the seed 7, and reads replies in the new
names. Positions, views, vectors, actions and rewards stay the same.
"""

from llmarena_envs.isomorph.env import disguised

__all__ = ["disguised"]
