"""Shared code of scripted debate policies: a plain policy for every seat."""

from collections import Counter
from collections.abc import Sequence

from agents.baselines.debate.phrases import Phrases, phrases_for, terms
from agents.policy import ScriptedPolicy
from llmarena_envs.core.committee import Judgement
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.options import OptionError, check_number
from llmarena_envs.debate.actions import DebateView
from llmarena_envs.debate.protocol import CRITICIZE, RAISE, RESPOND
from llmarena_envs.debate.questions import Question, load_questions


class DebatePlayer(ScriptedPolicy):
    """A plain policy for any seat of a debate.

    As a debater it says one plain sentence per requested action; as the author of a reference answer one sentence on the
    question; as an examiner it asks a built-in question. Subclasses define its verdicts.

    Args:
        conformity: as a judge, probability of adopting the majority verdict of the other judges if it differs, 0 to 1.
    """

    def __init__(self, conformity: float = 0.0) -> None:
        check_number("conformity", conformity, 0, 1)
        self.conformity = conformity

    def __call__(self, view: DebateView) -> str:
        """Returns a reply in the game's grammar."""
        role = role_of(view.agent)
        if role == "examiner":
            return self.query(view)
        if role == "debater":
            return self.speech(view)
        if view.stage == "reference":
            return self.passage(view, RESPOND)
        verdict, reasons = self.discuss(view) if view.judgements else self.judge(view)
        return f"{reasons}\n[[{verdict.capitalize()}]]"

    def query(self, view: DebateView) -> str:
        """Returns an examiner's question of the domain."""
        return self.draw_question(load_questions("builtin", "en"), view.domain)

    def draw_question(self, questions: Sequence[Question], domain: str) -> str:
        """Draws a question of a domain, and numbers it as examiners do.

        Raises:
            OptionError: if there is none.
        """
        texts = [question.text for question in questions if question.domain == domain]
        if not texts:
            raise OptionError(f"questions: expected some of the domain {domain!r}, got none among {len(questions)}")
        return f"(1). {self.choose(texts)}"

    def speech(self, view: DebateView) -> str:
        """Returns a debater's text in a turn, each action in its tags."""
        return "\n".join(tagged(action, self.passage(view, action)) for action in view.actions)

    def passage(self, view: DebateView, action: str) -> str:
        """Returns the text of one action."""
        phrases = phrases_for(view.question)
        return self.mention(view, sentence(phrases, action))

    def mention(self, view: DebateView, text: str) -> str:
        """Inserts a word of the question into a sentence."""
        return text.format(term=self.choose(terms(view.question)))

    def judge(self, view: DebateView) -> tuple[str, str]:
        """Returns a judge's verdict, ``A``, ``B`` or ``tie``, and its reasons."""
        raise NotImplementedError

    def discuss(self, view: DebateView) -> tuple[str, str]:
        """Returns a judge's verdict and reasons after reading the other judges' verdicts."""
        (_, own), *others = view.judgements
        if not isinstance(own, Judgement):
            return self.judge(view)
        phrases = phrases_for(view.question)
        prevailing = most_given([given.verdict for _, given in others if isinstance(given, Judgement)])
        if prevailing in ("", own.verdict) or self.rng.random() >= self.conformity:
            return own.verdict, phrases.kept
        return prevailing, phrases.changed


def tagged(action: str, text: str) -> str:
    """Returns a text in the tags of an action."""
    return f"<{action}>{text}</{action}>"


def sentence(phrases: Phrases, action: str) -> str:
    """Returns the first plain sentence of an action."""
    return {CRITICIZE: phrases.criticism, RAISE: phrases.follow_up}.get(action, phrases.opening)


def most_given(verdicts: Sequence[str]) -> str:
    """Returns the most frequent verdict; empty if there is none, or a tie."""
    ranked = Counter(verdicts).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return ""
    return ranked[0][0]
