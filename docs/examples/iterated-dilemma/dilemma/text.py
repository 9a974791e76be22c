"""Texts of the dilemma, and the parsing of replies."""

import re
from operator import itemgetter
from typing import Any

from dilemma.game import CHOICES, MAX_MESSAGE, PAYOFFS, Dilemma, DilemmaView
from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.messages import Message
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.quoting import printable, quote
from llmarena_envs.core.replies import Grammar, find, read_part

_CHOICE = re.compile(rf"({'|'.join(CHOICES)})\b", re.IGNORECASE)


def _read_choice(text: str, labelled: bool) -> tuple[str, int] | None:
    """Returns a choice at the beginning of a text, and its end."""
    match = _CHOICE.match(text)
    return (match[1].lower(), match.end()) if match else None


GRAMMAR = Grammar(_read_choice, nouns="choice|选择")


def read_message(reply: str) -> str:
    """Returns a reply without reasoning as one line; parsing it again gives the same message."""
    message = " ".join(printable(read_part(reply)).split())
    if read_part(message) != message:
        raise ParseError(Failure.UNPARSABLE, "unclear")
    return message


class DilemmaCodec(Codec[str, DilemmaView]):
    """Texts and grammar of the dilemma."""

    def __init__(self, language: str, game: Dilemma) -> None:
        self.language = language
        self._prompts = Prompts("dilemma", language)
        self._ends = ending_texts(language)
        self._numbers = {"continuation": game.continuation, "most_rounds": game.most_rounds}

    def rules(self, agent: str) -> str:
        """Returns the rules."""
        return self._prompts.render("rules", agent=agent, **self._numbers)

    def observation(self, view: DilemmaView) -> str:
        """Returns all messages and choices, and the instruction."""
        return "\n".join([*self._history(view), self._instruction(view)])

    def update(self, view: DilemmaView, since: DilemmaView) -> str:
        """Returns the new messages and choices, and the instruction."""
        return "\n".join([*self._history(view)[len(self._history(since)) :], self._instruction(view)])

    def ending(self, view: DilemmaView, ending: Ending) -> str:
        """Returns all messages and choices, the cause of the end, and the player's points."""
        played = self._prompts.render("all_played")
        cause = self._ends.forfeit(view.agent, ending.offenders) if ending.offenders else played
        result = self._prompts.render("result", points=int(ending.reward))
        return "\n".join([*self._history(view), self._ends.over(cause, result)])

    def _history(self, view: DilemmaView) -> list[str]:
        """Returns a text for each message and each finished round, oldest first."""
        said = [(message.round, self._said(message)) for message in view.messages]
        done = [(number, self._done(number, *choices)) for number, choices in enumerate(view.past, start=1)]
        return [text for _, text in sorted(said + done, key=itemgetter(0))]  # messages before choices

    def _said(self, message: Message) -> str:
        heading = self._prompts.render("message", round=message.round, sender=message.sender)
        return f"{heading}\n{quote(message.text)}"

    def _done(self, number: int, own: str, other: str) -> str:
        return self._prompts.render("choices", round=number, own=own, other=other, points=PAYOFFS[own, other])

    def _instruction(self, view: DilemmaView) -> str:
        if not view.to_move:
            return self._prompts.render("wait")
        if view.talks:
            return self._prompts.render("talk", round=view.round, limit=MAX_MESSAGE)
        return self._prompts.render("choose", round=view.round)

    def read(self, reply: str, view: DilemmaView) -> str:
        """Parses a whole reply as a message, or ``choice: cooperate`` from it."""
        return read_message(reply) if view.talks else find(reply, GRAMMAR, view.agent).value

    def example(self, view: DilemmaView) -> str:
        """Returns the form of a choice, without suggesting one."""
        return "choice: <choice>"

    def format(self, action: str, view: DilemmaView) -> str:
        """Writes an action as a reply."""
        return action if view.talks else f"choice: {action}"

    def picture(self, game: Any) -> str:
        """Lists messages and choices by round."""
        said = [(each.round, f"{each.sender}: {each.text}") for each in game.pool]
        done = [(number, " - ".join(choices)) for number, choices in enumerate(game.past, start=1)]
        lines = [f"{number}  {text}" for number, text in sorted(said + done, key=itemgetter(0))]
        return "\n".join([f"round {game.round}", *lines])
