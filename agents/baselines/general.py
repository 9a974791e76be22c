"""Players of every game with enumerated actions."""

from typing import Any

from agents.policy import ScriptedPolicy


class Random(ScriptedPolicy):
    """Plays a uniformly random legal action."""

    def __call__(self, view: Any) -> Any:
        """Returns one of the legal actions."""
        return self.choose(view.legal)


class FirstLegal(ScriptedPolicy):
    """Plays the legal action with the smallest number."""

    def __call__(self, view: Any) -> Any:
        """Returns the first legal action."""
        return view.legal[0]


BASELINES = {"random": Random, "first_legal": FirstLegal}
