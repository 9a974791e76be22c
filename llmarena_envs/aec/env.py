"""# AEC environments.

The base class of PettingZoo's AEC environments with action masks as text environments. Actions are numbered as in the
environment. Illegal actions do not reach it: they end the match. In the classic games of PettingZoo the offender ends with the
lowest total of the game, and in a zero-sum game of two players the other player receives what the offender loses.

Source: Terry et al., PettingZoo (arXiv 2009.14471).

### Arguments

* `hint=True`: list the legal moves in the text.
* `random_opening=0`: number of random moves before play, 0 to 20; none of them ends the match.
* `max_turns=0`: number of turns after which the match ends with the rewards so far; 0 for the bound of the game, and for 1,000 if
  the environment is not a classic game.
* `obs_type="text"`: `text`, or `vector` for the environment's own observation as an array.
* `render_mode=None`: `ansi`, `human` or `svg`.

An environment that is not a classic game of PettingZoo also has these:

* `rules=""`: rules of the game for the players.
* `ansi=False`: show the environment's own text rendering to all players instead of their observations; only for games without
  hidden information.

Further arguments are those of the environment, e.g. `board_size=9`.
"""

import inspect
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from llmarena_envs.aec.game import AecGame
from llmarena_envs.aec.listing import LISTED, rules_of
from llmarena_envs.aec.source import Source, check_options, parameters_of
from llmarena_envs.aec.text import AecCodec
from llmarena_envs.core.options import OptionError, check_bool, check_choice, check_int
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.text_env import ObsType, RenderMode, TextEnv

MAX_RULES = 20_000
"""Maximum number of characters of the option ``rules``."""


class AecEnv(TextEnv):
    """An AEC environment as a text environment; ``classes.load`` makes the class of each one.

    Attributes:
        module: module of the environment.
        title: its name for people.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "",
        "render_modes": ["ansi", "human", "svg"],
        "is_parallelizable": False,
    }
    module: ClassVar[str]
    title: ClassVar[str]
    game: AecGame
    codec: AecCodec

    def __init__(
        self,
        *,
        hint: bool = True,
        random_opening: int = 0,
        max_turns: int = 0,
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
        rules: str = "",
        ansi: bool = False,
        **parameters: Any,
    ) -> None:
        check_bool("hint", hint)
        check_bool("ansi", ansi)
        check_int("max_turns", max_turns, 0, 1_000_000)
        if not isinstance(rules, str) or len(rules) > MAX_RULES:
            raise OptionError(f"rules: expected a text of at most {MAX_RULES} characters")
        listed = LISTED.get(self.module)
        for name in parameters:
            check_choice(f"aec/{self.module}: option", name, inspect.signature(type(self)).parameters)
        check_options(self.module, parameters)
        game = AecGame(Source(self.module, parameters, ansi), random_opening, max_turns)
        if listed:
            rules = _listed_rules(self.module, game)
        super().__init__(
            game,
            AecCodec(rules, self.title, game, hint),
            obs_type=obs_type,
            render_mode=render_mode,
        )

    def vector_space(self) -> spaces.Box:
        """Returns the space of the environment's own observation, in ``float32``."""
        space = self.game.observation_space
        assert isinstance(space, spaces.Box)  # of every listed game with vectors
        return spaces.Box(np.float32(space.low), np.float32(space.high), space.shape, np.float32)

    def vector(self, agent: str) -> dict[str, NDArray[Any]]:
        """Returns the environment's own observation for ``agent`` and the action mask."""
        observation = np.asarray(self.game.observation(agent), dtype=np.float32)
        return {"observation": observation, "action_mask": self._action_mask(self.view(agent))}


def _listed_rules(module: str, game: AecGame) -> str:
    """Returns the rules of a listed game with its options."""
    options = {name: each.default for name, each in parameters_of(module).items()}
    fields = {**options, **game.source.options, **game.facts, "players": len(game.agents)}
    return Prompts.from_texts({"rules": rules_of(module)}, module).render("rules", **fields)
