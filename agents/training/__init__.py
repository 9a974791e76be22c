"""Matches for those who train a model: the loop of a match turned inside out.

``play`` asks policies; here the caller is asked. A ``Match`` gives a ``Question`` whenever a learner is to say something, takes
the reply, and gives the next one, until the match is over. Re-asks, feedback, fallbacks, rewards and digests are those of
``play``: the same deal and the same replies give the same match.

    match = Match(tictactoe_v0.env(), {"player_1": minimax}, seed=0)
    question = match.start_sync()
    while question is not None:
        question = match.reply_sync(model(question.messages))
    print(match.reward("player_0"), [step.reward for step in match.steps])
"""

from agents.training.deals import Deal, deals
from agents.training.match import Match, Question, Step

__all__ = ["Deal", "Match", "Question", "Step", "deals"]
