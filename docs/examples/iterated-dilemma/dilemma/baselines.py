"""Scripted players of the dilemma."""

from agents.policy import ScriptedPolicy
from dilemma.game import COOPERATE, DEFECT, SILENCE, DilemmaView


class TitForTat(ScriptedPolicy):
    """Cooperates first, then repeats the other player's last choice."""

    def __call__(self, view: DilemmaView) -> str:
        """Returns a reply."""
        return SILENCE if view.talks else f"choice: {view.past[-1][1] if view.past else COOPERATE}"


class Defector(ScriptedPolicy):
    """Always defects, and promises the opposite."""

    def __call__(self, view: DilemmaView) -> str:
        """Returns a reply."""
        return "I shall cooperate." if view.talks else f"choice: {DEFECT}"


BASELINES = {"tit_for_tat": TitForTat, "defector": Defector}
