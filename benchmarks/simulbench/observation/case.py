"""An observer's work: it reads a dialogue and names the first turn with an extremely complex request and an inaccurate answer.

Messages are quoted. No text reveals the engine of a dialogue.

Source: SimulBench (arXiv 2409.07641), section 2.4.
"""

import json
from typing import NamedTuple

from benchmarks.experiments.asking import Case
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.judging import Scale, is_abstention, own_words, read_rating
from llmarena_envs.core.quoting import printable, quote
from llmarena_envs.simulation.dialogues import Dialogue

OBSERVER = "observer_0"


class ObserverRequest(NamedTuple):
    """A request to observe.

    Attributes:
        dialogue: the whole dialogue; its ``engine`` names the exact engine, if there is one.
    """

    dialogue: Dialogue


class Observation(Case):
    """The observation of one dialogue; the item is the first challenging turn, counted from 1.

    It is 0 if no turn is challenging, and ``None`` for an abstention.

    Args:
        dialogue: the dialogue.
        language: of the texts.

    Attributes:
        dialogue: the dialogue.
    """

    def __init__(self, dialogue: Dialogue, language: str) -> None:
        super().__init__(dialogue.id, "benchmarks.simulbench.observation", language)
        self.dialogue = dialogue

    @property
    def example(self) -> str:
        """The form of a reply."""
        return "Turn: [[1]]"

    def request(self, accepted: tuple[int | None, ...], last: tuple[object, ...], wanted: int) -> ObserverRequest:
        """Returns the request as scripted observers read it."""
        return ObserverRequest(self.dialogue)

    def texts(self, request: ObserverRequest) -> tuple[str, str]:
        """Returns the task, and the dialogue with the instruction."""
        dialogue, render = request.dialogue, self.prompts.render
        case = render("case", act=dialogue.act, dialogue=quote(_listed(dialogue)))
        return render("rules"), f"{case}\n\n{render('find', act=dialogue.act, turns=dialogue.turns)}"

    def read(self, reply: str) -> tuple[int | None]:
        """Reads the turn.

        Raises:
            ParseError: if the turn is missing, ambiguous or outside the dialogue, and the reply is not an abstention.
        """
        text = own_words(reply)
        if is_abstention(text):
            return (None,)
        turn = read_rating(text, Scale(0, self.dialogue.turns))
        if not turn.is_integer():
            raise ParseError(Failure.ILLEGAL, "no_such_turn", turns=self.dialogue.turns, got=f"{turn:g}")
        return (int(turn),)


def _listed(dialogue: Dialogue) -> str:
    """Returns a dialogue as a JSON list, one message per line, with the numbers of turns."""
    lines = [
        json.dumps(
            {"turn": number // 2 + 1, "role": message.role, "content": printable(message.content)}, ensure_ascii=False
        )
        for number, message in enumerate(dialogue.dialogue_history)
    ]
    return "[\n" + ",\n".join(lines) + "\n]"
