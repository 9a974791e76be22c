"""A text space for natural language: any Unicode text up to a length."""

import string
from typing import Any

import numpy as np
from gymnasium.spaces import Text
from gymnasium.spaces import utils as space_utils


class UnicodeText(Text):
    """All texts of at most ``max_length`` characters, the empty one included.

    Gymnasium's ``Text`` checks every character against a set, which costs more than a game's turn and excludes most
    languages. This space checks the length only.

    Args:
        max_length: maximum number of characters.
        examples: texts that ``sample`` draws from, so random play produces valid texts; without any, samples are short ASCII
            noise.
        seed: seed of the space's own generator.
    """

    NOISE_LENGTH = 32

    def __init__(
        self, max_length: int, *, examples: tuple[str, ...] = (), seed: int | np.random.Generator | None = None
    ) -> None:
        self.examples = tuple(examples)
        # An ordered charset: iterating a set would make samples depend on the hash seed of the process.
        super().__init__(max_length, min_length=0, charset=string.ascii_letters + string.digits + " ", seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Draws one of the examples, or noise if there are none.

        Raises:
            ValueError: if a mask or probabilities are given: the game checks the legality of texts.
        """
        if mask is not None or probability is not None:
            raise ValueError(f"UnicodeText.sample takes no mask and no probability, got {mask!r}, {probability!r}")
        if self.examples:
            return self.examples[int(self.np_random.integers(len(self.examples)))]
        length = int(self.np_random.integers(min(self.max_length, self.NOISE_LENGTH) + 1))
        return "".join(self.np_random.choice(self.character_list, size=length))

    def contains(self, x: Any) -> bool:
        """Says whether ``x`` is a ``str`` of at most ``max_length`` characters."""
        return isinstance(x, str) and len(x) <= self.max_length

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no fixed numeric form: ask the environment for ``obs_type="vector"`` instead."""
        return False

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and self.max_length == other.max_length

    def __hash__(self) -> int:
        return hash((UnicodeText, self.max_length))


def _no_flattening(space: UnicodeText, *_: Any) -> Any:
    raise NotImplementedError(
        f"{space!r} has no fixed numeric form and cannot be flattened; make the environment with obs_type='vector',"
        " or a vector environment of Gymnasium with shared_memory=False"
    )


for _function in (space_utils.flatdim, space_utils.flatten, space_utils.unflatten, space_utils.flatten_space):
    _function.register(UnicodeText, _no_flattening)
