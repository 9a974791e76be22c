"""Scripted observers: one that knows what the engine behind a dialogue answers, and one that always says the same."""

from agents.policy import ScriptedPolicy
from benchmarks.simulbench.observation.game import ObserverView
from llmarena_envs.core.options import check_int
from llmarena_envs.simulation.dialogues import Dialogue
from llmarena_envs.simulation.truth import engine_of, first_request, is_exact


class Exact(ScriptedPolicy):
    """Names the first turn whose answer is not what the engine answers; none where no engine stands behind the dialogue."""

    def __call__(self, view: ObserverView) -> str:
        """Returns the turn."""
        turn = first_inexact(view.dialogue)
        return f"{'A wrong answer.' if turn else 'All is right.'} Turn: [[{turn or 0}]]"


class Fixed(ScriptedPolicy):
    """Names the same turn in every dialogue, or the last one of a shorter dialogue.

    Args:
        turn: the turn; 0 for none.
    """

    def __init__(self, turn: int = 0) -> None:
        check_int("turn", turn, 0, 100)
        self._turn = turn

    def __call__(self, view: ObserverView) -> str:
        """Returns the turn."""
        return f"Turn: [[{min(self._turn, view.dialogue.turns)}]]"


def first_inexact(dialogue: Dialogue) -> int | None:
    """Returns the first turn, counted from 1, whose answer is not what the task's engine answers.

    Returns:
        0 if all answers are exact; ``None`` if no engine stands behind the dialogue.

    Raises:
        OptionError: if the description of a task with an engine names no first request.
    """
    engine = engine_of(dialogue.task)
    if engine is None:
        return None
    said = [message.content for message in dialogue.dialogue_history]
    requests = [first_request(dialogue.task), *said[2::2]]
    for turn, (request, answer) in enumerate(zip(requests, said[1::2], strict=True), start=1):
        if not is_exact(answer, engine.respond(request)):
            return turn
    return 0
