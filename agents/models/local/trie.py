"""A prefix tree of tokenised legal moves."""

from collections.abc import Sequence
from typing import Any

END = -1
"""Key of the index of a move that ends at a node."""

Node = dict[int, Any]
"""Child nodes by token, and under ``END`` the index of the move that ends here."""


def build_trie(moves: Sequence[Sequence[int]]) -> Node:
    """Returns the root of the tree of moves, each a sequence of tokens; of equal moves the first is used."""
    root: Node = {}
    for index, tokens in enumerate(moves):
        node = root
        for token in tokens:
            node = node.setdefault(token, {})
        node.setdefault(END, index)
    return root


def follow(node: Node) -> tuple[list[int], Node]:
    """Returns the forced tokens, and the node with a choice or the end of a move."""
    tokens: list[int] = []
    while len(node) == 1 and END not in node:
        ((token, node),) = node.items()
        tokens.append(token)
    return tokens, node
