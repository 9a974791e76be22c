"""# OpenSpiel.

The base class of OpenSpiel's games as environments. Actions are numbered as in OpenSpiel; chance is drawn from the seed of the
environment. An illegal action ends the match: the offender ends with the lowest total of the game, and in a zero-sum game of
two players the other player receives what the offender loses.

Source: Lanctot et al., OpenSpiel (arXiv 1908.09453).

### Arguments

* `hint=True`: list the legal moves in the text.
* `random_opening=0`: number of random moves before play, 0 to 20; none of them ends the match.
* `language="en"`: language of the texts: `en`, or `zh` for some games.
* `obs_type="text"`: `text`, or `vector` for OpenSpiel's information state or observation tensor.
* `render_mode=None`: `ansi`, `human` or `svg`.

Further arguments are parameters of OpenSpiel's game, e.g. `players=3`.
"""

import inspect
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.options import OptionError, check_bool, check_choice
from llmarena_envs.core.text_env import Language, ObsType, RenderMode, TextEnv
from llmarena_envs.openspiel.drawing import SpielDrawing
from llmarena_envs.openspiel.game import SpielGame
from llmarena_envs.openspiel.listing import Listed, rules_of
from llmarena_envs.openspiel.rendering import rendering_of
from llmarena_envs.openspiel.text import SpielCodec


class SpielEnv(TextEnv):
    """A game of OpenSpiel as an AEC environment; ``classes.load`` makes the class of each game.

    Attributes:
        listed: the entry of the game.
        title: OpenSpiel's name of the game.
        is_public: whether every player knows all past events.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "",
        "render_modes": ["ansi", "human", "svg"],
        "is_parallelizable": False,
    }
    listed: ClassVar[Listed]
    title: ClassVar[str]
    is_public: ClassVar[bool]
    game: SpielGame
    codec: SpielCodec

    def __init__(
        self,
        *,
        hint: bool = True,
        random_opening: int = 0,
        language: Language = "en",
        obs_type: ObsType = "text",
        render_mode: RenderMode | None = None,
        **parameters: Any,
    ) -> None:
        check_bool("hint", hint)
        listed = self.listed
        known = inspect.signature(type(self)).parameters
        for name in parameters:
            check_choice(f"openspiel/{listed.name}: option", name, known)
        texts = rules_of(listed.name)
        languages = ("en",) if texts is None else tuple(texts.texts)
        if language not in languages:
            raise OptionError(f"openspiel/{listed.name}: language: expected {' or '.join(languages)}, got {language!r}")
        standard = {name: each.default for name, each in known.items()} | dict(listed.parameters)
        changed = {name: value for name, value in parameters.items() if value != standard[name]}
        game = SpielGame(
            listed.load or listed.name,
            {**listed.parameters, **parameters},
            random_opening,
            listed.seed_parameter,
            listed.resamples,
        )
        codec = SpielCodec(listed.name, game, self.title, language, hint, changed)
        super().__init__(game, codec, obs_type=obs_type, render_mode=render_mode)

    @property
    def titles(self) -> tuple[str, ...]:
        """OpenSpiel's name of the game, and the title of its rules."""
        rules = rules_of(self.listed.name)
        return (self.title, *([rules.title["en"]] if rules else []))

    def make_drawing(self) -> Drawing[Any]:
        """Returns drawings of the parts of positions, or of OpenSpiel's texts."""
        if rendering_of(self.listed.name) is None:
            return super().make_drawing()
        return SpielDrawing(self.codec, self.title)

    def vector_space(self) -> spaces.Box:
        """Returns the space of OpenSpiel's tensor, flat."""
        return spaces.Box(-np.inf, np.inf, self.game.tensor_shape, np.float32)

    def vector(self, agent: str) -> dict[str, NDArray[Any]]:
        """Returns OpenSpiel's tensor for ``agent`` and the action mask."""
        return {"observation": self.game.tensor(agent), "action_mask": self._action_mask(self.view(agent))}
