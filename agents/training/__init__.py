"""Matches for training: an inverted match loop, driven by the caller.

``play`` asks policies; here the caller answers. A ``Match`` returns a ``Question`` for every reply of a learner, until the match
is over. Re-asks, feedback, fallbacks, rewards and digests are as in ``play``: the same deal and replies give the same match.

    match = Match(tictactoe_v0.env(), {"player_1": minimax}, seed=0)
    question = match.start_sync()
    while question is not None:
        question = match.reply_sync(model(question.messages))
    print(match.reward("player_0"), [step.reward for step in match.steps])
"""

from agents.training.deals import Deal, deals
from agents.training.match import Match, Question, Step

__all__ = ["Deal", "Match", "Question", "Step", "deals"]
