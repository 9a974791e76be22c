"""Texts of TextArena's games."""

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.replies import read_part
from llmarena_envs.core.text_env import MAX_TEXT
from llmarena_envs.textarena.game import ArenaGame, ArenaView, End
from llmarena_envs.textarena.listing import Listed

MAX_PASSED = 10_000
"""Maximum number of characters of a reply passed to TextArena: the end of a longer one."""

_MAX_SHOWN = MAX_TEXT - 10_000
"""Maximum number of characters of a text of TextArena; the middle of a longer one is left out."""


class ArenaCodec(Codec[str, ArenaView]):
    """Texts of one game: TextArena's own.

    Args:
        listed: the entry of the game.
    """

    def __init__(self, listed: Listed) -> None:
        self._listed = listed
        self._prompts = Prompts("llmarena_envs.textarena", self.language)

    def rules(self, agent: str) -> str:
        """Returns name of the game and of the player; TextArena's text of a position begins with its rules."""
        return self._prompts.render("rules", game=self._listed.name, agent=agent)

    def observation(self, view: ArenaView) -> str:
        """Returns the text of TextArena's observation wrapper."""
        if len(view.text) <= _MAX_SHOWN:
            return view.text
        half = _MAX_SHOWN // 2
        return f"{view.text[:half]}\n{self._prompts.render('left_out')}\n{view.text[-half:]}"

    def update(self, view: ArenaView, since: ArenaView) -> str:
        """Returns TextArena's messages since an earlier text, if its text only grew."""
        news = view.text.removeprefix(since.text)
        return news if news and len(news) < len(view.text) <= _MAX_SHOWN else self.observation(view)

    def ending(self, view: ArenaView, ending: Ending) -> str:
        """Returns TextArena's text, the cause of the end and the reward."""
        texts = ending_texts(self.language)
        if ending.offenders:
            cause = texts.forfeit(view.agent, ending.offenders)
        elif view.end is End.TURN_LIMIT:
            cause = self._prompts.render("turn_limit")
        elif view.end is End.FAILED:
            cause = self._prompts.render("failed", error=view.reason)
        else:
            cause = view.reason or texts.played_out()
        return f"{self.observation(view)}\n{texts.over(cause, texts.received(ending.reward))}"

    def example(self, view: ArenaView) -> str:
        """Returns a plausible reply."""
        return self._listed.replies.examples[0]

    def read(self, reply: str, view: ArenaView) -> str:
        """Returns the reply without marked reasoning."""
        text = read_part(reply)[-MAX_PASSED:].strip()
        if not text:
            raise ParseError(Failure.UNPARSABLE, "nothing_stated")
        return text

    def format(self, action: str, view: ArenaView) -> str:
        """Returns the action: it is a reply."""
        return action

    def picture(self, game: ArenaGame) -> str:
        """Returns every message of the match."""
        return game.log()
