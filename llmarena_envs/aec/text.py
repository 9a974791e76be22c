"""Texts of AEC environments and the parsing of replies."""

from llmarena_envs.aec.game import AecGame, AecView
from llmarena_envs.core.grid import text_of
from llmarena_envs.core.named_moves import NamedMovesCodec, Spellings
from llmarena_envs.core.prompts import Prompts


class AecCodec(NamedMovesCodec[AecView]):
    """Texts of one environment.

    Args:
        rules: the rules; empty for a general text.
        title: name of the environment for people.
        game: the game.
        hint: whether the legal moves are listed.
    """

    def __init__(self, rules: str, title: str, game: AecGame, hint: bool) -> None:
        super().__init__(hint)
        self._prompts = Prompts("llmarena_envs.aec", self.language)
        if not rules:
            rules = self._prompts.render("rules_without_text", title=title, players=len(game.agents))
        self._rules = f"{rules}\n{self._prompts.render('bound', turns=game.max_turns)}"

    def rules(self, agent: str) -> str:
        """Returns the rules, and the name of the agent."""
        return f"{self._rules}\n{self._prompts.render('role', agent=agent)}"

    def observation(self, view: AecView) -> str:
        """Returns the moves so far if they are public, the position, the legal moves and the instruction."""
        return "\n".join([*self.past(view.moves, str), text_of(view.parts), *self.task(view)])

    def names(self, view: AecView) -> tuple[str, ...]:
        """Returns the names of the legal actions."""
        return view.names

    def spellings(self, view: AecView) -> Spellings:
        """Returns the names of the legal actions and their other spellings."""
        return (*super().spellings(view), *view.spellings)

    def example_index(self, view: AecView) -> int:
        """Returns the index of a legal action as an example, another one from turn to turn."""
        return view.turn % len(view.legal)

    def picture(self, game: AecGame) -> str:
        """Returns the position as each agent sees it; once if all see the same."""
        texts = {agent: text_of(game.parts(agent)) for agent in game.agents}
        if len(set(texts.values())) == 1:
            return texts[game.agents[0]]
        return "\n".join([f"{agent}:\n{text}" for agent, text in texts.items()])
