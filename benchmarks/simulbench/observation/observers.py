"""Scripted observers: one that knows what is right to answer, and one that always says the same."""

from agents.baselines.simulation.right_answers import right_answer
from agents.policy import ScriptedPolicy
from benchmarks.simulbench.observation.game import ObserverView
from llmarena_envs.core.options import check_int
from llmarena_envs.simulation.dialogues import Dialogue
from llmarena_envs.simulation.truth import engine_of, first_request, is_exact


class Exact(ScriptedPolicy):
    """Names the first turn whose answer is not what the engine answers, or not the stand-in of scripted players."""

    def __call__(self, view: ObserverView) -> str:
        """Returns the turn."""
        turn = first_wrong(view.dialogue)
        return f"{'A wrong answer.' if turn else 'All is right.'} Turn: [[{turn}]]"


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
    """
    return first_wrong(dialogue) if engine_of(dialogue.task) else None


def first_wrong(dialogue: Dialogue) -> int:
    """Returns the first turn, counted from 1, whose answer is not what scripted players take for right; 0 if all are.

    That is what the engine answers, or without an engine their stand-in.
    """
    task = dialogue.task
    said = [message.content for message in dialogue.dialogue_history]
    requests = (first_request(task) if task.engine else said[0], *said[2::2])
    for turn, answer in enumerate(said[1::2], start=1):
        if not is_exact(answer, right_answer(task, requests[:turn])):
            return turn
    return 0
