"""A policy that takes its time, so that somebody can look on."""

import time

from agents.policy import ScriptedPolicy


class Considerate(ScriptedPolicy):
    def __call__(self, view):
        time.sleep(0.4)
        return self.choose(view.legal)
