"""Texts of OpenSpiel's games and the parsing of replies."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from llmarena_envs.core.grid import Part, text_of
from llmarena_envs.core.named_moves import NamedMovesCodec, Spellings
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.openspiel.game import Move, SpielGame, SpielView
from llmarena_envs.openspiel.listing import rules_of
from llmarena_envs.openspiel.rendering import rendering_of


class SpielCodec(NamedMovesCodec[SpielView]):
    """Texts of one game.

    Args:
        name: name of the game in the list.
        game: the game.
        title: OpenSpiel's name of the game.
        language: language of the texts.
        hint: whether the legal moves are listed.
        changed: parameters that differ from the rules.
    """

    def __init__(
        self, name: str, game: SpielGame, title: str, language: str, hint: bool, changed: Mapping[str, object]
    ) -> None:
        super().__init__(hint)
        self.language = language
        self._prompts = prompts = Prompts("llmarena_envs.openspiel", language)
        self._rendering = rendering_of(name)
        self._game = name
        own = rules_of(name)
        self._rules = (
            own.texts[language].strip()
            if own
            else prompts.render("rules_without_text", title=title, players=len(game.agents))
        )
        if changed:
            options = ", ".join(f"{name} = {value}" for name, value in changed.items())
            self._rules += f"\n{prompts.render('changed', options=options)}"

    def rules(self, agent: str) -> str:
        """Returns the rules, and the name of the player."""
        return f"{self._rules}\n{self._prompts.render('role', agent=agent)}"

    def observation(self, view: SpielView) -> str:
        """Returns the moves so far if they are public, the position, the legal moves and the instruction."""
        return "\n".join([*self._past(view), text_of(self.parts_of(view)), *self.task(view)])

    def parts_of(self, view: SpielView) -> tuple[Part, ...]:
        """Returns the parts of a position."""
        if self._rendering is not None:
            return self._rendering.render(view, self.language)
        return (self._prompts.render("own_text"), view.observation.strip("\n"))

    def _past(self, view: SpielView) -> list[str]:
        if self._rendering and self._rendering.shows_moves:
            return []
        return self.past(view.moves, self._past_move)

    def _past_move(self, move: Move) -> str:
        return f"player_{move.player} {_named(self._game, move.name)}"

    def names(self, view: SpielView) -> tuple[str, ...]:
        """Returns the names of the legal moves, in the order of ``view.legal``."""
        return tuple([_named(self._game, name) for name in view.names])

    def spellings(self, view: SpielView) -> Spellings:
        """Returns the names of the legal moves and their other spellings."""
        return (*super().spellings(view), *view.spellings)

    def example_index(self, view: SpielView) -> int:
        """Returns the index of a legal move as an example, another one from turn to turn."""
        return (len(view.moves) + len(view.observation)) % len(view.legal)

    def picture(self, game: Any) -> str:
        """Returns OpenSpiel's own text of the whole position."""
        return str(game.state).strip("\n") or self._prompts.render("no_moves")


@lru_cache(maxsize=100_000)  # every move is named again at each position where it is legal
def _named(game: str, move: str) -> str:
    rendering = rendering_of(game)
    return move if rendering is None else rendering.name(move)
