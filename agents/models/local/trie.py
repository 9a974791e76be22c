"""A prefix tree over the ways to write the legal moves: what may come next at each token."""

from collections.abc import Sequence
from typing import Any

END = -1
"""The key under which a node holds the move that ends there."""

Node = dict[int, Any]
"""The nodes that follow by token, and under ``END`` the index of the move that ends here."""


def build_trie(moves: Sequence[Sequence[int]]) -> Node:
    """Returns the root of the tree of moves, each a sequence of tokens; of equal ones the first counts."""
    root: Node = {}
    for index, tokens in enumerate(moves):
        node = root
        for token in tokens:
            node = node.setdefault(token, {})
        node.setdefault(END, index)
    return root


def follow(node: Node) -> tuple[list[int], Node]:
    """Returns the tokens that must come next, and the node where there is a choice or a move ends."""
    tokens: list[int] = []
    while len(node) == 1 and END not in node:
        ((token, node),) = node.items()
        tokens.append(token)
    return tokens, node
