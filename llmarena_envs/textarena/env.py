"""# TextArena.

The base class of TextArena's games as environments. The text of a position is the text of TextArena's observation wrapper, with
the rules of the game at its beginning. The action is a reply, passed to TextArena without marked reasoning. TextArena judges
it, allows for errors, and gives the rewards. At the turn limit of the environment the match ends with rewards of 0.

Source: Guertler et al., TextArena (arXiv 2504.11442), version 0.7.

### Arguments

* `players=None`: number of players; by default the smallest one of the game.
* `obs_type="text"`: `text` only.
* `render_mode=None`: `ansi`, `human` or `svg`.
"""

from importlib.metadata import version
from typing import Any, ClassVar

from llmarena_envs.core.source import Source
from llmarena_envs.core.text_env import RenderMode, TextEnv
from llmarena_envs.textarena.game import ArenaGame
from llmarena_envs.textarena.listing import Listed
from llmarena_envs.textarena.text import ArenaCodec


class ArenaEnv(TextEnv):
    """A game of TextArena as an AEC environment; ``classes.load`` makes the class of each game.

    Attributes:
        listed: the entry of the game.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "",
        "render_modes": ["ansi", "human", "svg"],
        "is_parallelizable": False,
    }
    obs_types: ClassVar[tuple[str, ...]] = ("text",)
    listed: ClassVar[Listed]

    def __init__(
        self, *, players: int | None = None, obs_type: str = "text", render_mode: RenderMode | None = None
    ) -> None:
        super().__init__(
            ArenaGame(self.listed, players), ArenaCodec(self.listed), obs_type=obs_type, render_mode=render_mode
        )

    def sources(self) -> tuple[Source, ...]:
        """Returns TextArena with its version."""
        return (Source("textarena", version("textarena"), "MIT"),)
