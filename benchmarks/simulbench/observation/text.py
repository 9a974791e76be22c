"""Prompts of the observer, and the parser of its finding."""

import json

from benchmarks.simulbench.observation.game import Finding, Found, Observation, ObserverView
from llmarena_envs.core.codec import Codec
from llmarena_envs.core.committee import Abstention
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.judging import ABSTENTION, Scale, is_abstention, own_words, read_rating, with_statement
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.quoting import printable, quote
from llmarena_envs.simulation.dialogues import Dialogue

MAX_WORDS = 8_000
"""Maximum stored characters of an observer's words."""

_ROOM = 40
"""Characters reserved for the turn in a truncated reply."""


class ObservationCodec(Codec[Found, ObserverView]):
    """Texts and grammar of the observer.

    Args:
        language: language of the texts.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._prompts = Prompts("benchmarks.simulbench.observation", language)
        self._ends = ending_texts(language)

    def rules(self, agent: str) -> str:
        """Returns the task."""
        return self._prompts.render("rules")

    def observation(self, view: ObserverView) -> str:
        """Returns the dialogue and the instruction."""
        dialogue, render = view.dialogue, self._prompts.render
        case = render("case", act=dialogue.act, dialogue=quote(_listed(dialogue)))
        instruction = render("find", act=dialogue.act, turns=dialogue.turns) if view.to_move else render("wait")
        return f"{case}\n\n{instruction}"

    def ending(self, view: ObserverView, ending: Ending) -> str:
        """Returns the cause of the end of the match, with the reward."""
        cause = self._ends.forfeit(view.agent, ending.offenders) if ending.offenders else self._ends.played_out()
        return self._ends.over(cause, self._ends.received(ending.reward))

    def read(self, reply: str, view: ObserverView) -> Found:
        """Reads a turn, and the words around it.

        Raises:
            ParseError: if the turn is missing, ambiguous or outside the dialogue, and the reply is not an abstention.
        """
        text = own_words(reply)
        if is_abstention(text):
            return Abstention()
        finding = _stated(text, view.dialogue.turns)
        if len(text) <= MAX_WORDS:
            return finding
        words = text[: MAX_WORDS - _ROOM].rstrip()
        return finding._replace(text=_completed(finding, words, view.dialogue.turns))

    def example(self, view: ObserverView) -> str:
        """Returns the form of a finding."""
        return "Turn: [[1]]"

    def format(self, action: Found, view: ObserverView) -> str:
        """Writes the observer's words, with the turn appended if they do not state it; or an abstention."""
        if isinstance(action, Abstention):
            return ABSTENTION
        return _completed(action, action.text, view.dialogue.turns)

    def picture(self, game: Observation) -> str:
        """Writes the dialogue and the finding."""
        parts = [f"{game.dialogue.act} ({game.dialogue.type})"]
        for number, message in enumerate(game.dialogue.dialogue_history):
            parts.append(f"{number // 2 + 1}, {message.role}:\n{quote(message.content)}")
        if isinstance(game.found, Finding):
            parts.append(f"Turn: [[{game.found.turn}]]\n{quote(game.found.text)}")
        return "\n\n".join(parts)


def _listed(dialogue: Dialogue) -> str:
    """Returns a dialogue as a JSON list, one message per line, with the numbers of turns."""
    lines = [
        json.dumps(
            {"turn": number // 2 + 1, "role": message.role, "content": printable(message.content)}, ensure_ascii=False
        )
        for number, message in enumerate(dialogue.dialogue_history)
    ]
    return "[\n" + ",\n".join(lines) + "\n]"


def _stated(text: str, turns: int) -> Finding:
    """Reads the turn in a text.

    Raises:
        ParseError: if it is missing or outside the dialogue.
    """
    turn = read_rating(text, Scale(0, turns))
    if not turn.is_integer():
        raise ParseError(Failure.ILLEGAL, "no_such_turn", turns=turns, got=f"{turn:g}")
    return Finding(int(turn), text)


def _completed(finding: Finding, words: str, turns: int) -> str:
    """Returns an observer's words, with its finding appended unless they state it."""

    def states(text: str) -> bool:
        try:
            return _stated(text, turns).turn == finding.turn
        except ParseError:
            return False

    return with_statement(words, f"Turn: [[{finding.turn}]]", states)
