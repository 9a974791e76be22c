"""Scripted observers: one with knowledge of right answers and hard requests, and one with a constant reply."""

from agents.baselines.simulation.right_answers import ADVICE, known_answer
from agents.policy import ScriptedPolicy
from benchmarks.simulbench.observation.case import ObserverRequest
from llmarena_envs.core.options import OptionError, check_int
from llmarena_envs.simulation.dialogues import Dialogue
from llmarena_envs.simulation.shipped_dialogues import dialogues_beginning
from llmarena_envs.simulation.truth import is_exact


class Exact(ScriptedPolicy):
    """Names the first turn with a wrong answer, or with a request that a shipped dialogue tags as challenging."""

    def __call__(self, request: ObserverRequest) -> str:
        """Returns the turn.

        Raises:
            OptionError: if the right answers are unknown.
        """
        turn = first_challenging(request.dialogue)
        if turn is None:
            raise OptionError(f"{request.dialogue.act}: expected a dialogue whose right answers are known; {ADVICE}")
        return f"{'A challenge.' if turn else 'All is right.'} Turn: [[{turn}]]"


class Fixed(ScriptedPolicy):
    """Names the same turn in every dialogue, or the last one of a shorter dialogue.

    Args:
        turn: the turn; 0 for none.
    """

    def __init__(self, turn: int = 0) -> None:
        check_int("turn", turn, 0, 100)
        self._turn = turn

    def __call__(self, request: ObserverRequest) -> str:
        """Returns the turn."""
        return f"Turn: [[{min(self._turn, request.dialogue.turns)}]]"


def first_challenging(dialogue: Dialogue) -> int | None:
    """Returns the first turn, from 1, with a wrong answer or a request tagged as challenging in a shipped dialogue; 0 for none.

    Returns:
        ``None`` if neither an engine nor a shipped dialogue has the right answers.
    """
    said = [message.content for message in dialogue.dialogue_history]
    requests = tuple(said[::2])
    for turn, answer in enumerate(said[1::2], start=1):
        same = [each.turns[turn - 1] for each in dialogues_beginning(requests[:turn])]
        if any(is_exact(answer, each.answer) for each in same):
            if same[0].difficulty == "challenging":
                return turn
            continue
        right = known_answer(dialogue.task, requests[:turn])
        if right is None:
            return None
        if not is_exact(answer, right):
            return turn
    return 0
